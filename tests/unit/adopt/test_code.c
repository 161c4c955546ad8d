/* SPDX-License-Identifier: Apache-2.0 */
/* Which code a command is about to run, by its digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/sha256.h"
#include "adopt/code.h"
#include "bpf/pure/name_hash.h"

static char workdir[] = "/tmp/cordon-code-XXXXXX";
static int workdir_fd = -1;

static void write_file(const char *name, const char *text, mode_t mode)
{
	_cleanup_(closep) int fd =
		openat(workdir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

static struct code identify_from(int stdin_fd, const char *path, const char *const *argv)
{
	struct failure failure = {};
	struct code_question question = {
		.argv = (char *const *)argv,
		.path = path,
		.workdir = workdir,
		.workdir_fd = workdir_fd,
		.stdin_fd = stdin_fd,
	};
	struct code code;

	while (argv[question.argc])
		question.argc++;
	assert_int_equal(code_identify(&question, &code, &failure), 0);
	return code;
}

#define IDENTIFY(...) identify_from(-1, "/usr/bin:/bin", (const char *const[]){__VA_ARGS__, NULL})

static void assert_code(struct code *code, enum audit_code_source source, const char *text,
			const char *name, const char *language)
{
	unsigned char digest[SHA256_SIZE];
	char path[256];

	assert_int_equal(code->audit.source, source);
	assert_int_equal(code->audit.have_digest, text != NULL);
	if (text) {
		assert_int_equal(sha256_of(text, strlen(text), digest), 0);
		assert_memory_equal(code->audit.digest, digest, sizeof(digest));
		assert_int_equal(code->audit.length, strlen(text));
	}
	if (name) {
		snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : workdir,
			 name[0] == '/' ? "" : "/", name);
		assert_string_equal(code->audit.path, path);
	} else {
		assert_null(code->audit.path);
	}
	if (language)
		assert_string_equal(code->language, language);
	else
		assert_null(code->language);
	code_release(code);
}

static void test_file(void **state)
{
	struct code code;
	char absolute[256];

	(void)state;
	write_file("a.py", "print(1)\n", 0644);
	code = IDENTIFY("python3", "-u", "a.py", "x");
	assert_code(&code, AUDIT_CODE_FILE, "print(1)\n", "a.py", "python");
	snprintf(absolute, sizeof(absolute), "%s/a.py", workdir);
	code = IDENTIFY("python3", absolute);
	assert_code(&code, AUDIT_CODE_FILE, "print(1)\n", "a.py", "python");
	/* The object's own path, not the name it was reached by. */
	assert_int_equal(symlinkat("a.py", workdir_fd, "link.py"), 0);
	code = IDENTIFY("python3", "./link.py");
	assert_code(&code, AUDIT_CODE_FILE, "print(1)\n", "a.py", "python");
	code = IDENTIFY("python3", "missing.py");
	assert_code(&code, AUDIT_CODE_FILE, NULL, "missing.py", "python");
	write_file("empty.sh", "", 0644);
	code = IDENTIFY("bash", "empty.sh");
	assert_code(&code, AUDIT_CODE_FILE, "", "empty.sh", "shell");
}

static void assert_refused(int error, const char *name, const char *text)
{
	const char *argv[] = {"sh", name, NULL};
	struct code_question question = {
		.argc = 2,
		.argv = (char *const *)argv,
		.workdir = workdir,
		.workdir_fd = workdir_fd,
		.stdin_fd = -1,
	};
	struct failure failure = {};
	struct code code;

	assert_int_equal(code_identify(&question, &code, &failure), -error);
	assert_non_null(strstr(failure.text, text));
}

/*
 * What tells a file from another and from itself when changed, and the names that interpreters ask
 * by.
 */
