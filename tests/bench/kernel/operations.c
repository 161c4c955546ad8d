/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What single operations cost where this program runs, a line for each: name, median, smallest,
 * largest.
 *
 *   operations [--landlock RULES] [--seccomp FILE] [--foreign SOCKET] [NAME...]
 *   operations --serve SOCKET     listens there for the one above, from outside
 *   operations --wait             only is there, until its input ends
 *   operations --used COMMAND...  runs it, and writes the microseconds of CPU time that it and all
 *   its children used
 *   operations --each N COMMAND...  the same, N times one after the other, for one of them
 *
 * Runs in a directory that it may write to, with files made ready by tests/bench/kernel/measure.
 * NAME: only operations that begin with it.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sandbox.h"
#include "sockets.h"

static const char *self;
static char path[4096];

/* --- files --------------------------------------------------------------------------------------- */

/* /bench-file, /bench/f, /bench/w/f, /bench/w/d/f, ... */
static void path_of_depth(int depth)
{
	strcpy(path, depth == 1 ? "/bench-file" : depth == 2 ? "/bench/f" : "/bench/w");
	for (int i = 3; i < depth; i++)
		strcat(path, "/d");
	if (depth > 2)
		strcat(path, "/f");
}

static void open_and_close(const char *name)
{
	close((int)must(open(name, O_RDONLY | O_CLOEXEC), name));
}

PLAIN_BATCH(opens, open_and_close(path))

#define OPENS(depth)                                                                               \
	static long open_##depth(int count)                                                        \
	{                                                                                          \
		path_of_depth(depth);                                                              \
		return opens(count);                                                               \
	}
OPENS(1)
OPENS(2)
OPENS(3)
OPENS(5)
OPENS(8)
OPENS(12)
OPENS(16)
OPENS(20)

/* As many directories, used in turn, that none is remembered when its turn comes again. */
#define PLACES 64

static long open_in_turn(int directories, int count)
{
	long start;
	static char places[PLACES][64];

	for (int i = 0; i < PLACES; i++)
		snprintf(places[i], sizeof(places[i]), "/bench/w/d/p%d/f", i);
	start = now();
	for (int i = 0; i < count; i++)
		open_and_close(places[i % directories]);
	return now() - start;
}

static long open_in_4(int count)
{
	return open_in_turn(4, count);
}

static long open_in_8(int count)
{
	return open_in_turn(8, count);
}

static long open_new(int count)
{
	return open_in_turn(PLACES, count);
}

static void rename_there_and_back(void)
{
	must(rename("f", "g"), "rename");
	must(rename("g", "f"), "rename");
}

/* The renames are not counted: only what they make the open cost, in another directory. */
static long open_after_rename(int count)
{
	long elapsed = 0, start;

	path_of_depth(5);
	for (int i = 0; i < count; i++) {
		rename_there_and_back();
		start = now();
		open_and_close(path);
		elapsed += now() - start;
	}
	return elapsed;
}

