/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that carry code, of all the programs that take some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/record/arguments.h"
#include "audit/record/interpreter.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/sha256.h"

#define MAX_ARGS 16

struct expectation {
	const char *argv[MAX_ARGS];
	enum arguments_code_kind kind;
	size_t index;
	size_t offset;
	const char *language;
};

#define NONE	  ARGUMENTS_CODE_NONE
#define ARGUMENT  ARGUMENTS_CODE_ARGUMENT
#define SCRIPT	  ARGUMENTS_CODE_FILE
#define INPUT	  ARGUMENTS_CODE_STDIN
#define ARGV(...) {__VA_ARGS__}

static const struct expectation table[] = {
	/* not interpreters */
	{ARGV("ls", "-c", "x"), NONE, 0, 0, NULL},
	{ARGV("/bin/sshd", "-c", "x"), NONE, 0, 0, NULL},
	{ARGV("python3-config", "-c", "x"), NONE, 0, 0, NULL},
	{ARGV("pythonic", "-c", "x"), NONE, 0, 0, NULL},
	{ARGV(""), NONE, 0, 0, NULL},
	/* python */
	{ARGV("python3", "-c", "CODE"), ARGUMENT, 2, 0, "python"},
	{ARGV("python3", "-cCODE"), ARGUMENT, 1, 2, "python"},
	{ARGV("/usr/bin/python3.11", "-Bc", "CODE", "-c", "data"), ARGUMENT, 2, 0, "python"},
	{ARGV("python", "-BcCODE"), ARGUMENT, 1, 3, "python"},
	{ARGV("python", "-W", "ignore", "-X", "dev", "-c", "CODE"), ARGUMENT, 6, 0, "python"},
	{ARGV("python", "-Wignore", "-u", "a.py", "-c", "data"), SCRIPT, 3, 0, "python"},
	{ARGV("python", "-W", "-c", "a.py"), SCRIPT, 3, 0, "python"},
	{ARGV("python3", "-m", "http.server"), NONE, 0, 0, "python"},
	{ARGV("python3", "-mtimeit", "x"), NONE, 0, 0, "python"},
	{ARGV("python3", "-Im", "pip", "-c", "x"), NONE, 0, 0, "python"},
	{ARGV("python3", "-VV"), NONE, 0, 0, "python"},
	{ARGV("python3", "--version"), NONE, 0, 0, "python"},
	{ARGV("python3"), INPUT, 0, 0, "python"},
	{ARGV("python3", "-u", "-"), INPUT, 0, 0, "python"},
	{ARGV("python3", "-u", "-", "a.py"), INPUT, 0, 0, "python"},
	{ARGV("python3", "--check-hash-based-pycs", "never", "a.py"), SCRIPT, 3, 0, "python"},
	{ARGV("python3", "--", "a.py"), SCRIPT, 2, 0, "python"},
	{ARGV("python3", "-c"), NONE, 0, 0, "python"},
	{ARGV("pypy3", "-c", "CODE"), ARGUMENT, 2, 0, "python"},
	{ARGV("python3-dbg", "-c", "CODE"), ARGUMENT, 2, 0, "python"},
	/* shells */
	{ARGV("sh", "-c", "CODE"), ARGUMENT, 2, 0, "shell"},
	{ARGV("bash", "-c", "CODE", "name", "a b"), ARGUMENT, 2, 0, "shell"},
	{ARGV("bash", "-lc", "CODE"), ARGUMENT, 2, 0, "shell"},
	{ARGV("bash", "-ce", "CODE"), ARGUMENT, 2, 0, "shell"},
	{ARGV("bash", "-c", "-e", "CODE"), ARGUMENT, 3, 0, "shell"},
	{ARGV("bash", "-c", "--", "CODE"), ARGUMENT, 3, 0, "shell"},
	{ARGV("bash", "-o", "pipefail", "-ec", "CODE"), ARGUMENT, 4, 0, "shell"},
	{ARGV("bash", "-euo", "pipefail", "-c", "CODE"), ARGUMENT, 4, 0, "shell"},
	{ARGV("bash", "-euco", "pipefail", "CODE"), ARGUMENT, 3, 0, "shell"},
	{ARGV("bash", "+x", "-O", "extglob", "-c", "CODE"), ARGUMENT, 5, 0, "shell"},
	{ARGV("bash", "--norc", "--rcfile", "/x", "-c", "CODE"), ARGUMENT, 5, 0, "shell"},
	{ARGV("-bash", "-c", "CODE"), ARGUMENT, 2, 0, "shell"},
	{ARGV("bash", "run.sh", "-c", "data"), SCRIPT, 1, 0, "shell"},
	{ARGV("bash", "-x", "run.sh"), SCRIPT, 2, 0, "shell"},
	{ARGV("sh", "-s", "arg"), INPUT, 0, 0, "shell"},
	{ARGV("sh"), INPUT, 0, 0, "shell"},
	{ARGV("sh", "-"), INPUT, 0, 0, "shell"},
	{ARGV("bash", "--version"), NONE, 0, 0, "shell"},
	{ARGV("dash", "-c", "CODE"), ARGUMENT, 2, 0, "shell"},
	{ARGV("zsh", "-fc", "CODE"), ARGUMENT, 2, 0, "shell"},
	{ARGV("fish", "--command=CODE"), ARGUMENT, 1, 10, "shell"},
	{ARGV("busybox", "sh", "-c", "CODE"), ARGUMENT, 3, 0, "shell"},
	/* javascript */
	{ARGV("node", "-e", "CODE"), ARGUMENT, 2, 0, "javascript"},
	{ARGV("node", "--eval", "CODE"), ARGUMENT, 2, 0, "javascript"},
	{ARGV("node", "--eval=CODE"), ARGUMENT, 1, 7, "javascript"},
	{ARGV("node", "-p", "CODE"), ARGUMENT, 2, 0, "javascript"},
	{ARGV("node", "-p", "-e", "CODE"), ARGUMENT, 3, 0, "javascript"},
	{ARGV("node", "-pe", "CODE"), ARGUMENT, 2, 0, "javascript"},
	{ARGV("nodejs", "--print", "CODE"), ARGUMENT, 2, 0, "javascript"},
	{ARGV("node", "--import", "data:text/javascript,CODE", "a.js"), ARGUMENT, 2, 0,
	 "javascript"},
	{ARGV("node", "-r", "./x.js", "a.js"), SCRIPT, 3, 0, "javascript"},
	{ARGV("node", "--input-type=module"), INPUT, 0, 0, "javascript"},
	{ARGV("node18", "--no-warnings", "a.js", "-e", "data"), SCRIPT, 2, 0, "javascript"},
	{ARGV("deno", "eval", "CODE"), ARGUMENT, 2, 0, "javascript"},
	{ARGV("deno", "run", "-A", "a.ts"), SCRIPT, 3, 0, "javascript"},
	{ARGV("bun", "run", "a.ts"), SCRIPT, 2, 0, "javascript"},
	/* perl */
	{ARGV("perl", "-e", "CODE"), ARGUMENT, 2, 0, "perl"},
	{ARGV("perl", "-E", "CODE"), ARGUMENT, 2, 0, "perl"},
	{ARGV("perl", "-eCODE"), ARGUMENT, 1, 2, "perl"},
	{ARGV("perl", "-lane", "CODE", "file"), ARGUMENT, 2, 0, "perl"},
	{ARGV("perl", "-0777ne", "CODE"), ARGUMENT, 2, 0, "perl"},
	{ARGV("perl", "-i.bake", "-pe", "CODE"), ARGUMENT, 3, 0, "perl"},
	{ARGV("perl", "-MList::Util=sum", "-e", "CODE"), ARGUMENT, 3, 0, "perl"},
	{ARGV("perl", "-d:Trace", "a.pl"), SCRIPT, 2, 0, "perl"},
	{ARGV("perl5.36", "-I", "lib", "a.pl"), SCRIPT, 3, 0, "perl"},
	{ARGV("perl", "-w"), INPUT, 0, 0, "perl"},
	{ARGV("perl", "-v"), NONE, 0, 0, "perl"},
	/* ruby */
	{ARGV("ruby", "-e", "CODE"), ARGUMENT, 2, 0, "ruby"},
	{ARGV("ruby", "-rjson", "-ne", "CODE"), ARGUMENT, 3, 0, "ruby"},
	{ARGV("ruby", "-W0", "-E", "utf-8", "a.rb"), SCRIPT, 4, 0, "ruby"},
	{ARGV("ruby3.1", "--disable", "gems", "a.rb"), SCRIPT, 3, 0, "ruby"},
	/* php */
	{ARGV("php", "-r", "CODE"), ARGUMENT, 2, 0, "php"},
	{ARGV("php8.2", "-d", "x=1", "-rCODE"), ARGUMENT, 3, 2, "php"},
	{ARGV("php", "-nr", "CODE"), ARGUMENT, 2, 0, "php"},
	{ARGV("php", "-B", "CODE", "-R", "CODE"), ARGUMENT, 2, 0, "php"},
	{ARGV("php", "-f", "a.php"), SCRIPT, 2, 0, "php"},
	{ARGV("php", "a.php", "-r", "data"), SCRIPT, 1, 0, "php"},
	/* powershell */
	{ARGV("pwsh", "-Command", "CODE", "more"), ARGUMENT, 2, 0, "powershell"},
	{ARGV("pwsh", "-NoProfile", "-c", "CODE"), ARGUMENT, 3, 0, "powershell"},
	{ARGV("pwsh", "-NoLogo", "-EncodedCommand", "CODE"), ARGUMENT, 3, 0, "powershell"},
	{ARGV("pwsh", "-enc", "CODE"), ARGUMENT, 2, 0, "powershell"},
	{ARGV("pwsh", "-e", "CODE"), ARGUMENT, 2, 0, "powershell"},
	{ARGV("pwsh", "--command", "CODE"), ARGUMENT, 2, 0, "powershell"},
	{ARGV("pwsh", "-ExecutionPolicy", "Bypass", "-File", "a.ps1"), SCRIPT, 4, 0, "powershell"},
	{ARGV("pwsh", "-ex", "Bypass", "a.ps1"), SCRIPT, 3, 0, "powershell"},
	{ARGV("pwsh", "-Command", "-"), INPUT, 0, 0, "powershell"},
	{ARGV("pwsh", "-Version"), NONE, 0, 0, "powershell"},
	{ARGV("pwsh"), INPUT, 0, 0, "powershell"},
	/* others: code, of a language without a name in records */
	{ARGV("awk", "-F", ":", "CODE", "/etc/passwd"), ARGUMENT, 3, 0, NULL},
	{ARGV("awk", "-f", "a.awk", "x"), SCRIPT, 2, 0, NULL},
	{ARGV("lua5.4", "-e", "CODE"), ARGUMENT, 2, 0, NULL},
	{ARGV("Rscript", "-e", "CODE"), ARGUMENT, 2, 0, NULL},
	/* prefixes */
	{ARGV("/usr/bin/env", "python3", "-c", "CODE"), ARGUMENT, 3, 0, "python"},
	{ARGV("env", "-i", "A=1", "-u", "HOME", "B=2", "bash", "-lc", "CODE"), ARGUMENT, 8, 0,
	 "shell"},
	{ARGV("env", "-S", "python3 -c CODE"), ARGUMENT, 2, 0, NULL},
	{ARGV("env", "-Spython3 -c CODE"), ARGUMENT, 1, 2, NULL},
	{ARGV("env", "--split-string=python3 -c CODE"), ARGUMENT, 1, 15, NULL},
	{ARGV("timeout", "-s", "KILL", "5", "python3", "a.py"), SCRIPT, 5, 0, "python"},
	{ARGV("nice", "-n", "5", "nohup", "setsid", "sh", "-c", "CODE"), ARGUMENT, 7, 0, "shell"},
	{ARGV("stdbuf", "-oL", "perl", "-e", "CODE"), ARGUMENT, 4, 0, "perl"},
	{ARGV("sudo", "-u", "bob", "A=1", "ruby", "-e", "CODE"), ARGUMENT, 6, 0, "ruby"},
	{ARGV("env"), NONE, 0, 0, NULL},
	{ARGV("env", "-u"), NONE, 0, 0, NULL},
	{ARGV("timeout", "5"), NONE, 0, 0, NULL},
};

