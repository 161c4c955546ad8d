/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: programs that replace functions of the LSM programs (bpf/hooks/engine.bpf.h). There
 * is one for each function. It is attached to every LSM program with the function, which is a stub
 * that denies until then.
 *
 * Pinned as PIN_ENGINE/PROGRAM:FUNCTION:ID. ID is the LSM program's, so that links of two builds
 * can exist at the same time.
 */
#ifndef CORDON_KERNEL_ENGINE_H
#define CORDON_KERNEL_ENGINE_H

#include <stdbool.h>

#include "base/failure.h"

struct bpf_object;

/* Call before opening an object with an engine. Returns 0, or -ERRNO of libbpf. */
int engine_register(void);

/* Call before the load: the engine is loaded for this object. One object at a time. */
void engine_begin(struct bpf_object *object);

/*
 * Attaches the engine to every loaded LSM program. `pin`: pins the links in PIN_ENGINE, which must
 * exist. Otherwise the links end when the function returns.
 */
int engine_attach(struct bpf_object *object, bool pin, struct failure *failure);

/*
 * Is the engine attached to every LSM program that is pinned, or has a pinned link? `object` is
 * opened, and provides the names of the functions.
 */
bool engine_is_complete(const struct bpf_object *object);

/* Removes links to LSM programs that are not pinned and have no pinned link. */
int engine_remove_replaced(struct failure *failure);

#endif
