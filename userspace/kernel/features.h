/* SPDX-License-Identifier: Apache-2.0 */
/* Can this kernel enforce, and what does it lack? For `cordon doctor` and before loading. */
#ifndef CORDON_KERNEL_FEATURES_H
#define CORDON_KERNEL_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum feature_state {
	FEATURE_OK,
	FEATURE_REDUCED, /* works, with something less: `effect` says what */
	FEATURE_MISSING, /* cordon cannot enforce without it */
};

struct feature {
	const char *name; /* "BPF LSM" */
	enum feature_state state;
	bool gap;	  /* something goes unseen or unlimited: no full coverage */
	char found[400];  /* "lsm=landlock,lockdown,yama" */
	char effect[160]; /* what that means; "" if OK */
	char remedy[480]; /* what to do; "" if OK */
};

/*
 * Looks at the running host: kernel version, BTF, BPF LSM, lockdown, cgroup2 and each controller,
 * bpffs, root, hooks, pinned state. Always succeeds in looking: what cannot be read is reported as
 * such. Caller frees the array. -ENOMEM.
 */
int features_probe(struct feature **ret_features, size_t *ret_count);

/*
 * Puts behind them whether the kernel takes the programs, which takes seconds: all are loaded and
 * none is attached, unless they are in force already. Not where something is FEATURE_MISSING: that
 * comes first. -ENOMEM.
 */
int features_try(struct feature **features, size_t *count);

/*
 * The names and effects of those that are gaps, NULL-terminated: "memory controller: `limits:
 * memory` is not applied". The caller frees texts and list. -ENOMEM.
 */
int features_gaps(char ***ret_gaps);

/* True if none is FEATURE_MISSING. */
bool features_can_enforce(const struct feature *features, size_t count);

#endif
