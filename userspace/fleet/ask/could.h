/* SPDX-License-Identifier: Apache-2.0 */
/* Decides from stored policies whether any task on a host could have had an access. */
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

/* One version of a policy that was active on a host. */
struct could_use {
	const char *host, *name, *policy, *digest; /* `name`: of the host, or NULL */
};

enum could_verdict {
	COULD_NOT,
	COULD,	       /* for all values of the policy's variables */
	COULD_SOME,    /* for executions with a variable's directory above the object */
	COULD_UNKNOWN, /* the policy is not stored */
};

struct could_answer {
	enum could_verdict verdict;
	bool observe;	     /* the policy is in observe mode */
	bool but_for_own;    /* except if the address is one of the host's own */
	bool if_own;	     /* only objects created by the execution itself */
	uint64_t executions; /* COULD_SOME: how many executions could */
	char execution[64];  /* one of them */
	char *file, *text;   /* the deciding rule as the host reported it; NULL: none */
	uint32_t line;
};

/*
 * Evaluates one policy. Returns 0, -EINVAL if right or object is invalid (*failure has the reason),
 * -EIO or -ENOMEM. The caller frees *ret_answer with could_answer_release().
 */
int could_ask(const struct could_question *question, const struct could_use *use,
	      struct could_answer *ret_answer, struct failure *failure);
void could_answer_release(struct could_answer *answer);

#endif
