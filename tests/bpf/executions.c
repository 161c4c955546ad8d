/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that verdicts depend on the execution's current state:
 *
 *    executions [--keep]
 *
 * A bound directory is identified completely: another directory with its address or its inode
 * number grants nothing. Cached states of the directory above it do not apply to it. Grants of one
 * policy do not apply under another. An execution that is being killed can neither fork nor exec,
 * even in observe mode. A task belongs to one execution. Denials of two executions within one
 * second are reported for both. --keep leaves the enforcement loaded. Needs root, and a kernel that
 * can enforce.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "kernel/enforcement.h"
#include "kernel/handle.h"
#include "policy/compile/compile.h"

#define GRANTING                                                                                   \
	"files:\n"                                                                                 \
	"  - {allow: [read], paths: ['${workdir}/**']}\n"                                          \
	"exec:\n"                                                                                  \
	"  - {allow: [run, map], paths: ['/**']}\n"                                                \
	"network:\n"                                                                               \
	"  - {allow: [socket], families: [inet], types: [dgram], protocols: [udp]}\n"

#define PORT 7209

static const char granting[] = "version: 1\nname: granting\n" GRANTING;
/* Besides, allows sending to the test's socket. */
static const char talking[] =
	"version: 1\nname: talking\n" GRANTING
	"  - {allow: [connect], to: [127.0.0.1], ports: [7209], protocols: [udp]}\n";
/* Grants nothing of that. */
static const char other[] = "version: 1\nname: other\n"
			    "files:\n"
			    "  - {allow: [write], paths: ['${workdir}/**']}\n";
/*
 * Grants everything around the bound directory, but not the directory. Grants writing below other
 * directories, but not the directories themselves.
 */
static const char around[] = "version: 1\nname: around\n"
			     "files:\n"
			     "  - {allow: [read, delete], paths: ['/tmp/**', '/proc/**']}\n"
			     "  - {allow: [write], paths: ['/tmp/*/**']}\n"
			     "  - {deny: [read, delete], paths: ['${workdir}{,/**}']}\n";
static const char observing[] = "version: 1\nname: observing\nmode: observe\n" GRANTING;

struct test {
	struct enforcement *enforcement;
	char top[64], beside[80], directory[80], inside[96], below[96], file[112];
	uint64_t granting, talking, other, around, observing;
	unsigned int passed, failed;
};

/* A task that performs accesses on request, and reports the results. */
struct task {
	pid_t pid;
	uint32_t slot;
	int tell, said;
};

static void __attribute__((noreturn)) give_up(const char *what, int error)
{
	printf("not ok - %s: %s\n# executions: 0 passed, 1 failed\n", what, strerror(abs(error)));
	exit(1);
}