static size_t count(const char *const *argv)
{
	size_t n = 0;

	while (n < MAX_ARGS && argv[n])
		n++;
	return n;
}

static void test_find(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct expectation *e = &table[i];
		struct arguments_code code;

		print_message("%s %s %s\n", e->argv[0], e->argv[1] ? e->argv[1] : "",
			      e->argv[1] && e->argv[2] ? e->argv[2] : "");
		assert_int_equal(arguments_find_code(count(e->argv), e->argv, &code), 0);
		assert_int_equal(code.kind, e->kind);
		assert_int_equal(code.index, e->index);
		assert_int_equal(code.offset, e->offset);
		if (e->language)
			assert_string_equal(code.language, e->language);
		else
			assert_null(code.language);
	}
}

static void test_find_nothing(void **state)
{
	struct arguments_code code;

	(void)state;
	assert_int_equal(arguments_find_code(0, NULL, &code), -EINVAL);
}

/* In the table above, what carries code says CODE or more; nothing else may be marked. */
static void test_mark(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct expectation *e = &table[i];
		bool carries[MAX_ARGS];

		memset(carries, 0xff, sizeof(carries));
		arguments_mark_code(count(e->argv), e->argv, carries);
		for (size_t k = 0; k < count(e->argv); k++)
			assert_int_equal(carries[k], strstr(e->argv[k], "CODE") != NULL ||
							     strcmp(e->argv[k], "more") == 0);
	}
}

