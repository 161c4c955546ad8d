/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy allows beyond those of its name that are approved. Two that are large take seconds
 * to compare, for which executors would be without their daemon: a process of its own does it, and
 * the loop, where nothing was found before, only tries for a moment. Entries of cordon.yaml are
 * compared beside it when they are loaded again; what is wider of them is found in the loop when
 * the daemon starts, and when somebody has decided about others of the same name.
 */
#ifndef CORDON_DAEMON_COMPARISON_H
#define CORDON_DAEMON_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/failure.h"
#include "base/sha256.h"
#include "policy/core/compiled.h"

struct approvals;
struct question;

struct comparison {
	unsigned char identity[SHA256_SIZE]; /* of what was compared */
	char **wider;			 /* than the approved one that is nearest: what is least */
	bool have_base, incomparable;	 /* the latter: `wider` says no more than that */
	unsigned char base[SHA256_SIZE]; /* identity of that one */
	uint64_t expires;		 /* of what waits; 0: never */
};

void comparison_release(struct comparison *comparison);

/* The policy allows no more than an approved policy of its name. */
bool comparison_is_covered(const struct comparison *comparison);

/* It was found before that it is covered. */
bool comparison_covers(struct approvals *approvals, const unsigned char identity[SHA256_SIZE]);

/* That of what is asked for, from what was found before if it was. *ret: release it. -ENOMEM. */
int comparison_find(struct approvals *approvals, const struct question *question,
		    struct comparison *ret_comparison);

/* Keeps it for comparison_find(). */
void comparison_keep(struct approvals *approvals, struct comparison *comparison);

/*
 * More is approved: what is covered stays so, all else may be by now. Less is: what this one
 * covered may be covered no more.
 */
void comparison_forget_wider(struct approvals *approvals);
void comparison_forget_based_on(struct approvals *approvals,
				const unsigned char identity[SHA256_SIZE]);
void comparison_forget_all(struct approvals *approvals);

/* Would approvals_check(), or a decision ahead, have to compare it? `now`: wall clock. */
bool approvals_must_compare(struct approvals *approvals, const struct compiled_policy *policy,
			    const char *use, uint64_t now);

/* In an errand: compares it and writes the result for approvals_take_comparison(). -ENOMEM. */
int approvals_write_comparison(struct approvals *approvals, const struct compiled_policy *policy,
			       const char *use, uint64_t now, FILE *to, struct failure *failure);

/*
 * In the loop: has what the errand has written ready. -ESTALE: other policies are approved by now;
 * -EPROTO: that is no comparison; -ENOMEM.
 */
int approvals_take_comparison(struct approvals *approvals, const char *data, size_t size);

#endif
