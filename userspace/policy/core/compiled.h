/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled policy: the kernel's tables, and the data that userspace needs to launch under the
 * policy and to explain its verdicts.
 */
#ifndef CORDON_POLICY_COMPILED_H
#define CORDON_POLICY_COMPILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/abi.h"

/* The source of a rule, for messages; its index is the rule number in verdicts and events. */
struct policy_rule {
	char *file; /* as included: "runtime/python3.yaml", or the given path */
	unsigned int line;
	char *text;	/* one line, normalised: "allow read /usr/lib" */
	char *severity; /* or NULL */
	char *message;	/* shown to the user when access is denied, or NULL */
	char **tags;	/* NULL-terminated, or NULL */
};

/* 0 everywhere: no limit. */
struct policy_limits {
	uint64_t wall_nsec;
	uint64_t memory_bytes;
	uint64_t pids;
	uint64_t cpu_percent; /* of one CPU: 200 is two CPUs */
	uint64_t cpu_time_nsec;
	uint64_t address_space_bytes;
	uint64_t file_size_bytes;
	uint64_t open_files;
	uint64_t io_read_bytes; /* bytes per second, for each disk */
	uint64_t io_write_bytes;
};

/*
 * The variables that an execution inherits from the caller, and the variables that the policy sets.
 */
struct policy_environment {
	bool keep_all;	  /* no `environment:` in an observe policy, or keep: ["*"] */
	char **keep;	  /* shell patterns, NULL-terminated, never NULL */
	char **set_names; /* NULL-terminated, never NULL, parallel to set_values */
	char **set_values;
};

enum policy_arguments {
	POLICY_ARGUMENTS_DIGEST, /* arguments are recorded as digest and length */
	POLICY_ARGUMENTS_FULL,	 /* as text, except arguments that contain code */
};

struct compiled_policy {
	char *name;
	char *file;		  /* the root policy file as opened */
	char *description;	  /* or NULL */
	unsigned char digest[32]; /* of `tables`, see struct cordon_policy_header */
	char digest_text[65];
	unsigned char *tables; /* struct cordon_policy_header first; whole pages */
	size_t tables_size;    /* multiple of CORDON_PAGE_SIZE */
	struct policy_rule *rules;
	size_t rule_count;
	char *anchor_names[CORDON_MAX_ANCHORS]; /* "workdir", "tmp", "home", ...; NULL unused */
	struct policy_limits limits;
	struct policy_environment environment;
	enum policy_arguments arguments;
	bool observe;
	/*
	 * Users besides root that may launch it: "alice", "@group"; NULL-terminated. NULL: only
	 * root.
	 */
	char **run_by;
};

/* The number of states in the automaton, for reports. */
uint32_t compiled_policy_states(const struct compiled_policy *policy);

void compiled_policy_free(struct compiled_policy *policy);
DEFINE_CLEANUP(struct compiled_policy *, compiled_policy_free, compiled_policy_freep)

/* Frees an array of strings and its strings, up to its NULL; the array may be NULL. */
void compiled_strings_free(char **strings);

#endif