/*
 * Is the last word of "find", so many interpreters and a word, which no interpreter runs, marked as
 * code?
 */
static bool marks_last(size_t interpreters)
{
	size_t count = interpreters + 3;
	const char **argv = calloc(count, sizeof(*argv));
	bool *carries = calloc(count, sizeof(*carries)), last;

	argv[0] = "find";
	for (size_t i = 1; i <= interpreters; i++)
		argv[i] = "sh";
	argv[count - 2] = "file";
	argv[count - 1] = "data";
	arguments_mark_code(count, argv, carries);
	last = carries[count - 1];
	free(argv);
	free(carries);
	return last;
}

/*
 * The author of a command chooses how many interpreters it names. Only so many are examined, so
 * that the time is linear in the words; all words behind them count as code.
 */
static void test_mark_many(void **state)
{
	size_t most = 0;

	(void)state;
	while (most < 1000 && !marks_last(most))
		most++;
	assert_in_range(most, 5, 64);
	assert_true(marks_last(most + 1));
	assert_true(marks_last(40000));
}

static void test_mark_behind_unknown_programs(void **state)
{
	const char *const find[] = {"find", ".", "-exec", "sh", "-c", "secret", ";"};
	const char *const several[] = {"perl", "-e", "one", "-ne", "two", "data"};
	const char *const lines[] = {"ssh", "host", "import os\nos.system('x')"};
	bool carries[7];

	(void)state;
	arguments_mark_code(ARRAY_SIZE(find), find, carries);
	for (size_t i = 0; i < ARRAY_SIZE(find); i++)
		assert_int_equal(carries[i], i == 5);
	arguments_mark_code(ARRAY_SIZE(several), several, carries);
	for (size_t i = 0; i < ARRAY_SIZE(several); i++)
		assert_int_equal(carries[i], i == 2 || i == 4);
	arguments_mark_code(ARRAY_SIZE(lines), lines, carries);
	assert_false(carries[0]);
	assert_false(carries[1]);
	assert_true(carries[2]);
}

