/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a compilation looked at: each file that it read, by content, and each name that it looked
 * for, found or not. Compilation depends on nothing else, so that as long as all of it answers the
 * same, compiling again would give the same policy. Times and sizes of files are not asked: they
 * can be set.
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

/* For the compiler; without `inputs` they do nothing. -ENOMEM, -EIO: SHA-256 is not to be had. */
int policy_inputs_add_name(struct policy_inputs *inputs, const char *path, bool found);
int policy_inputs_add_file(struct policy_inputs *inputs, const struct source *source);

/* For another process of the same program. Whether all of it was written, ferror(3) says. */
void policy_inputs_put(const struct policy_inputs *inputs, FILE *to);

/* Caller frees. -EPROTO: there is none; -ENOMEM. */
int policy_inputs_take(struct parcel *from, struct policy_inputs **ret_inputs);

/*
 * Would the same compilation see the same? False also when that cannot be found out. A file that
 * was replaced by another one counts as changed, whatever is in it: which names mean one file is an
 * input, too.
 */
bool policy_inputs_unchanged(const struct policy_inputs *inputs);

/*
 * The same from the kernel's caches alone (RESOLVE_CACHED, openat2(2); RWF_NOWAIT, preadv2(2)), for
 * a caller that may not wait for a file system. Returns 1, 0, or -ERRNO if they do not have all of
 * it: -EAGAIN mostly, and for each file that lies where open(2) may ask a server.
 */
int policy_inputs_unchanged_in_caches(const struct policy_inputs *inputs);

#endif
