/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher by itself: no daemon, no label. What the child looks like is told by the child: by a
 * shell script that prints it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "daemon/host/process.h"
#include "launch/launch.h"

static char workdir[] = "/tmp/cordon-launch-XXXXXX";
static char *plain_environment[] = {(char *)"PATH=/usr/bin:/bin", NULL};

struct setting {
	struct launch launch;
	struct launch_identity identity;
	struct policy_limits limits;
	struct launched child;
	struct failure failure;
	int output; /* read end of the child's standard output */
};

static int needs_root(void **state)
{
	struct setting *s;

	if (geteuid() != 0) {
		print_error("these tests drop privileges, which takes root\n");
		return -1;
	}
	s = calloc(1, sizeof(*s));
	assert_non_null(s);
	s->launch = (struct launch){
		.environment = plain_environment,
		.workdir_fd = open(workdir, O_PATH | O_CLOEXEC),
		.cgroup_fd = -1,
		.streams = {-1, -1, -1},
		.filter_fd = -1,
		.identity = &s->identity,
		.limits = &s->limits,
	};
	assert_true(s->launch.workdir_fd >= 0);
	s->output = -1;
	*state = s;
	return 0;
}

static int release(void **state)
{
	struct setting *s = *state;

	closep(&s->launch.workdir_fd);
	closep(&s->launch.streams[0]);
	closep(&s->output);
	free(s);
	return 0;
}

/* Starts with standard output in a pipe. */
static int start(struct setting *s, char *const *argv)
{
	int fds[2], saved, r;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	assert_int_equal(dup2(fds[1], STDOUT_FILENO), STDOUT_FILENO);
	close(fds[1]);
	s->output = fds[0];
	s->launch.argv = argv;
	r = launch_start(&s->launch, &s->child, &s->failure);
	assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	close(saved);
	return r;
}

static int end(struct setting *s)
{
	int status;

	assert_int_equal(waitpid(s->child.pid, &status, 0), s->child.pid);
	close(s->child.pidfd);
	return status;
}

static void run(struct setting *s, char *const *argv, char **ret_output)
{
	size_t size;

	assert_int_equal(start(s, argv), 0);
	assert_int_equal(launch_go(&s->child, &s->failure), 0);
	assert_int_equal(io_read_all(s->output, 1 << 20, ret_output, &size), 0);
	assert_int_equal(end(s), 0);
}

static void shell(struct setting *s, const char *script, char **ret_output)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};

	run(s, argv, ret_output);
}

#define STATUS(fields) "grep -E '^(" fields "):' /proc/self/status | tr -d '\\t'"

static void test_environment_and_workdir(void **state)
{
	struct setting *s = *state;
	char *environment[] = {(char *)"PATH=/usr/bin:/bin", (char *)"A=b c", NULL};
	char *argv[] = {(char *)"env", NULL}, *pwd[] = {(char *)"pwd", NULL};
	char *output, expected[128];

	setenv("CORDON_TEST_SECRET", "1", 1);
	s->launch.environment = environment;
	run(s, argv, &output);
	assert_string_equal(output, "PATH=/usr/bin:/bin\nA=b c\n");
	free(output);
	closep(&s->output);
	run(s, pwd, &output);
	snprintf(expected, sizeof(expected), "%s\n", workdir);
	assert_string_equal(output, expected);
	free(output);
}

static void test_privileges(void **state)
{
	struct setting *s = *state;
	char *output;

	shell(s, STATUS("Cap...|NoNewPrivs"), &output);
	assert_string_equal(output, "CapInh:0000000000000000\nCapPrm:0000000000000000\n"
				    "CapEff:0000000000000000\nCapBnd:0000000000000000\n"
				    "CapAmb:0000000000000000\nNoNewPrivs:1\n");
	free(output);
}

static void test_ceiling(void **state)
{
	struct setting *s = *state;
	char *output;

	s->launch.capabilities = 1 << 0 | 1 << 1; /* CAP_CHOWN, CAP_DAC_OVERRIDE */
	shell(s, STATUS("Cap..."), &output);
	assert_string_equal(output, "CapInh:0000000000000000\nCapPrm:0000000000000003\n"
				    "CapEff:0000000000000003\nCapBnd:0000000000000003\n"
				    "CapAmb:0000000000000000\n");
	free(output);
}

