/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One access as people spell it, asked of a compiled policy: "read /etc/hosts",
 * "connect udp:[2001:db8::1]:53", "connect abstract:name", "map @memfd", "socket netlink/raw/0".
 */
#ifndef CORDON_POLICY_QUESTION_H
#define CORDON_POLICY_QUESTION_H

#include "policy/core/compiled.h"
#include "policy/ask/evaluate.h"

struct policy_question {
	unsigned int right;	 /* enum cordon_right */
	unsigned int start;	 /* CORDON_START_PATH, _NET, _SOCKET or _ABSTRACT */
	struct policy_path path; /* CORDON_START_PATH: its name is `bytes` */
	char *bytes;		 /* what is asked, with a NUL behind it */
	size_t size;
};

#define QUESTION_ERROR_TEXT 256

/*
 * `right`: a word of the policy language, or "list": to read a directory's listing, which a '/'
 * behind the name says, too; or "symlink": to create a symbolic link by the name. `directories`:
 * what the policy's variables are bound to, by anchor number; NULL: not bound. An object that
 * starts with a variable that is not bound is taken to lie in a directory of that name,
 * "/${workdir}", of which no rule speaks.
 *
 * -EINVAL: no such access, why stands in `error`; -ENOMEM. Release with question_release().
 */
int question_read(const struct compiled_policy *policy, const char *right, const char *object,
		  const char *const directories[CORDON_MAX_ANCHORS],
		  struct policy_question *ret_question, char error[QUESTION_ERROR_TEXT]);

void question_release(struct policy_question *q);

/* As policy_judge_path() and policy_judge(). */
int question_judge(const struct compiled_policy *policy, const struct policy_question *q,
		   struct policy_answer *ret_answer);

/*
 * The same of what the execution has made itself: in a directory for temporary files, which is
 * judged as if it lay in ${tmp} (no link lies directly in one), a unix socket, if the policy lets
 * one of this name be made, and a pseudo-terminal. False: the policy or the name is not of that
 * kind, or it makes no difference to what question_judge() reports.
 */
bool question_allowed_if_own(const struct compiled_policy *policy, const struct policy_question *q,
			     struct policy_answer *ret_answer);

/* Is it about a name below /dev/pts that devpts gives a terminal? */
bool question_is_terminal(const struct policy_question *q);

/* A right's word in the policy language: "read", "connect". */
const char *question_right_name(unsigned int right);

/* The section of a policy that speaks of a right: "files", "exec", "unix", "network". */
const char *question_section(unsigned int right);

/*
 * What is asked from a start state, as people spell it; names with control characters escaped.
 * Caller frees; NULL: no memory.
 */
char *question_format(unsigned int start, const char *bytes, size_t size);

/*
 * The rule that allows this access and nothing else, as YAML below its section's key:
 * `- {allow: [read], paths: ["/etc/hosts"]}`. Caller frees; NULL: no memory.
 */
char *question_smallest_rule(const struct compiled_policy *policy, const struct policy_question *q);

#endif
