/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, attaching and pinning the BPF object. */
#ifndef CORDON_KERNEL_LOADER_H
#define CORDON_KERNEL_LOADER_H

#include <stdbool.h>

#include "base/failure.h"

/*
 * Loads the object, attaches program after program and pins everything; those for packets to the
 * cgroup behind `cgroup_fd`. On failure nothing is left attached or pinned. -EOPNOTSUPP: the kernel
 * lacks something; -errno of the step that failed.
 */
int loader_load_and_pin(int cgroup_fd, struct failure *failure);

struct bpf_object;
struct btf;

/* Of the object's programs, has those loaded that belong on the kernel with these types. */
void loader_choose_programs(struct bpf_object *object, const struct btf *btf);

struct enforce_bpf;
struct bpf_program;
struct bpf_map;

/*
 * The two steps before attaching: the object with the programs of this kernel chosen, and its load.
 */
int loader_open(struct enforce_bpf **ret_skeleton, struct failure *failure);
int loader_load(struct enforce_bpf *skeleton, struct failure *failure);

/*
 * Is it attached from the start; to a cgroup instead of the whole host? Is this program, this map
 * pinned as itself?
 */
bool loader_is_attached(const struct bpf_program *program);
bool loader_is_for_cgroup(const struct bpf_program *program);
bool loader_is_pinned_program(const struct bpf_program *program);
bool loader_is_pinned(const struct enforce_bpf *skeleton, const struct bpf_map *map);

/*
 * Number of links, besides extras, that this kernel's complete enforcement has. -ENOENT: no kernel
 * BTF.
 */
int loader_expected_links(void);

/* Is the engine attached to every LSM program that is pinned? */
bool loader_engine_is_complete(void);

#define LOADER_HOOK_SIZE 64

/*
 * How many LSM hooks the programs of this build cannot do without; ret_missing is a function of the
 * kernel that is not there, or takes other arguments than any program knows, or "". -ENOENT: no
 * programs.
 */
int loader_check_hooks(const struct btf *btf, char ret_missing[LOADER_HOOK_SIZE]);

enum loader_extra {
	LOADER_EXTRA_SYSTEM_CALLS, /* reports what seccomp filters refuse */
	LOADER_EXTRA_ATTEMPTS,	   /* reports what modes of files refuse */
	LOADER_EXTRA_METADATA,	   /* judges stat and the like */
	LOADER_EXTRA_SOCKETS,	   /* judges sendfile and splice to and from sockets of others */
	LOADER_EXTRA_NAMES,	   /* leads DNS to the stub: see cgroup_links_attach_names() */
};

/* Is this program one that is attached only when it is asked for? */
bool loader_is_extra(const char *program);

/* Attaches the pinned programs of an extra, unless that is done; they stay. -errno. */
int loader_attach_extra(enum loader_extra extra, struct failure *failure);

#endif