static void test_user(void **state)
{
	struct setting *s = *state;
	gid_t groups[] = {65534, 12345};
	char *output;

	s->identity = (struct launch_identity){
		.change = true, .uid = 54321, .gid = 65534, .groups = groups, .group_count = 2};
	s->launch.capabilities = 3; /* holds for uid 0 only */
	assert_int_equal(fchmodat(AT_FDCWD, workdir, 0755, 0), 0);
	shell(s, STATUS("Uid|Gid|Groups|CapPrm|CapBnd"), &output);
	assert_string_equal(output, "Uid:54321543215432154321\nGid:65534655346553465534\n"
				    "Groups:12345 65534 \nCapPrm:0000000000000000\n"
				    "CapBnd:0000000000000000\n");
	free(output);
}

static void test_user_may_not_enter(void **state)
{
	struct setting *s = *state;
	gid_t group = 54321;
	char *argv[] = {(char *)"true", NULL};

	s->identity = (struct launch_identity){
		.change = true, .uid = 54321, .gid = 54321, .groups = &group, .group_count = 1};
	assert_int_equal(chmod(workdir, 0700), 0);
	assert_int_equal(start(s, argv), -EACCES);
	assert_int_equal(chmod(workdir, 0755), 0);
	assert_non_null(strstr(s->failure.text, "user 54321 may not enter the work directory"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* Many open descriptors, none of which but the standard ones arrives. */
static void test_descriptors(void **state)
{
	struct setting *s = *state;
	int fds[20];
	char *output;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = open("/dev/null", O_RDONLY); /* on purpose not close-on-exec */
	assert_int_equal(dup2(fds[0], 200), 200);
	/* The glob makes ls's own descriptor for the directory the only other one. */
	shell(s,
	      "exec python3 -c 'import os; print(sorted(map(int, os.listdir(\"/proc/self/fd\"))))'",
	      &output);
	assert_string_equal(output, "[0, 1, 2, 3]\n"); /* 3: the listing itself */
	free(output);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	close(200);
}

static void test_stdin(void **state)
{
	struct setting *s = *state;
	char *argv[] = {(char *)"cat", NULL}, *output;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	close(fds[1]);
	s->launch.streams[0] = fds[0];
	run(s, argv, &output);
	assert_string_equal(output, "abc");
	free(output);
}

static void test_limits(void **state)
{
	struct setting *s = *state;
	char *output;

	s->limits = (struct policy_limits){
		.cpu_time_nsec = 1500000000,
		.address_space_bytes = 1ull << 30,
		.file_size_bytes = 1 << 20,
		.open_files = 64,
	};
	shell(s,
	      "ulimit -St; ulimit -Ht; ulimit -Hv; ulimit -Hn; ulimit -Sn; ulimit -Hc; "
	      "grep 'Max file size' /proc/self/limits | tr -s ' '",
	      &output);
	assert_string_equal(output,
			    "2\n3\n1048576\n64\n64\n0\nMax file size 1048576 1048576 bytes \n");
	free(output);
}

/* Of what is counted by user, half is left to those outside. */
static void test_limits_by_user(void **state)
{
	struct setting *s = *state;
	struct rlimit low = {.rlim_cur = 100, .rlim_max = 100};
	char *output;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_SIGPENDING, &low);
		shell(s, "grep 'Max pending' /proc/self/limits | tr -s ' '", &output);
		_exit(strcmp(output, "Max pending signals 50 50 signals \n") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A limit never raises what was lower before. */
static void test_limits_only_lower(void **state)
{
	struct setting *s = *state;
	struct rlimit before, low = {.rlim_cur = 40, .rlim_max = 40};
	char *output;
	pid_t pid;
	int status;

	s->limits.open_files = 1000;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_NOFILE, &low);
		shell(s, "ulimit -Hn", &output);
		_exit(strcmp(output, "40\n") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/*
 * The C library keeps two signals (32, 33) for itself and lets nobody change them; posix_spawn(3)
 * starts programs with both ignored.
 */
static unsigned long long libc_ignored(void)
{
	_cleanup_(freep) char *text = NULL;
	unsigned long long ignored;
	const char *line;
	size_t size;

	assert_int_equal(io_read_file(AT_FDCWD, "/proc/self/status", 65536, &text, &size), 0);
	line = strstr(text, "\nSigIgn:");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "\nSigIgn: %llx", &ignored), 1);
	return ignored & 3ull << 31;
}

static void test_signals(void **state)
{
	struct setting *s = *state;
	struct signal_state signals;
	sigset_t block, before;
	char *output, expected[64];

	/* As nohup has it: SIGHUP ignored; SIGUSR2 blocked by whoever started us. */
	signal_state_read(&signals);
	sigaddset(&signals.ignored, SIGHUP);
	sigaddset(&signals.mask, SIGUSR2);
	s->launch.signals = &signals;
	/* What the launcher has done for itself does not reach the child. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &before);
	shell(s, "exec " STATUS("Sig(Blk|Ign)"), &output);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGPIPE, SIG_DFL);
	snprintf(expected, sizeof(expected), "SigBlk:0000000000000800\nSigIgn:%016llx\n",
		 libc_ignored() | 1ull << (SIGHUP - 1));
	assert_string_equal(output, expected);
	free(output);
}

static void expect_exec_failure(struct setting *s, const char *program, int error)
{
	char *argv[] = {(char *)program, NULL};

	assert_int_equal(start(s, argv), 0);
	assert_int_equal(launch_go(&s->child, &s->failure), error);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	closep(&s->output);
}

static void test_exec_fails(void **state)
{
	struct setting *s = *state;

	expect_exec_failure(s, "cordon-no-such-program", -ENOENT);
	expect_exec_failure(s, "./nothing", -ENOENT);
	expect_exec_failure(s, "/etc/passwd", -EACCES);
	expect_exec_failure(s, "/", -EACCES);
}

/* As execvp(3) and env(1): /bin/sh runs it. */
static void test_script_without_interpreter(void **state)
{
	struct setting *s = *state;
	char *argv[] = {(char *)"./plain", (char *)"x", NULL}, *output;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/plain", workdir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_int_equal(write(fd, "echo plain $1\n", 14), 14);
	close(fd);
	run(s, argv, &output);
	assert_string_equal(output, "plain x\n");
	free(output);
}

static void make_file(const char *name, const char *text, mode_t mode)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", workdir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void make_directory(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", workdir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/*
 * One that may not be executed is passed over for the next in PATH, and remembered where none is.
 */
static void test_path_search(void **state)
{
	struct setting *s = *state;
	char path[128], *environment[] = {path, NULL};
	char *argv[] = {(char *)"tool", NULL}, *output;

	make_directory("first");
	make_directory("second");
	make_directory("second/folder");
	make_file("first/tool", "#!/bin/sh\necho first\n", 0644);
	make_file("second/tool", "#!/bin/sh\necho second\n", 0755);
	s->launch.environment = environment;
	snprintf(path, sizeof(path), "PATH=/nowhere:%s/first:%s/second", workdir, workdir);
	run(s, argv, &output);
	assert_string_equal(output, "second\n");
	free(output);
	closep(&s->output);
	expect_exec_failure(s, "folder", -EACCES);
	expect_exec_failure(s, "absent", -ENOENT);
	snprintf(path, sizeof(path), "PATH=%s/first:/nowhere", workdir);
	expect_exec_failure(s, "tool", -EACCES);
}

static bool is_alive(pid_t pid)
{
	return kill(pid, 0) == 0;
}

/* Waits until the process is in that state of /proc/PID/stat. */
static void wait_for_state(pid_t pid, char wanted)
{
	struct process_status status;

	do {
		usleep(1000);
		assert_int_equal(process_status(pid, &status), 0);
	} while (status.state != wanted);
}

static void test_nothing_runs_before_go(void **state)
{
	struct setting *s = *state;
	char *argv[] = {(char *)"touch", (char *)"marker", NULL};
	char path[128];

	snprintf(path, sizeof(path), "%s/marker", workdir);
	assert_int_equal(start(s, argv), 0);
	/* Held, it sleeps until it is let go. */
	wait_for_state(s->child.pid, 'S');
	assert_int_equal(access(path, F_OK), -1);
	launch_abort(&s->child);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(s->child.pidfd, -1);
}

static void test_killed_while_held(void **state)
{
	struct setting *s = *state;
	char *argv[] = {(char *)"true", NULL};

	assert_int_equal(start(s, argv), 0);
	kill(s->child.pid, SIGKILL);
	wait_for_state(s->child.pid, 'Z');
	assert_int_equal(launch_go(&s->child, &s->failure), -ECHILD);
	assert_non_null(strstr(s->failure.text, "signal 9"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* While it is held, one of its own uid may not look into it. */
static void test_held_child_is_closed(void **state)
{
	struct setting *s = *state;
	gid_t group = 54321;
	char *argv[] = {(char *)"true", NULL};
	char path[64];
	struct stat st;

	s->identity = (struct launch_identity){
		.change = true, .uid = 54321, .gid = 54321, .groups = &group, .group_count = 1};
	assert_int_equal(start(s, argv), 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", s->child.pid);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 0); /* root's, not 54321's: not dumpable */
	launch_abort(&s->child);
}

/* The parent of a held or a running child is killed: the child dies with it. */
static void parent_dies(struct setting *s, bool go)
{
	char *argv[] = {(char *)"sleep", (char *)"100", NULL};
	pid_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t parent;

	assert_ptr_not_equal(shared, MAP_FAILED);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		if (start(s, argv) < 0 || (go && launch_go(&s->child, &s->failure) < 0))
			_exit(1);
		*shared = s->child.pid;
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_true(WIFSIGNALED(status));
	assert_true(*shared > 0);
	assert_int_equal(waitpid(*shared, &status, 0), *shared);
	assert_false(is_alive(*shared));
	munmap(shared, 4096);
}

static void test_parent_dies_while_held(void **state)
{
	parent_dies(*state, false);
}

static void test_parent_dies_while_running(void **state)
{
	struct setting *s = *state;
	gid_t group = 54321;

	/* With a change of identity, which takes back what binds the two. */
	s->identity = (struct launch_identity){
		.change = true, .uid = 54321, .gid = 54321, .groups = &group, .group_count = 1};
	parent_dies(s, true);
}

static void test_not_a_cgroup(void **state)
{
	struct setting *s = *state;
	char *argv[] = {(char *)"true", NULL};

	s->launch.cgroup_fd = s->launch.workdir_fd;
	assert_true(start(s, argv) < 0);
	assert_non_null(strstr(s->failure.text, "cgroup"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int make_workdir(void **state)
{
	(void)state;
	return mkdtemp(workdir) && chmod(workdir, 0755) == 0 ? 0 : -1;
}

static int remove_workdir(void **state)
{
	static const char *const names[] = {"plain",	   "marker",	    "first/tool", "first",
					    "second/tool", "second/folder", "second"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", workdir, names[i]);
		remove(path);
	}
	return rmdir(workdir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, needs_root, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_environment_and_workdir),
		TEST(test_privileges),
		TEST(test_ceiling),
		TEST(test_user),
		TEST(test_user_may_not_enter),
		TEST(test_descriptors),
		TEST(test_stdin),
		TEST(test_limits),
		TEST(test_limits_only_lower),
		TEST(test_limits_by_user),
		TEST(test_signals),
		TEST(test_exec_fails),
		TEST(test_path_search),
		TEST(test_script_without_interpreter),
		TEST(test_nothing_runs_before_go),
		TEST(test_killed_while_held),
		TEST(test_held_child_is_closed),
		TEST(test_parent_dies_while_held),
		TEST(test_parent_dies_while_running),
		TEST(test_not_a_cgroup),
	};

	return cmocka_run_group_tests(tests, make_workdir, remove_workdir);
}
