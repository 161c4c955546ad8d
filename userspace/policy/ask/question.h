/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of one access, and its check with a compiled policy: "read /etc/hosts", "connect
 * udp:[2001:db8::1]:53", "connect abstract:name", "map @memfd", "socket netlink/raw/0".
 */
#ifndef CORDON_POLICY_QUESTION_H
#define CORDON_POLICY_QUESTION_H

#include "policy/core/compiled.h"
#include "policy/ask/evaluate.h"

struct policy_question {
	unsigned int right;	 /* enum cordon_right */
	unsigned int start;	 /* CORDON_START_PATH, _NET, _SOCKET or _ABSTRACT */
	struct policy_path path; /* CORDON_START_PATH: its name is `bytes` */
	char *bytes;		 /* the automaton's input, followed by a NUL */
	size_t size;
};

#define QUESTION_ERROR_TEXT 256

/*
 * `right`: a word of the policy language. Also "list": to read a directory's listing, like "read"
 * with a '/' at the end of the name. Or "symlink": to create a symbolic link with this name.
 *
 * `directories`: the bindings of the policy's variables, by anchor number; NULL: not bound. An
 * object that starts with an unbound variable is treated as a name below a directory "/${workdir}",
 * which no rule matches.
 *
 * -EINVAL: no such access, the reason is in `error`; -ENOMEM. Release with question_release().
 */
int question_read(const struct compiled_policy *policy, const char *right, const char *object,
		  const char *const directories[CORDON_MAX_ANCHORS],
		  struct policy_question *ret_question, char error[QUESTION_ERROR_TEXT]);

void question_release(struct policy_question *q);

/* As policy_judge_path() and policy_judge(). */
int question_judge(const struct compiled_policy *policy, const struct policy_question *q,
		   struct policy_answer *ret_answer);

/*
 * The same for objects that the execution has created itself. A file in a directory for temporary
 * files is checked as if it were in ${tmp}; a symbolic link directly in that directory is excluded.
 * A unix socket is allowed if the policy lets the execution make one with this name. So is a
 * pseudo-terminal under `terminals: own`.
 *
 * False: this does not apply to the policy or the name, or question_judge() gives the same result.
 */
bool question_allowed_if_own(const struct compiled_policy *policy, const struct policy_question *q,
			     struct policy_answer *ret_answer);

/* Is it about a name below /dev/pts that devpts gives a terminal? */
bool question_is_terminal(const struct policy_question *q);

/* A right's word in the policy language: "read", "connect". */
const char *question_right_name(unsigned int right);

/* The section of a policy that contains a right: "files", "exec", "unix", "network". */
const char *question_section(unsigned int right);

/*
 * The text form of the input of a start state, with control characters escaped. Caller frees; NULL:
 * no memory.
 */
char *question_format(unsigned int start, const char *bytes, size_t size);

/*
 * The rule that allows only this access, as YAML below its section's key: `- {allow: [read], paths:
 * ["/etc/hosts"]}`. Caller frees; NULL: no memory.
 */
char *question_smallest_rule(const struct compiled_policy *policy, const struct policy_question *q);

#endif