static void create_and_unlink(void)
{
	close((int)must(open("new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "create"));
	must(unlink("new"), "unlink");
}

static void across_and_back(void)
{
	must(rename("f", "d/g"), "rename");
	must(rename("d/g", "f"), "rename");
}

static void make_directory(void)
{
	must(mkdir("made", 0700), "mkdir");
	must(rmdir("made"), "rmdir");
}

/* The same for a directory that is removed elsewhere. */
static long open_after_rmdir(int count)
{
	long elapsed = 0, start;

	path_of_depth(5);
	for (int i = 0; i < count; i++) {
		make_directory();
		start = now();
		open_and_close(path);
		elapsed += now() - start;
	}
	return elapsed;
}

static struct stat status;

static int opened(void)
{
	static int fd;

	if (!fd)
		fd = (int)must(open("f", O_RDWR | O_CLOEXEC), "f");
	return fd;
}

PLAIN_BATCH(creates, create_and_unlink())
PLAIN_BATCH(renames, rename_there_and_back())
PLAIN_BATCH(moves, across_and_back())
PLAIN_BATCH(mkdirs, make_directory())
PLAIN_BATCH(stats, must(stat("/bench/w/d/d/f", &status), "stat"))
PLAIN_BATCH(fstats, must(fstat(opened(), &status), "fstat"))
PLAIN_BATCH(reads, must(pread(opened(), &byte, 1, 0), "pread"))
PLAIN_BATCH(writes, must(pwrite(opened(), &byte, 1, 0), "pwrite"))
PLAIN_BATCH(accesses, must(access("/bench/w/d/d/f", R_OK), "access"))
PLAIN_BATCH(chmods, must(chmod("f", 0666), "chmod"))
PLAIN_BATCH(calls, syscall(SYS_getppid))

/* --- processes ----------------------------------------------------------------------------------- */

static void finish(pid_t child)
{
	int result;

	must(waitpid(child, &result, 0), "waitpid");
	if (result) {
		errno = ECHILD;
		fail("child");
	}
}

static void fork_and_wait(void)
{
	pid_t child = (pid_t)must(fork(), "fork");

	if (!child)
		_exit(0);
	finish(child);
}

static void spawn_and_wait(void)
{
	char *arguments[] = {(char *)self, (char *)"--nothing", NULL}, *none[] = {NULL};
	pid_t child;

	errno = posix_spawn(&child, self, NULL, NULL, arguments, none);
	if (errno)
		fail("posix_spawn");
	finish(child);
}

static void *nothing(void *argument)
{
	return argument;
}

static void start_and_join(void)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, nothing, NULL);
	if (errno)
		fail("pthread_create");
	pthread_join(thread, NULL);
}

/*
 * The CPU time of this process and its children: on one processor, what records cost their reader
 * would be measured with them otherwise.
 */
static long cpu_time(void)
{
	struct rusage own, children;

	must(getrusage(RUSAGE_SELF, &own), "getrusage");
	must(getrusage(RUSAGE_CHILDREN, &children), "getrusage");
	return 1000000000 * (own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
			     children.ru_stime.tv_sec) +
	       1000 * (own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
		       children.ru_stime.tv_usec);
}

#define CPU_BATCH(name, body)                                                                      \
	static long name(int count)                                                                \
	{                                                                                          \
		long start = cpu_time();                                                           \
                                                                                                   \
		for (int i = 0; i < count; i++)                                                    \
			body;                                                                      \
		return cpu_time() - start;                                                         \
	}
CPU_BATCH(forks, fork_and_wait())
CPU_BATCH(spawns, spawn_and_wait())
CPU_BATCH(threads, start_and_join())
PLAIN_BATCH(signals, must(kill(getpid(), 0), "kill"))

/* --- memory -------------------------------------------------------------------------------------- */

static int program_fd;

static void map_program(int protection)
{
	void *memory = mmap(NULL, 4096, protection, MAP_PRIVATE, program_fd, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	munmap(memory, 4096);
}

static long mappings(int count, int protection)
{
	long start;

	if (!program_fd)
		program_fd = (int)must(open(self, O_RDONLY | O_CLOEXEC), self);
	start = now();
	for (int i = 0; i < count; i++)
		map_program(protection);
	return now() - start;
}

static long map_exec(int count)
{
	return mappings(count, PROT_READ | PROT_EXEC);
}

static long map_read(int count)
{
	return mappings(count, PROT_READ);
}

/* --- the list ------------------------------------------------------------------------------------ */

static const struct operation {
	const char *name;
	batch_function batch;
	int count;
} operations[] = {
	{"system call (getppid)", calls, 400},
	{"open+close, 1 component", open_1, 50},
	{"open+close, 2 components", open_2, 50},
	{"open+close, 3 components", open_3, 50},
	{"open+close, 5 components", open_5, 50},
	{"open+close, 8 components", open_8, 50},
	{"open+close, 12 components", open_12, 50},
	{"open+close, 16 components", open_16, 50},
	{"open+close, 20 components", open_20, 50},
	{"open+close, directory not remembered", open_new, 64},
	{"open+close, after a file's rename", open_after_rename, 50},
	{"open+close, after a rmdir elsewhere", open_after_rmdir, 50},
	{"open+close, in turn in 4 directories", open_in_4, 48},
	{"open+close, in turn in 8 directories", open_in_8, 48},
	{"stat", stats, 100},
	{"access", accesses, 100},
	{"pread of 1 byte", reads, 100},
	{"pwrite of 1 byte", writes, 100},
	{"fstat", fstats, 100},
	{"create+unlink", creates, 25},
	{"rename and back", renames, 25},
	{"move to another directory and back", moves, 25},
	{"mkdir+rmdir", mkdirs, 25},
	{"chmod", chmods, 50},
	{"fork+exit+wait", forks, 10},
	{"spawn+exec+exit+wait", spawns, 10},
	{"thread start+join", threads, 20},
	{"kill (itself, 0)", signals, 100},
	{"mmap+munmap, to read", map_read, 50},
	{"mmap+munmap, to execute", map_exec, 50},
	{"socket+close, TCP", tcp_sockets, 50},
	{"socket+close, UDP", udp_sockets, 50},
	{"socket+close, unix", unix_sockets, 50},
	{"connect, TCP", tcp_connects, 10},
	{"connect, TCP, to another's", tcp_foreign, 10},
	{"connect, UDP", udp_connects, 25},
	{"connect, unix, to its own", unix_own, 25},
	{"connect, unix, to another's", unix_foreign, 25},
	{"UDP send+receive, to an address", udp_sends, 25},
	{"UDP send+receive, connected", udp_connected, 25},
	{"unix datagram send+receive", unix_sends, 50},
	{"TCP write+read", tcp_transfers, 25},
	{"unix write+read", unix_transfers, 50},
	{"pipe write+read", pipe_transfers, 100},
};

/* In a process of its own: one that fails does not take the others with it. */
static int measure_apart(const struct operation *o)
{
	pid_t child = (pid_t)must(fork(), "fork");
	int result;

	if (!child) {
		measure(o->name, o->batch, o->count);
		_exit(0);
	}
	must(waitpid(child, &result, 0), "waitpid");
	if (result)
		fprintf(stderr, "operations: %s: status %#x\n", o->name, (unsigned int)result);
	return result != 0;
}

static bool chosen(const char *name, char **wanted)
{
	if (!*wanted)
		return true;
	for (; *wanted; wanted++)
		if (strncmp(name, *wanted, strlen(*wanted)) == 0)
			return true;
	return false;
}

/* The sum of `times` runs, divided by them. */
static int report_use(int times, char **command)
{
	struct rusage used;
	int result = 0;

	for (int i = 0; i < times && !result; i++) {
		pid_t child = (pid_t)must(fork(), "fork");

		if (!child) {
			must(dup2(STDERR_FILENO, STDOUT_FILENO), "dup2");
			execvp(command[0], command);
			_exit(127);
		}
		must(waitpid(child, &result, 0), "waitpid");
	}
	must(getrusage(RUSAGE_CHILDREN, &used), "getrusage");
	printf("%ld\n", ((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
			 used.ru_utime.tv_usec + used.ru_stime.tv_usec) /
				times);
	return WIFEXITED(result) ? WEXITSTATUS(result) : 1;
}

int main(int count, char **arguments)
{
	static const int ports[] = {PORT_TCP, PORT_UDP, PORT_FOREIGN, 0};
	int failed = 0;

	self = arguments[0];
	if (count == 2 && strcmp(arguments[1], "--nothing") == 0)
		return 0;
	if (count > 2 && strcmp(arguments[1], "--used") == 0)
		return report_use(1, arguments + 2);
	if (count > 3 && strcmp(arguments[1], "--each") == 0 && atoi(arguments[2]) > 0)
		return report_use(atoi(arguments[2]), arguments + 3);
	if (count == 2 && strcmp(arguments[1], "--wait") == 0)
		return read(0, &byte, 1) < 0;
	if (count == 3 && strcmp(arguments[1], "--serve") == 0)
		serve(arguments[2]);
	for (arguments++; *arguments && strncmp(*arguments, "--", 2) == 0; arguments += 2) {
		if (!arguments[1])
			return 2;
		if (strcmp(*arguments, "--landlock") == 0)
			enter_landlock("/bench", "/srv/bench", atoi(arguments[1]), ports);
		else if (strcmp(*arguments, "--seccomp") == 0)
			enter_seccomp(arguments[1]);
		else if (strcmp(*arguments, "--foreign") == 0)
			foreign = arguments[1];
		else
			return 2;
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const struct operation *o = &operations[i];

		if (chosen(o->name, arguments) &&
		    (foreign || (o->batch != unix_foreign && o->batch != tcp_foreign)))
			failed |= measure_apart(o);
	}
	return failed;
}
