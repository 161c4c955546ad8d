/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Could anything on a host have had an access? Decided by the tables that its executions ran under.
 */
#ifndef CORDON_FLEET_COULD_H
#define CORDON_FLEET_COULD_H

#include <stdbool.h>

#include "fleet/clickhouse/client.h"
#include "fleet/store/rows.h"
#include "policy/core/compiled.h"

struct could_question {
	const char *store; /* directory */
	struct rows *rows;
	struct clickhouse *clickhouse; /* NULL: none is configured */
	const char *right, *object;
};

/* A form of a policy that decided something on a host. */
struct could_use {
	const char *host, *name, *policy, *digest; /* `name`: the host's, or NULL */
};

enum could_verdict {
	COULD_NOT,
	COULD,	    /* whatever the policy's variables stood for */
	COULD_SOME, /* those executions whose variables stood for directories of which it lies in one */
	COULD_UNKNOWN, /* the policy is not kept here */
};

struct could_answer {
	enum could_verdict verdict;
	bool observe;	     /* the policy refuses nothing */
	bool but_for_own;    /* not where the address is the host's own */
	bool if_own;	     /* only what the execution had made itself for a while */
	uint64_t executions; /* COULD_SOME: how many */
	char execution[64];  /* and one of them */
	char *file, *text;   /* the rule that decides, as the host says; NULL: none does */
	uint32_t line;
};

/*
 * -EINVAL: there is no such access, `failure` says why; -EIO, -ENOMEM. Release with
 * could_answer_release().
 */
int could_ask(const struct could_question *question, const struct could_use *use,
	      struct could_answer *ret_answer, struct failure *failure);
void could_answer_release(struct could_answer *answer);

#endif
