/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is about to run, and the names of its variables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt/process_code.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "tests/unit/adopt/stopped_process.h"

static void claimed(void **state)
{
	static const char name[] =
		"/w/tmp_code_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff.py";
	unsigned char digest[32];

	(void)state;
	assert_true(process_code_claimed(name, digest));
	assert_int_equal(digest[1], 0x11);
	assert_true(process_code_claimed(name + 3, digest));
	assert_false(process_code_claimed("/w/tmp_code_0011.py", digest));
	assert_false(process_code_claimed("/w/code.py", digest));
	/* MD5, as AutoGen 0.2 has it: no SHA-256 digest. */
	assert_false(process_code_claimed("tmp_code_00112233445566778899aabbccddeeff.py", digest));
}

static void script(void **state)
{
	static const char text[] = "kill -STOP $$\n";
	char directory[] = "/tmp/test_process_XXXXXX", path[128], said[128];
	unsigned char digest[32];
	struct process_code code;
	struct sha256 *hash = sha256_new();
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(sha256_update(hash, text, sizeof(text) - 1), 0);
	assert_int_equal(sha256_finish(hash, digest), 0);
	sha256_free(hash);
	hex_encode(digest, 32, said);
	for (int honest = 0; honest < 2; honest++) {
		char *argv[] = {(char[]){"/bin/sh"}, path, NULL};
		pid_t pid;

		if (!honest)
			said[0] = said[0] == '0' ? '1' : '0';
		else
			hex_encode(digest, 32, said);
		snprintf(path, sizeof(path), "%s/tmp_code_%s.sh", directory, said);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
		close(fd);
		pid = stopped_process_start(directory, argv, (char *[]){NULL});
		assert_int_equal(process_code_read(pid, true, &code, NULL), 0);
		stopped_process_end(pid);
		unlink(path);
		assert_string_equal(code.program, "/bin/sh");
		assert_int_equal(code.argument_count, 2);
		assert_int_equal(code.code.source, AUDIT_CODE_FILE);
		assert_string_equal(code.language, "shell");
		assert_memory_equal(code.code.digest, digest, 32);
		assert_int_equal(code.contradicted, !honest);
		assert_string_equal(code.arguments[1], path);
		assert_int_equal(code.uid, geteuid());
		free(code.program);
		free(code.arguments[0]);
		free(code.arguments[1]);
		free(code.arguments);
		free(code.code.path);
	}
	rmdir(directory);
}

static void environment(void **state)
{
	char *keep[] = {(char[]){"PATH"}, (char[]){"LC_*"}, NULL}, *none[] = {NULL};
	const struct policy_environment policy = {
		.keep = keep, .set_names = none, .set_values = none};
	char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"kill -STOP $$"}, NULL};
	char *variables[] = {(char[]){"SECRET=1"}, (char[]){"PATH=/bin"}, (char[]){"EMPTY="},
			     (char[]){"LC_X=y"},   (char[]){"PATHS=2"},	  NULL};
	char **removed = NULL, **kept = NULL;
	struct failure failure = {};
	pid_t pid = stopped_process_start("/", argv, variables);

	(void)state;
	if (process_environment_clean(pid, &policy, &removed, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_int_equal(process_environment_note(pid, &kept, &failure), 0);
	stopped_process_end(pid);
	assert_string_equal(removed[0], "SECRET");
	assert_string_equal(removed[1], "EMPTY");
	assert_string_equal(removed[2], "PATHS");
	assert_null(removed[3]);
	assert_string_equal(kept[0], "PATH");
	assert_string_equal(kept[1], "LC_X");
	assert_null(kept[2]);
	for (size_t i = 0; removed[i]; i++)
		free(removed[i]);
	for (size_t i = 0; kept[i]; i++)
		free(kept[i]);
	free(removed);
	free(kept);
}

static void gone(void **state)
{
	struct process_code code;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(process_code_read(pid, false, &code, NULL), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claimed),
		cmocka_unit_test(script),
		cmocka_unit_test(environment),
		cmocka_unit_test(gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