static int closed(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int udp_socket(int (*use)(int, const struct sockaddr *, socklen_t))
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons(PORT),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP), error;

	if (fd >= 0 && use(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Sends by the socket that was connected at the first call. */
static int try_send(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = udp_socket(connect);
	return fd < 0 || send(fd, "x", 1, 0) < 0 ? errno : 0;
}

static int try_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	return waitpid(pid, NULL, 0) == pid ? 0 : errno;
}

static int try_exec(void)
{
	static char name[] = "/bin/true", *arguments[] = {name, NULL};

	execv(name, arguments);
	return errno;
}

static void __attribute__((noreturn)) obey(const struct test *t, int told, int say)
{
	char what;

	while (read(told, &what, 1) == 1) {
		unsigned char error = EINVAL;

		if (what == 'o')
			error = (unsigned char)closed(open(t->file, O_RDONLY | O_CLOEXEC));
		else if (what == 'i')
			error = (unsigned char)closed(open(t->inside, O_RDONLY | O_CLOEXEC));
		else if (what == 'b')
			error = (unsigned char)closed(open(t->beside, O_RDONLY | O_CLOEXEC));
		else if (what == 'd')
			error = (unsigned char)(rmdir(t->directory) < 0 ? errno : 0);
		else if (what == 'c')
			error = (unsigned char)(chmod(t->beside, 0600) < 0 ? errno : 0);
		else if (what == 'r')
			error = (unsigned char)(chmod(t->top, 0700) < 0 ? errno : 0);
		else if (what == 'p')
			error = (unsigned char)closed(
				open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		else if (what == '1')
			error = (unsigned char)closed(open("/proc/1/status", O_RDONLY | O_CLOEXEC));
		else if (what == 's')
			error = (unsigned char)closed(
				socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
		else if (what == 'u')
			error = (unsigned char)try_send();
		else if (what == 'f')
			error = (unsigned char)try_fork();
		else if (what == 'x')
			error = (unsigned char)try_exec();
		if (write(say, &error, 1) != 1)
			break;
	}
	_exit(0);
}

static void start(struct test *t, uint64_t policy, const struct cordon_anchor *anchor,
		  struct task *task)
{
	struct enforcement_binding binding = {.policy = policy};
	_cleanup_(closep) int pidfd = -1;
	int told[2], said[2], r;

	binding.anchors[CORDON_ANCHOR_WORKDIR] = *anchor;
	if (pipe2(told, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0)
		give_up("a pipe", errno);
	task->pid = fork();
	if (task->pid == 0) {
		close(told[1]);
		close(said[0]);
		obey(t, told[0], said[1]);
	}
	close(told[0]);
	close(said[1]);
	task->tell = told[1];
	task->said = said[0];
	pidfd = pidfd_open(task->pid, 0);
	r = enforcement_bind(t->enforcement, &binding, &task->slot);
	if (r == 0)
		r = enforcement_label(t->enforcement, task->slot, pidfd);
	if (r < 0) {
		(void)kill(task->pid, SIGKILL);
		give_up("an execution does not begin", r);
	}
}

/*
 * Requests an access and returns its errno. A successful exec sends nothing and closes the pipe,
 * which gives 0.
 */
static int tell(const struct task *task, char what)
{
	unsigned char error = 0;

	if (write(task->tell, &what, 1) != 1)
		give_up("a task", errno);
	return read(task->said, &error, 1) < 0 ? errno : error;
}

static void stop(struct test *t, struct task *task)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int r = -EBUSY;

	close(task->tell);
	close(task->said);
	if (waitpid(task->pid, NULL, 0) != task->pid)
		give_up("a task", errno);
	/* The label is removed when the kernel has freed its task. */
	for (int i = 0; i < 3000 && r == -EBUSY; i++) {
		r = enforcement_release(t->enforcement, task->slot);
		if (r == -EBUSY)
			(void)nanosleep(&pause, NULL);
	}
	if (r < 0)
		give_up("an execution does not end", r);
}

static void check(struct test *t, int got, int error, const char *what)
{
	if (got == error)
		t->passed++;
	else
		t->failed++;
	printf("%sok - %s: %s\n", got == error ? "" : "not ", what, strerror(got));
}

static void expect(struct test *t, const struct cordon_anchor *anchor, int error, const char *what)
{
	struct task task;

	start(t, t->granting, anchor, &task);
	check(t, tell(&task, 'o'), error, what);
	stop(t, &task);
}

static void try_anchors(struct test *t, const struct cordon_anchor *bound)
{
	struct cordon_anchor changed;

	expect(t, bound, 0, "a bound directory grants");
	changed = *bound;
	changed.address += 8;
	expect(t, &changed, EACCES, "another address grants nothing");
	changed = *bound;
	changed.inode++;
	expect(t, &changed, EACCES, "another inode number grants nothing");
	changed = *bound;
	changed.generation++;
	expect(t, &changed, EACCES, "another generation grants nothing");
	changed = *bound;
	changed.device++;
	expect(t, &changed, EACCES, "another file system grants nothing");
	expect(t, bound, 0, "the bound directory still grants");
}

/*
 * The cached states of the directory above do not apply to a bound directory. A file system's root
 * is not cached at all.
 */
static void try_around(struct test *t, const struct cordon_anchor *bound)
{
	struct task task;

	start(t, t->around, bound, &task);
	check(t, tell(&task, 'o'), EACCES, "a name below it is denied by its rule");
	for (int i = 0; i < 2; i++)
		check(t, tell(&task, 'b'), 0, "a file beside the bound directory is granted");
	for (int i = 0; i < 2; i++)
		check(t, tell(&task, 'i'), EACCES, "a file in it is denied, too");
	check(t, tell(&task, 'd'), EACCES, "the bound directory is denied by its rule");
	for (int i = 0; i < 2; i++)
		check(t, tell(&task, 'o'), EACCES, "a file below it is still denied");
	for (int i = 0; i < 2; i++)
		check(t, tell(&task, 'c'), 0, "a file of a mounted file system is granted");
	check(t, tell(&task, 'r'), EACCES, "its root, which no rule grants, is denied");
	check(t, tell(&task, 'p'), 0, "its own process is granted");
	check(t, tell(&task, '1'), ENOENT,
	      "another process does not exist, although its number is granted");
	stop(t, &task);
}

/* Twice, so that the second result comes from the cache. */
static void try_swap(struct test *t, const struct cordon_anchor *bound)
{
	struct task task;

	start(t, t->granting, bound, &task);
	for (int i = 0; i < 2; i++) {
		check(t, tell(&task, 'o'), 0, "a policy grants a file");
		check(t, tell(&task, 's'), 0, "and a socket");
	}
	enforcement_set_policy(t->enforcement, task.slot, t->other);
	check(t, tell(&task, 'o'), EACCES, "another policy: the file is denied");
	check(t, tell(&task, 's'), EACCES, "and the socket");
	stop(t, &task);
}

/* The packets of a connected socket are checked. */
static void try_connected(struct test *t, const struct cordon_anchor *bound)
{
	_cleanup_(closep) int listening = udp_socket(bind);
	struct task task;

	if (listening < 0)
		give_up("a socket", errno);
	start(t, t->talking, bound, &task);
	for (int i = 0; i < 2; i++)
		check(t, tell(&task, 'u'), 0, "a policy grants a datagram");
	enforcement_set_policy(t->enforcement, task.slot, t->granting);
	check(t, tell(&task, 'u'), EPERM, "another policy: the next one is denied");
	stop(t, &task);
}

static void try_ending(struct test *t, const struct cordon_anchor *bound, uint64_t policy,
		       const char *what)
{
	char text[64];
	struct task task;

	start(t, policy, bound, &task);
	snprintf(text, sizeof(text), "%s: it forks", what);
	check(t, tell(&task, 'f'), 0, text);
	enforcement_set_ending(t->enforcement, task.slot);
	snprintf(text, sizeof(text), "%s, ending: no fork", what);
	check(t, tell(&task, 'f'), EPERM, text);
	snprintf(text, sizeof(text), "%s, ending: no program", what);
	check(t, tell(&task, 'x'), EACCES, text);
	stop(t, &task);
	start(t, policy, bound, &task);
	snprintf(text, sizeof(text), "%s: a program", what);
	check(t, tell(&task, 'x'), 0, text);
	stop(t, &task);
}

static void try_labels(struct test *t, const struct cordon_anchor *bound)
{
	struct enforcement_binding binding = {.policy = t->granting};
	_cleanup_(closep) int pidfd = -1;
	struct task task;
	uint32_t slot;

	start(t, t->granting, bound, &task);
	pidfd = pidfd_open(task.pid, 0);
	if (enforcement_bind(t->enforcement, &binding, &slot) < 0)
		give_up("a second execution", EBUSY);
	check(t, -enforcement_label(t->enforcement, slot, pidfd), EBUSY,
	      "a task of one execution becomes no other's");
	if (enforcement_release(t->enforcement, slot) < 0)
		give_up("the second execution does not end", EBUSY);
	stop(t, &task);
}

/* Starts an execution in that slot, as a restarted daemon would with its first one. */
static uint32_t start_in(struct test *t, uint32_t slot, const struct cordon_anchor *bound,
			 struct task *task)
{
	t->enforcement->next_slot = slot;
	start(t, t->other, bound, task);
	if (task->slot != slot)
		give_up("the slot is not free", EBUSY);
	return enforcement_execution(t->enforcement, slot)->generation;
}

static void check_told(struct test *t, const struct task *task)
{
	const struct cordon_execution *view = enforcement_execution(t->enforcement, task->slot);

	check(t, tell(task, 'o'), EACCES, "an access that no rule grants is denied");
	check(t, view->denials == 1 && view->coalesced == 0 ? 0 : EALREADY, 0,
	      "it is reported for this execution, and not counted into another's");
}

/* Uses slots and generations that are equal when merged by XOR. */
static void try_told_apart(struct test *t, const struct cordon_anchor *bound)
{
	uint32_t generation, wanted;
	struct task first, second;

	generation = start_in(t, 1, bound, &second);
	stop(t, &second);
	for (;;) {
		wanted = start_in(t, 0, bound, &first) ^ 1;
		if (wanted > generation)
			break;
		stop(t, &first);
	}
	for (;;) {
		generation = start_in(t, 1, bound, &second);
		if (generation == wanted)
			break;
		stop(t, &second);
	}
	check_told(t, &first);
	check_told(t, &second);
	/* The second task has the first task's pipes as well. */
	stop(t, &second);
	stop(t, &first);
}

static uint64_t add_policy(struct test *t, const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	uint64_t ref;

	if (!d || policy_compile_text(text, strlen(text), "executions.yaml", NULL, d, &policy) < 0)
		give_up("a policy", EINVAL);
	if (enforcement_policy_add(t->enforcement, policy->tables, policy->tables_size, &ref) < 0)
		give_up("a policy cannot be added", ENOSPC);
	return ref;
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		give_up("a file", errno);
	close(fd);
}

static void prepare(struct test *t)
{
	snprintf(t->top, sizeof(t->top), "/tmp/cordon-executions-%d", getpid());
	snprintf(t->beside, sizeof(t->beside), "%s/beside", t->top);
	snprintf(t->directory, sizeof(t->directory), "%s/bound", t->top);
	snprintf(t->inside, sizeof(t->inside), "%s/inside", t->directory);
	/*
	 * Below another directory, so that the rules for the bound one are final before the name
	 * ends.
	 */
	snprintf(t->below, sizeof(t->below), "%s/below", t->directory);
	snprintf(t->file, sizeof(t->file), "%s/file", t->below);
	if (mkdir(t->top, 0755) < 0 || mount("tmpfs", t->top, "tmpfs", 0, NULL) < 0)
		give_up("a file system", errno);
	if (mkdir(t->directory, 0755) < 0 || mkdir(t->below, 0755) < 0)
		give_up("a directory", errno);
	make_file(t->file);
	make_file(t->beside);
	make_file(t->inside);
	t->granting = add_policy(t, granting);
	t->talking = add_policy(t, talking);
	t->other = add_policy(t, other);
	t->around = add_policy(t, around);
	t->observing = add_policy(t, observing);
}

static void run(struct test *t)
{
	_cleanup_(closep) int fd = open(t->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cordon_anchor bound;
	int r = enforcement_identify(t->enforcement, fd, &bound);

	if (r < 0)
		give_up("the directory is not identified", r);
	try_anchors(t, &bound);
	try_around(t, &bound);
	try_labels(t, &bound);
	try_told_apart(t, &bound);
	try_swap(t, &bound);
	try_connected(t, &bound);
	try_ending(t, &bound, t->granting, "enforced");
	try_ending(t, &bound, t->observing, "observed");
}

int main(int argc, char **argv)
{
	_cleanup_(closep) int cgroup_fd =
		open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool keep = argc == 2 && strcmp(argv[1], "--keep") == 0;
	enum enforcement_origin origin;
	struct failure failure = {};
	struct test t = {};
	int r = enforcement_open(cgroup_fd, &t.enforcement, &origin, &failure);

	if (r < 0)
		give_up(failure.text, r);
	prepare(&t);
	run(&t);
	(void)umount(t.top);
	(void)rmdir(t.top);
	if (!keep && enforcement_unload(t.enforcement, &failure) < 0)
		give_up(failure.text, EBUSY);
	printf("# executions: %u passed, %u failed\n", t.passed, t.failed);
	return t.failed ? 1 : 0;
}
