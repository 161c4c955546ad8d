/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From policy files to a compiled policy: the tables that the kernel runs, and beside them what
 * userspace needs to launch under the policy and to explain its verdicts.
 */
#ifndef CORDON_POLICY_COMPILE_H
#define CORDON_POLICY_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/abi.h"
#include "policy/source/diagnostic.h"

/* Where a rule stands and what it says; index = the rule number in verdicts and events. */
struct policy_rule {
	char *file; /* as included: "runtime/python3.yaml" or the path given */
	unsigned int line;
	char *text;	/* one line, normalised: "allow read /usr/lib" */
	char *severity; /* or NULL */
	char *message;	/* shown to whoever is refused, or NULL */
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
};

/* Which of the caller's variables an execution keeps, and what is set besides. */
struct policy_environment {
	bool keep_all;	  /* no `environment:` in an observe policy, or keep: ["*"] */
	char **keep;	  /* shell patterns, NULL-terminated, never NULL */
	char **set_names; /* NULL-terminated, never NULL, parallel to set_values */
	char **set_values;
};

enum policy_arguments {
	POLICY_ARGUMENTS_DIGEST, /* arguments are recorded as digest and length */
	POLICY_ARGUMENTS_FULL,	 /* as text, except those that carry code */
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
	/* Who besides root: "alice", "@group"; NULL-terminated, NULL: nobody. */
	char **run_by;
};

struct policy_inputs;

/* Where policies named without a path are looked for. */
struct policy_search {
	const char *const *directories; /* NULL-terminated; first hit wins */
	struct policy_inputs *inputs;	/* what is looked at is added there; NULL: nowhere */
};

/*
 * Loads `name_or_path` (a path if it contains '/' or ends in ".yaml", else a name looked up as
 * NAME.yaml in the search directories; includes: relative to the including file's directory,
 * then in the search directories), with its includes, and compiles it. What is wrong is added to
 * `diagnostics`; warnings may be there on success, too. Caller releases with
 * compiled_policy_free().
 *
 * -EINVAL: the policy has errors, each in `diagnostics`; -ENOENT, -EACCES, -EISDIR, ...: the file
 * cannot be read (also in `diagnostics`); -E2BIG: a limit of the compiler or file size, with the
 * rules to blame in `diagnostics`; -ENOMEM.
 */
int policy_compile(const char *name_or_path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/* The same from text in memory; `file` names it in diagnostics and resolves includes. */
int policy_compile_text(const char *text, size_t size, const char *file,
			const struct policy_search *search, struct diagnostics *diagnostics,
			struct compiled_policy **ret_policy);

/*
 * policy_compile() for those who only want to know whether a file is right: takes fragments, too,
 * which policy_compile() refuses with -EINVAL because nothing can run under one.
 */
int policy_check(const char *name_or_path, const struct policy_search *search,
		 struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/*
 * Turns it into one that only reports what it would refuse, as `mode: observe` does; its digest is another
 * one, too. -EIO: SHA-256 is not to be had.
 */
int compiled_policy_observe(struct compiled_policy *policy);

/* States of the automaton, for reports. */
uint32_t compiled_policy_states(const struct compiled_policy *policy);

void compiled_policy_free(struct compiled_policy *policy);
DEFINE_CLEANUP(struct compiled_policy *, compiled_policy_free, compiled_policy_freep)

#endif