static void check_hash(size_t argc, const char *const *argv, const char *code)
{
	unsigned char digest[32], expected[32];
	uint64_t length;

	assert_int_equal(arguments_hash_code(argc, argv, digest, &length), 0);
	assert_int_equal(sha256_of(code, strlen(code), expected), 0);
	assert_memory_equal(digest, expected, sizeof(digest));
	assert_int_equal(length, strlen(code));
}

static void test_hash(void **state)
{
	const char *const joined[] = {"python3", "-Bcprint(1)", "x"};
	const char *const several[] = {"perl", "-e", "one", "-ne", "two", "data"};
	const char *const rest[] = {"pwsh", "-c", "Get-Item", "x"};
	const char *const file[] = {"python3", "a.py"};
	unsigned char digest[32];
	uint64_t length;

	(void)state;
	check_hash(ARRAY_SIZE(joined), joined, "print(1)");
	check_hash(ARRAY_SIZE(several), several, "one\ntwo");
	check_hash(ARRAY_SIZE(rest), rest, "Get-Item\nx");
	assert_int_equal(arguments_hash_code(ARRAY_SIZE(file), file, digest, &length), -ENODATA);
	assert_int_equal(arguments_hash_code(0, NULL, digest, &length), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_nothing),
		cmocka_unit_test(test_mark_many),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_mark_behind_unknown_programs),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
