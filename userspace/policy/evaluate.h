/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the kernel's own matcher (bpf/matcher.h, bpf/verdict.h) over a compiled policy on the
 * host: what would the kernel say?
 */
#ifndef CORDON_POLICY_EVALUATE_H
#define CORDON_POLICY_EVALUATE_H

#include <stddef.h>

#include "bpf/abi.h"
#include "bpf/verdict.h"

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

#endif
