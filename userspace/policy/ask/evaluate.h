/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the kernel's own matcher (bpf/pure/matcher.h, bpf/pure/verdict.h) over a compiled policy on
 * the host: what would the kernel say?
 */
#ifndef CORDON_POLICY_EVALUATE_H
#define CORDON_POLICY_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/pure/verdict.h"

/*
 * Checks tables of unknown origin before they are run or handed to the kernel: magic, version,
 * sizes, alignment, that every state, edge, final and verdict reference is in range, digest.
 * -EBADMSG: damaged; -EPROTONOSUPPORT: another version.
 */
int policy_tables_check(const unsigned char *tables, size_t size);

/* One run: `question` from start state `start` (enum cordon_start), as abi.h defines them. */
int policy_run(const unsigned char *tables, size_t size, unsigned int start, const void *question,
	       size_t question_size, struct cordon_verdict *ret_outcome,
	       struct cordon_final *ret_final);

/* A name, and what it lies below. */
struct policy_path {
	const char
		*name; /* absolute, without a '/' at the end unless it is the root; or "@memfd" */
	size_t size;
	bool listing; /* the directory is to be listed */
	bool link;    /* a symbolic link is to be made there: what is below it gets names, too */
	/*
	 * Per anchor: the size of the part of `name` that it stands at (0: the root), or
	 * POLICY_NO_ANCHOR
	 */
	size_t anchors[CORDON_MAX_ANCHORS];
};

#define POLICY_NO_ANCHOR SIZE_MAX

/* What all runs together say of one question. */
struct policy_answer {
	struct verdict verdict; /* allow and deny */
	uint32_t missing;	/* of the wanted rights; 0: granted */
	bool below; /* the name is granted, and `missing` below it, where a link would give names */
	/*
	 * Per right the first rule that denies it, else the first that allows it, else
	 * CORDON_NO_RULE.
	 */
	uint16_t rule[CORDON_RIGHT_SLOTS];
};

/*
 * The whole question about a name, as the kernel asks it: the absolute run, the one over rules that
 * match at any depth, and one per anchor above the name. -EBADMSG: damaged tables; -EINVAL: an
 * anchor stands where no component of the name ends.
 */
int policy_judge_path(const unsigned char *tables, size_t size, const struct policy_path *path,
		      uint32_t wanted, struct policy_answer *ret_answer);

/* The same for the questions that are a single run: CORDON_START_NET, _SOCKET and _ABSTRACT. */
int policy_judge(const unsigned char *tables, size_t size, unsigned int start, const void *question,
		 size_t question_size, uint32_t wanted, struct policy_answer *ret_answer);

/*
 * The same for a START_NET question without its last two bytes: granted if some port is; else
 * denied by a rule if some port is.
 */
int policy_judge_any_port(const unsigned char *tables, size_t size, const void *question,
			  size_t question_size, uint32_t wanted, struct policy_answer *ret_answer);

#endif
