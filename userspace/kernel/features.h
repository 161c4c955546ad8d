/* SPDX-License-Identifier: Apache-2.0 */
/* Features that this kernel has and lacks: for `cordon doctor` and before loading. */
#ifndef CORDON_KERNEL_FEATURES_H
#define CORDON_KERNEL_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum feature_state {
	FEATURE_OK,
	FEATURE_REDUCED, /* works with a restriction, see `effect` */
	FEATURE_MISSING, /* cordon cannot enforce without it */
};

struct feature {
	const char *name; /* "BPF LSM" */
	enum feature_state state;
	bool gap;	  /* an access is not seen, or a limit not applied: no full coverage */
	char found[400];  /* "lsm=landlock,lockdown,yama" */
	char effect[160]; /* consequence; "" if OK */
	char remedy[480]; /* how to fix it; "" if OK */
};

/*
 * Probes the running host: kernel version, BTF, BPF LSM, lockdown, cgroup2 and its controllers,
 * bpffs, root, hooks, pinned state. If something cannot be read, the result reports that. Returns
 * 0, or -ENOMEM. The caller frees the array.
 */
int features_probe(struct feature **ret_features, size_t *ret_count);

/*
 * Appends whether the kernel accepts the programs. Loads all and attaches none, which takes
 * seconds, unless they are active. Does nothing if a feature is FEATURE_MISSING. Returns 0, or
 * -ENOMEM.
 */
int features_try(struct feature **features, size_t *count);

/*
 * Names and effects of all gaps, NULL-terminated, such as "memory controller: `limits: memory` is
 * not applied". Returns 0, or -ENOMEM. The caller frees texts and list.
 */
int features_gaps(char ***ret_gaps);

/* True if none is FEATURE_MISSING. */
bool features_can_enforce(const struct feature *features, size_t count);

#endif