static void test_identity(void **state)
{
	char absolute[256];
	struct code code;
	struct stat st;

	(void)state;
	write_file("b.py", "print(2)\n", 0644);
	code = IDENTIFY("python3", "./b.py");
	assert_int_equal(fstat(code.fd, &st), 0);
	assert_int_equal(code.audit.changed,
			 (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec);
	snprintf(absolute, sizeof(absolute), "%s/b.py", workdir);
	assert_int_equal(code.audit.names[0], name_hash("./b.py"));
	assert_int_equal(code.audit.names[1], name_hash(absolute));
	assert_int_equal(code.audit.names[2], name_hash(absolute));
	code_release(&code);
	assert_int_equal(code.fd, -1);
	assert_true(name_hash("b.py") != name_hash("a.py") &&
		    name_hash("12345678") != name_hash("1234567"));
	code = IDENTIFY("python3", "-c", "pass");
	assert_int_equal(code.fd, -1);
	code_release(&code);
}

/* Neither hangs nor reads without end, and nothing that is there has no digest. */
static void test_odd_files(void **state)
{
	struct code code;

	(void)state;
	assert_int_equal(mkfifoat(workdir_fd, "fifo", 0600), 0);
	assert_refused(EINVAL, "fifo", "not a regular file");
	assert_refused(EINVAL, "/dev/zero", "not a regular file");
	code = IDENTIFY("sh", "/dev/null");
	assert_code(&code, AUDIT_CODE_FILE, "", "/dev/null", "shell");
	write_file("leased", "true\n", 0700);
	{
		_cleanup_(closep) int fd = openat(workdir_fd, "leased", O_RDWR | O_CLOEXEC);

		(void)signal(SIGIO, SIG_IGN); /* that somebody wants to open it */
		assert_int_equal(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
		assert_refused(EAGAIN, "leased", "lease");
	}
	code = IDENTIFY("sh", "leased");
	assert_code(&code, AUDIT_CODE_FILE, "true\n", "leased", "shell");
	write_file("huge", "", 0600);
	{
		_cleanup_(closep) int fd = openat(workdir_fd, "huge", O_WRONLY | O_CLOEXEC);

		assert_int_equal(ftruncate(fd, (off_t)CODE_MAX_SIZE + 1), 0);
	}
	assert_refused(EFBIG, "huge", "1024 MB");
}

static void test_argument(void **state)
{
	struct code code = IDENTIFY("python3", "-c", "print(1)");

	(void)state;
	assert_code(&code, AUDIT_CODE_ARGUMENT, "print(1)", NULL, "python");
	code = IDENTIFY("env", "A=1", "bash", "-lc", "ls");
	assert_code(&code, AUDIT_CODE_ARGUMENT, "ls", NULL, "shell");
}

static void test_stdin(void **state)
{
	const char *argv[] = {"python3", "-", NULL};
	_cleanup_(closep) int file = openat(workdir_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	_cleanup_(closep) int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct code code;
	int fds[2];

	(void)state;
	assert_int_equal(io_write_all(file, "print(2)\n", 9), 0);
	lseek(file, 6, SEEK_SET);
	code = identify_from(file, NULL, argv);
	assert_false(code.stream);
	assert_code(&code, AUDIT_CODE_STDIN, "2)\n", NULL, "python");
	assert_int_equal(lseek(file, 0, SEEK_CUR), 6);

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	code = identify_from(fds[0], NULL, argv);
	assert_true(code.stream);
	assert_code(&code, AUDIT_CODE_STDIN, NULL, NULL, "python");
	close(fds[0]);
	close(fds[1]);

	code = identify_from(null, NULL, argv);
	assert_code(&code, AUDIT_CODE_STDIN, "", NULL, "python");
	code = identify_from(-1, NULL, argv);
	assert_code(&code, AUDIT_CODE_NONE, NULL, NULL, "python");
	/* The same by another name. */
	argv[1] = "/dev/stdin";
	code = identify_from(file, NULL, argv);
	assert_code(&code, AUDIT_CODE_STDIN, "2)\n", NULL, "python");
}

static void test_program(void **state)
{
	struct code code;

	(void)state;
	write_file("tool", "#!/usr/bin/env -S python3 -u\npass\n", 0755);
	code = IDENTIFY("./tool", "x");
	assert_code(&code, AUDIT_CODE_FILE, "#!/usr/bin/env -S python3 -u\npass\n", "tool",
		    "python");
	code = identify_from(-1, workdir, (const char *const[]){"tool", NULL});
	assert_code(&code, AUDIT_CODE_FILE, "#!/usr/bin/env -S python3 -u\npass\n", "tool",
		    "python");
	write_file("text", "echo hi\n", 0755);
	code = IDENTIFY("./text");
	assert_code(&code, AUDIT_CODE_FILE, "echo hi\n", "text", "shell");
	write_file("odd", "#!/opt/thing\n", 0755);
	code = IDENTIFY("./odd");
	assert_code(&code, AUDIT_CODE_FILE, "#!/opt/thing\n", "odd", NULL);
	/* What cannot be executed is not what will run. */
	code = IDENTIFY("./a.py");
	assert_code(&code, AUDIT_CODE_NONE, NULL, NULL, NULL);
	code = IDENTIFY("true");
	assert_code(&code, AUDIT_CODE_NONE, NULL, NULL, NULL);
	code = IDENTIFY("cordon-no-such-program");
	assert_code(&code, AUDIT_CODE_NONE, NULL, NULL, NULL);
	code = IDENTIFY("/");
	assert_code(&code, AUDIT_CODE_NONE, NULL, NULL, NULL);
}

static int make_workdir(void **state)
{
	(void)state;
	if (!mkdtemp(workdir))
		return -1;
	workdir_fd = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return workdir_fd < 0 ? -1 : 0;
}

static int remove_workdir(void **state)
{
	static const char *const names[] = {"a.py", "link.py", "empty.sh", "fifo", "huge",
					    "b.py", "leased",  "tool",	   "text", "odd"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(workdir_fd, names[i], 0);
	close(workdir_fd);
	return rmdir(workdir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),	  cmocka_unit_test(test_identity),
		cmocka_unit_test(test_odd_files), cmocka_unit_test(test_argument),
		cmocka_unit_test(test_stdin),	  cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, make_workdir, remove_workdir);
}
