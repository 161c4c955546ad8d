// SPDX-License-Identifier: Apache-2.0
/*
 * Options that choose records: whatever words come, they are refused with a reason, or make a query
 * that means what they say. What is random has a seed, which is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/log/query_options.h"

#define WORDS	  60000
#define WORD_SIZE 48

static uint64_t seed = 0x452821e638d01377ull;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

static int option_of(const char *name)
{
	for (size_t i = 0; i < QUERY_OPTIONS_COUNT; i++)
		if (strcmp(query_options_table[i].name, name) == 0)
			return query_options_table[i].val;
	fail_msg("there is no --%s", name);
	return -1;
}

/* Takes one option into a fresh query. */
static int take(struct query_options *options, const char *name, const char *value)
{
	query_options_init(options);
	return query_options_take(options, option_of(name), value);
}

static const struct {
	const char *name, *good[6], *bad[10];
} cases[] = {
	{"since",
	 {"2026-11-22T03:11:00Z", "2026-11-22 03:11", "03:11", "today", "90s", "7d"},
	 {"", "x", "2026-13-01", "25:00", "-1s", "1", "99999999999999999999d"}},
	{"until", {"yesterday", "30m"}, {"", "tomorrow!"}},
	{"execution",
	 {"0", "01a20171-187b", "01A2", "01a20171-187b-7d85-b404-dc71ee330e25"},
	 {"", "last", "g", "01a20171-187b-7d85-b404-dc71ee330e25-0000", "01a2 "}},
	{"verdict", {"denied", "would-deny", "allowed"}, {"", "Denied", "deny", "denied "}},
	{"action",
	 {"denial", "segment-compressed", "agent-stop", "agent-later"},
	 {"", "denail", "Denial"}},
	{"operation", {"open", "system-call", "resolve"}, {"", "none", "opne", "OPEN"}},
	{"path", {"*", "**/x", "/a/{b,c}/?", "[a-z]", "", "a\\"}, {"[", "{", "{a,{b}}", "a["}},
	{"address",
	 {"203.0.113.7", "203.0.113.0/24", "[2001:db8::1]:443", "::1", "10.0.0.1:80"},
	 {"", "203.0.113", "203.0.113.0/33", "1.2.3.4:99999", "[::1", "::1/129", "host"}},
	{"lines", {"1", "1000000"}, {"", "0", "-1", "1000001", "1x", " 1", "99999999999999999999"}},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct query_options options;

		for (size_t k = 0; k < ARRAY_SIZE(cases[i].good) && cases[i].good[k]; k++) {
			if (take(&options, cases[i].name, cases[i].good[k]) != 0)
				fail_msg("--%s %s is denied", cases[i].name, cases[i].good[k]);
			query_options_release(&options);
		}
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].bad) && cases[i].bad[k]; k++) {
			if (take(&options, cases[i].name, cases[i].bad[k]) != -EINVAL)
				fail_msg("--%s \"%s\" is taken", cases[i].name, cases[i].bad[k]);
			query_options_release(&options);
		}
	}
}

/* Made of what options are made of, so that some are nearly right. */
static void make_word(char word[WORD_SIZE])
{
	static const char *const pieces[] = {"0",
					     "1",
					     "9",
					     "2026",
					     "-11",
					     "-22",
					     "T",
					     "03",
					     ":",
					     "Z",
					     "s",
					     "m",
					     "h",
					     "d",
					     ".",
					     "/",
					     "[",
					     "]",
					     "{",
					     "}",
					     ",",
					     "*",
					     "**",
					     "?",
					     "a",
					     "f",
					     "g",
					     "!",
					     "\\",
					     "::",
					     "2001:db8",
					     "%",
					     " ",
					     "\x80",
					     "255",
					     "65536",
					     "denied",
					     "today",
					     "ago",
					     "+",
					     "-",
					     "\n",
					     "18446744073709551616"};
	size_t length = 0, count = any(9);

	word[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *piece = pieces[any(ARRAY_SIZE(pieces))];

		if (length + strlen(piece) < WORD_SIZE) {
			strcpy(word + length, piece);
			length += strlen(piece);
		}
	}
}

static void assert_moment(const char *moment)
{
	uint64_t nsec;

	assert_int_equal(clock_parse(moment, &nsec), 0);
}

/* What was taken is in its bounds, and what the query points to is the options' own or the word. */
static void assert_sane(const struct query_options *options)
{
	const struct audit_query *query = &options->query;

	if (query->since)
		assert_moment(query->since);
	if (query->until)
		assert_moment(query->until);
	if (query->execution) {
		assert_ptr_equal(query->execution, options->execution);
		assert_int_equal(strspn(query->execution, "0123456789abcdef-"),
				 strlen(query->execution));
		assert_in_range(strlen(query->execution), 1, sizeof(options->execution) - 1);
	}
	if (query->address) {
		size_t bits = query->address->family == AF_INET ? 32 : 128;

		assert_in_range(query->address->bits, 0, bits);
	}
	assert_in_range(options->search.limit, 0, 1000000);
	/* It can be asked of any line. */
	(void)audit_query_ask_line(query, "{\"seq\":1}", strlen("{\"seq\":1}"));
}

static void test_any_words(void **state)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), said = dup(STDERR_FILENO);
	unsigned int taken = 0, refused = 0;

	(void)state;
	print_message("seed %llx\n", (unsigned long long)seed);
	assert_true(null >= 0 && said >= 0 && dup2(null, STDERR_FILENO) >= 0);
	for (int i = 0; i < WORDS; i++) {
		struct query_options options;
		char words[4][WORD_SIZE];

		query_options_init(&options);
		/* Some options, of which one may come again. */
		for (size_t k = 0; k < ARRAY_SIZE(words); k++) {
			int option = query_options_table[any(QUERY_OPTIONS_COUNT)].val, r;

			make_word(words[k]);
			r = query_options_take(&options, option, words[k]);
			assert_true(r == 0 || r == -EINVAL);
			taken += r == 0;
			refused += r < 0;
		}
		assert_sane(&options);
		query_options_release(&options);
	}
	dup2(said, STDERR_FILENO);
	close(said);
	close(null);
	assert_true(taken > WORDS / 2 && refused > WORDS / 2);
}

static void test_others(void **state)
{
	struct query_options options;

	(void)state;
	query_options_init(&options);
	assert_int_equal(query_options_take(&options, 'x', "x"), -ENOENT);
	assert_int_equal(query_options_take(&options, QUERY_OPTION_FIRST + QUERY_OPTIONS_COUNT,
					    "x"),
			 -ENOENT);
	query_options_release(&options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_any_words),
		cmocka_unit_test(test_others),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
