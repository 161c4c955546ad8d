/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller says of its trace and conversation: what is taken, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/record/trace_context.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

static void traces(void **state)
{
	static const char *const good[] = {
		"00-" TRACE "-" SPAN "-01",
		"00-" TRACE "-" SPAN "-00",
		"cc-" TRACE "-" SPAN "-01",
		"cc-" TRACE "-" SPAN "-01-what-a-later-version-has",
	};
	static const char *const bad[] = {
		"",
		"00",
		"00-" TRACE,
		"00-" TRACE "-" SPAN,
		"00-" TRACE "-" SPAN "-1",
		"00-" TRACE "-" SPAN "-01-more",
		"cc-" TRACE "-" SPAN "-01.more",
		"ff-" TRACE "-" SPAN "-01",
		"00-00000000000000000000000000000000-" SPAN "-01",
		"00-" TRACE "-0000000000000000-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
		"00-" TRACE "0-" SPAN "-01",
		"00-" SPAN "-" TRACE "-01",
		" 00-" TRACE "-" SPAN "-01",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct trace_context context = {};

		assert_true(trace_context_parse(good[i], &context));
		assert_string_equal(context.trace, TRACE);
		assert_string_equal(context.span, SPAN);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct trace_context context = {.trace = "as it was"};

		assert_false(trace_context_parse(bad[i], &context));
		assert_string_equal(context.trace, "as it was");
	}
}

static void conversations(void **state)
{
	static const struct {
		const char *baggage, *id;
	} cases[] = {
		{"gen_ai.conversation.id=c-17", "c-17"},
		{"user=jane,gen_ai.conversation.id=c-17,more=x", "c-17"},
		{"user=jane ,  gen_ai.conversation.id = c-17 ;private;a=b , more=x", "c-17"},
		{"gen_ai.conversation.id=a%20b%2C%C3%A4%2f", "a b,\xc3\xa4/"},
		{"gen_ai.conversation.id=,gen_ai.conversation.id=second", "second"},
		{"", NULL},
		{",,,", NULL},
		{"gen_ai.conversation.id", NULL},
		{"gen_ai.conversation.id=", NULL},
		{"gen_ai.conversation.id,x=y", NULL},
		{"gen_ai.conversation.id ,=y", NULL},
		{"gen_ai.conversation.identity=c-17", NULL},
		{"my.gen_ai.conversation.id=c-17", NULL},
		{"gen_ai.conversation.id=%", NULL},
		{"gen_ai.conversation.id=%4", NULL},
		{"gen_ai.conversation.id=%4,", NULL},
		{"gen_ai.conversation.id=%zz", NULL},
		{"gen_ai.conversation.id=a%0ab", NULL},
		{"gen_ai.conversation.id=a%00b", NULL},
		{"gen_ai.conversation.id=a\x1b[2J", NULL},
	};
	char id[CONVERSATION_SIZE], baggage[600];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool there = trace_context_conversation(cases[i].baggage, id);

		if (there != !!cases[i].id)
			fail_msg("%s", cases[i].baggage);
		if (there)
			assert_string_equal(id, cases[i].id);
	}
	/* As long as there is room, and no longer. */
	memset(baggage, 'x', sizeof(baggage));
	memcpy(baggage, "gen_ai.conversation.id=", 23);
	baggage[23 + CONVERSATION_SIZE - 1] = '\0';
	assert_true(trace_context_conversation(baggage, id));
	assert_int_equal(strlen(id), CONVERSATION_SIZE - 1);
	baggage[23 + CONVERSATION_SIZE - 1] = 'x';
	baggage[23 + CONVERSATION_SIZE] = '\0';
	assert_false(trace_context_conversation(baggage, id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces),
		cmocka_unit_test(conversations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
