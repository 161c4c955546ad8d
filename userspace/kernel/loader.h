/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, attaching and pinning the BPF object. */
#ifndef CORDON_KERNEL_LOADER_H
#define CORDON_KERNEL_LOADER_H

#include <stdbool.h>

#include "base/failure.h"

/*
 * Loads the object, attaches one program at a time and pins everything. Packet programs are
 * attached to the cgroup behind `cgroup_fd`. Returns 0, -EOPNOTSUPP if the kernel lacks a feature,
 * or -errno of the failed step. On failure nothing is left attached or pinned.
 */
int loader_load_and_pin(int cgroup_fd, struct failure *failure);

struct bpf_object;
struct btf;

/* Selects the programs of the object that apply to a kernel with these types. */
void loader_choose_programs(struct bpf_object *object, const struct btf *btf);

struct enforce_bpf;
struct bpf_program;
struct bpf_map;

/*
 * The two steps before attaching: opening the object, with the programs of this kernel selected,
 * and loading it.
 */
int loader_open(struct enforce_bpf **ret_skeleton, struct failure *failure);
int loader_load(struct enforce_bpf *skeleton, struct failure *failure);

/*
 * Is the program attached from the start? Is it attached to a cgroup? Is the program, or the map,
 * pinned itself?
 */
bool loader_is_attached(const struct bpf_program *program);
bool loader_is_for_cgroup(const struct bpf_program *program);
bool loader_is_pinned_program(const struct bpf_program *program);
bool loader_is_pinned(const struct enforce_bpf *skeleton, const struct bpf_map *map);

/*
 * Number of links, without extras, of a complete enforcement on this kernel. -ENOENT: no kernel
 * BTF.
 */
int loader_expected_links(void);

/* Is the engine attached to all pinned LSM programs? */
bool loader_engine_is_complete(void);

#define LOADER_HOOK_SIZE 64

/*
 * Returns the number of LSM hooks that this build requires. ret_missing is a kernel function that
 * is missing or has other arguments than expected, or "". -ENOENT: no programs.
 */
int loader_check_hooks(const struct btf *btf, char ret_missing[LOADER_HOOK_SIZE]);

enum loader_extra {
	LOADER_EXTRA_SYSTEM_CALLS, /* logs calls that seccomp filters deny */
	LOADER_EXTRA_ATTEMPTS,	   /* logs accesses that file modes deny */
	LOADER_EXTRA_METADATA,	   /* checks stat and the like */
	LOADER_EXTRA_SOCKETS,	   /* checks sendfile and splice with foreign sockets */
	LOADER_EXTRA_NAMES, /* redirects DNS to the DNS proxy: see cgroup_links_attach_names() */
};

/* Is this program attached only on request? */
bool loader_is_extra(const char *program);

/*
 * Attaches the pinned programs of an extra, unless they are attached. They stay attached. Returns
 * 0, or -errno.
 */
int loader_attach_extra(enum loader_extra extra, struct failure *failure);

#endif
