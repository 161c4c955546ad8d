/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the policy compiler have in common. */
#ifndef CORDON_TESTS_POLICY_SUPPORT_H
#define CORDON_TESTS_POLICY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "policy/compile/compile.h"
#include "policy/source/diagnostic.h"
#include "policy/ask/evaluate.h"

/* Compiles text that must be right; prints what is wrong with it otherwise. */
static inline struct compiled_policy *compile_good(const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;
	int r = policy_compile_text(text, strlen(text), "test.yaml", NULL, d, &p);

	if (r < 0) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s\n%s", text, why);
	}
	assert_int_equal(policy_tables_check(p->tables, p->tables_size), 0);
	return p;
}

static inline struct cordon_verdict ask(const struct compiled_policy *p, unsigned int start,
					const void *question, size_t size)
{
	struct cordon_verdict v;

	assert_int_equal(policy_run(p->tables, p->tables_size, start, question, size, &v, NULL), 0);
	return v;
}

/* A name with no anchor above it; a '/' at its end asks for a listing. */
static inline struct policy_path path_of(const char *name, size_t size)
{
	struct policy_path path = {.name = name, .size = size};

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		path.anchors[i] = POLICY_NO_ANCHOR;
	if (size > 1 && name[size - 1] == '/') {
		path.listing = true;
		path.size--;
	}
	return path;
}

static inline struct policy_answer ask_path(const struct compiled_policy *p, const char *name)
{
	struct policy_path path = path_of(name, strlen(name));
	struct policy_answer a;

	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 0, &a), 0);
	return a;
}

static inline int granted_path(const struct compiled_policy *p, const char *name,
			       unsigned int right)
{
	struct policy_answer a = ask_path(p, name);

	return (a.verdict.allow & ~a.verdict.deny & CORDON_RIGHT(right)) != 0;
}

static inline int granted(const struct compiled_policy *p, unsigned int start, const char *name,
			  unsigned int right)
{
	struct cordon_verdict v = ask(p, start, name, strlen(name));

	return (v.allow & ~v.deny & CORDON_RIGHT(right)) != 0;
}

#endif
