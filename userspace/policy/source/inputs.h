/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of a compilation: the contents of each file that it read, and each name that it looked
 * up, found or not. Compilation depends on nothing else: while all inputs are unchanged, compiling
 * again would give the same policy. Times and sizes of files are not compared, because users can
 * set them.
 */
#ifndef CORDON_POLICY_INPUTS_H
#define CORDON_POLICY_INPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/parcel.h"

struct policy_inputs;
struct source;

/* NULL: no memory. */
struct policy_inputs *policy_inputs_new(void);
void policy_inputs_free(struct policy_inputs *inputs);
DEFINE_CLEANUP(struct policy_inputs *, policy_inputs_free, policy_inputs_freep)

/* For the compiler; no effect if `inputs` is NULL. -ENOMEM, -EIO: SHA-256 is not available. */
int policy_inputs_add_name(struct policy_inputs *inputs, const char *path, bool found);
int policy_inputs_add_file(struct policy_inputs *inputs, const struct source *source);

/*
 * Serialises the inputs for another process of the same program. Errors are reported by ferror(3).
 */
void policy_inputs_put(const struct policy_inputs *inputs, FILE *to);

/* Caller frees. -EPROTO: invalid format; -ENOMEM. */
int policy_inputs_take(struct parcel *from, struct policy_inputs **ret_inputs);

/*
 * True if the same compilation would read the same inputs. False also if that cannot be determined.
 * A replaced file counts as changed even with the same contents, because the identity of files is
 * an input, too.
 */
bool policy_inputs_unchanged(const struct policy_inputs *inputs);

/*
 * The same from the kernel's caches alone (RESOLVE_CACHED, openat2(2); RWF_NOWAIT, preadv2(2)), for
 * a caller that must not block. Returns 1, 0, or -ERRNO if not everything is cached. Mostly
 * -EAGAIN, also for each file on a file system where open(2) may need a server.
 */
int policy_inputs_unchanged_in_caches(const struct policy_inputs *inputs);

#endif
