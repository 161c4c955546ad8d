/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: programs that replace functions of the LSM programs (bpf/hooks/engine.bpf.h). One is
 * loaded for each function, and attached to every LSM program that has the function. Until then the
 * function is a stub, which denies.
 *
 * Pinned as PIN_ENGINE/PROGRAM:FUNCTION:ID, where ID is that of the LSM program, so that those of
 * two builds can be there at the same time.
 */
#ifndef CORDON_KERNEL_ENGINE_H
#define CORDON_KERNEL_ENGINE_H

#include <stdbool.h>

#include "base/failure.h"

struct bpf_object;

/* Call before an object with an engine is opened to be loaded. Returns 0, or -ERRNO of libbpf. */
int engine_register(void);

/* Before it is loaded: its engine is loaded for this object. One object at a time. */
void engine_begin(struct bpf_object *object);

/*
 * Attaches the engine to every loaded LSM program; `pin`: and pins the links, in a directory that
 * exists. Without, they are gone when it returns.
 */
int engine_attach(struct bpf_object *object, bool pin, struct failure *failure);

/*
 * Is the engine attached to every LSM program whose link or program is pinned? `object`: opened,
 * for the names of the functions.
 */
bool engine_is_complete(const struct bpf_object *object);

/* Removes the links to LSM programs that are not pinned, nor have a pinned link. */
int engine_remove_replaced(struct failure *failure);

#endif
