/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the kernel's own matcher (bpf/pure/matcher.h, bpf/pure/verdict.h) over a compiled policy on
 * the host, to predict the kernel's verdict.
 */
#ifndef CORDON_POLICY_EVALUATE_H
#define CORDON_POLICY_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/pure/verdict.h"

/*
 * Checks tables of unknown origin before they are run or loaded into the kernel. Covers magic,
 * version, sizes, alignment and digest, and that every state, edge, final and verdict reference is
 * in range. -EBADMSG: damaged; -EPROTONOSUPPORT: another version.
 */
int policy_tables_check(const unsigned char *tables, size_t size);

/*
 * One run over the input bytes from start state `start` (enum cordon_start), in the format of
 * abi.h.
 */
int policy_run(const unsigned char *tables, size_t size, unsigned int start, const void *question,
	       size_t question_size, struct cordon_verdict *ret_outcome,
	       struct cordon_final *ret_final);

/* A name, and the anchors above it. */
struct policy_path {
	const char
		*name; /* absolute, without a '/' at the end unless it is the root; or "@memfd" */
	size_t size;
	bool listing; /* the directory is to be listed */
	bool link;    /* a symbolic link is to be made there, so names below it are checked, too */
	/*
	 * a directory on the way compares names without case: the verdicts on all spellings are
	 * joined (bpf/core/folded.bpf.h); not with `link`
	 */
	bool case_insensitive;
	/*
	 * Per anchor: the size of the prefix of `name` that is its directory (0: the root), or
	 * POLICY_NO_ANCHOR
	 */
	size_t anchors[CORDON_MAX_ANCHORS];
};

#define POLICY_NO_ANCHOR SIZE_MAX

/* The combined result of all runs for one access. */
struct policy_answer {
	struct verdict verdict; /* allow and deny */
	uint32_t missing;	/* rights that are wanted but not granted; 0: all are */
	bool below; /* the name is granted, but `missing` is not: a link would add names below */
	/*
	 * Per right the first rule that denies it, else the exception that takes this back, else
	 * the first that allows it, else CORDON_NO_RULE.
	 */
	uint16_t rule[CORDON_RIGHT_SLOTS];
	uint16_t except; /* 1 + the rule that excepts the name, 0: none does */
};

/*
 * The whole check of a name, as the kernel does it: the absolute run, the run over rules that match
 * at any depth, and one run per anchor above the name. -EBADMSG: damaged tables; -EINVAL: an anchor
 * does not end at a component of the name; -E2BIG: the spellings of a `case_insensitive` name lead
 * to too many states.
 */
int policy_judge_path(const unsigned char *tables, size_t size, const struct policy_path *path,
		      uint32_t wanted, struct policy_answer *ret_answer);

/* The same for accesses that need only one run: CORDON_START_NET, _SOCKET and _ABSTRACT. */
int policy_judge(const unsigned char *tables, size_t size, unsigned int start, const void *question,
		 size_t question_size, uint32_t wanted, struct policy_answer *ret_answer);

/*
 * The same for CORDON_START_NET input without its last two bytes, the port. Granted if at least one
 * port is; otherwise denied by a rule if at least one port is.
 */
int policy_judge_any_port(const unsigned char *tables, size_t size, const void *question,
			  size_t question_size, uint32_t wanted, struct policy_answer *ret_answer);

#endif
