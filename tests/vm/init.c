// SPDX-License-Identifier: Apache-2.0
/*
 * The test VM's PID 1: brings the guest up, runs one command, reports how it ended.
 *
 * It talks to tests/vm/run over virtio-serial ports: "ctl" (settings in, text lines out), "in",
 * "out" and "err" (the command's standard streams). The command gets pipes, not the ports
 * themselves: a port can be opened only once, so /dev/stdout would not work, and programs treat
 * pipes as they would under any caller. This being PID 1, it survives whatever the command does to
 * other processes.
 */

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PORT_CTL  "/dev/vport0p1"
#define PORT_IN	  "/dev/vport0p2"
#define PORT_OUT  "/dev/vport0p3"
#define PORT_ERR  "/dev/vport0p4"
#define TERMINAL  "/dev/hvc0"
#define NEW_ROOT  "/newroot"
#define HOST_ROOT "/hostroot"
#define DISK	  "/dev/vda"
#define OUT_SHARE "/run/vm-out"

#define SETTINGS_MAX (4U << 20)
#define LIST_MAX     4096
#define PUMP_BYTES   65536
#define SHARE	     "trans=virtio,version=9p2000.L,msize=524288"

/*
 * How long the processes that the command left behind may take to die before that counts as a hang.
 */
#define REAP_SECONDS 20

struct settings {
	char *cwd;
	char *modules;
	char *init;   /* the program that becomes process 1 instead of this one, or NULL */
	bool foreign; /* the guest's root is not the host's: the host's is a share of its own */
	bool disk;    /* DISK holds the writable layer */
	bool out_share;
	bool out_owners;
	bool terminal;
	unsigned short rows, columns;
	char *env[LIST_MAX];
	char *arg[LIST_MAX];
	char *visible[LIST_MAX];
	char *hidden[LIST_MAX]; /* files of the host's root that are not the guest's */
	/* Folders of the host, and where the guest sees each. */
	char *from[LIST_MAX], *to[LIST_MAX];
	size_t n_env, n_arg, n_visible, n_hidden, n_from, n_to;
};

/* One direction of one stream. 'from' and 'to' are -1 once closed. */
struct pump {
	int from, to;
	size_t begin, end;
	uint64_t total;
	char buffer[PUMP_BYTES];
};

static int ctl = -1;

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...)
{
	char line[2048];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	for (int done = 0; done < n;) {
		ssize_t w = write(ctl >= 0 ? ctl : STDERR_FILENO, line + done, n - done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return;
		done += w;
	}
}

static _Noreturn void halt(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	_exit(1);
}

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *format, ...)
{
	char text[1024];
	va_list args;
	int error = errno;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	report("fail %s: %s", text, strerror(error));
	/* The caller ends the machine when it has read the line; leave it the time. */
	if (ctl >= 0)
		sleep(5);
	halt();
}

static void make_dir(const char *path)
{
	char part[4096];
	size_t length = strlen(path);

	if (length >= sizeof(part)) {
		errno = ENAMETOOLONG;
		fail("mkdir %s", path);
	}
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			fail("mkdir %s", part);
	}
}

static void mount_on(const char *source, const char *target, const char *type, unsigned long flags,
		     const char *data)
{
	make_dir(target);
	if (mount(source, target, type, flags, data) < 0)
		fail("mount %s on %s", type ? type : source, target);
}

/* For what a kernel may be built without. */
static void mount_if_possible(const char *type, const char *target)
{
	struct stat st;

	if (stat(target, &st) == 0)
		mount(type, target, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		report("note cannot write '%s' to %s: %s", text, path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Loads the modules that a file of the initramfs lists. */
static void load_modules(const char *list)
{
	char name[256], path[512];
	FILE *order = fopen(list, "re");

	if (!order)
		fail("open %s", list);
	while (fscanf(order, "%255s", name) == 1) {
		int fd;

		snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fail("open %s", path);
		if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)
			fail("load module %s", name);
		close(fd);
	}
	fclose(order);
}

static int open_port(const char *path, int flags)
{
	struct timespec pause = {.tv_nsec = 5000000};

	for (int i = 0; i < 6000; i++) {
		int fd = open(path, flags | O_CLOEXEC);

		if (fd >= 0)
			return fd;
		if (errno != ENOENT && errno != ENXIO)
			break;
		nanosleep(&pause, NULL);
	}
	fail("open %s", path);
}

static void read_exactly(int fd, void *buffer, size_t size)
{
	struct timespec pause = {.tv_nsec = 5000000};
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)buffer + done, size - done);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			fail("read settings");
		/* Nothing: the host has not yet connected its end. */
		if (n == 0)
			nanosleep(&pause, NULL);
		done += n;
	}
}

static const char *value_of(const char *field, const char *key)
{
	size_t n = strlen(key);

	return strncmp(field, key, n) == 0 && field[n] == '=' ? field + n + 1 : NULL;
}

static void append(char **list, size_t *count, const char *value)
{
	if (*count + 1 >= LIST_MAX) {
		errno = E2BIG;
		fail("settings");
	}
	list[(*count)++] = (char *)value;
	list[*count] = NULL;
}

/* A 4-byte length, then that many bytes of NUL-terminated "key=value" fields. */
static void read_settings(struct settings *s)
{
	uint32_t size;
	char *data;

	read_exactly(ctl, &size, sizeof(size));
	if (size == 0 || size > SETTINGS_MAX) {
		errno = EMSGSIZE;
		fail("settings of %u bytes", size);
	}
	data = malloc(size + 1);
	if (!data)
		fail("settings");
	read_exactly(ctl, data, size);
	data[size] = '\0';
	for (char *field = data; field < data + size; field += strlen(field) + 1) {
		const char *v;

		if ((v = value_of(field, "cwd")))
			s->cwd = (char *)v;
		else if ((v = value_of(field, "modules")))
			s->modules = (char *)v;
		else if ((v = value_of(field, "init")))
			s->init = (char *)v;
		else if ((v = value_of(field, "out")))
			s->out_share = *v == '1';
		else if ((v = value_of(field, "owners")))
			s->out_owners = *v == '1';
		else if ((v = value_of(field, "terminal")))
			s->terminal = sscanf(v, "%hux%hu", &s->rows, &s->columns) == 2;
		else if ((v = value_of(field, "env")))
			append(s->env, &s->n_env, v);
		else if ((v = value_of(field, "arg")))
			append(s->arg, &s->n_arg, v);
		else if ((v = value_of(field, "visible")))
			append(s->visible, &s->n_visible, v);
		else if ((v = value_of(field, "hidden")))
			append(s->hidden, &s->n_hidden, v);
		else if ((v = value_of(field, "foreign")))
			s->foreign = *v == '1';
		else if ((v = value_of(field, "disk")))
			s->disk = *v == '1';
		else if ((v = value_of(field, "from")))
			append(s->from, &s->n_from, v);
		else if ((v = value_of(field, "to")))
			append(s->to, &s->n_to, v);
	}
	if (!s->cwd || !s->modules || s->n_arg == 0 || s->n_from != s->n_to) {
		errno = EINVAL;
		fail("settings lack cwd, modules, a command or the target of a folder");
	}
}

/* Shows a folder of the host at a path of the guest, whose parents it creates. */
static void bind_from_host(const char *source, const char *target)
{
	char from[4096], to[4096];

	snprintf(from, sizeof(from), HOST_ROOT "%s", source);
	snprintf(to, sizeof(to), NEW_ROOT "%s", target);
	mount_on(from, to, NULL, MS_BIND, NULL);
}

/* Lets every user enter a folder, and read its list. */
static void make_public(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		fail("stat %s", path);
	if ((st.st_mode & 0755) != 0755 && chmod(path, (st.st_mode & 07777) | 0755) < 0)
		fail("chmod %s", path);
}

/*
 * Empties /tmp in the upper layer, before the overlay is mounted: the caller's files there may
 * change behind the kernel's back, which overlayfs does not allow.
 */
static void make_tmp(void)
{
	make_dir("/upper/data/tmp");
	if (setxattr("/upper/data/tmp", "trusted.overlay.opaque", "y", 1, 0) < 0)
		fail("make /tmp opaque");
}

/*
 * Mounts a tmpfs on /tmp, as on many hosts. Of the host's /tmp, the guest has only the folders that
 * the command line names.
 */
static void mount_tmp(const struct settings *s)
{
	mount_on("tmpfs", NEW_ROOT "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	for (size_t i = 0; i < s->n_visible; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "/tmp/%s", s->visible[i]);
		bind_from_host(path, path);
	}
}

/*
 * The host's files, apart from the guest's root: the folders that are bound from here do not depend
 * on what the guest's root, its /tmp and the modes of directories there let through. They have a
 * writable layer in memory.
 */
static void mount_host(const struct settings *s)
{
	if (s->foreign)
		mount_on("host", "/host", "9p", MS_RDONLY, SHARE ",access=any,cache=loose");
	mount_on("tmpfs", "/host-upper", "tmpfs", 0, "mode=755,size=75%");
	make_dir("/host-upper/data");
	make_dir("/host-upper/work");
	mount_on("overlay", HOST_ROOT, "overlay", 0,
		 s->foreign ? "lowerdir=/host,upperdir=/host-upper/data,workdir=/host-upper/work"
			    : "lowerdir=/lower,upperdir=/host-upper/data,workdir=/host-upper/work");
}

/* Binds the kernel's modules, and the project and its build at their public paths. */
static void bind_folders(const struct settings *s)
{
	bind_from_host(s->modules, "/lib/modules");
	for (size_t i = 0; i < s->n_from; i++) {
		char path[4096];

		bind_from_host(s->from[i], s->to[i]);
		snprintf(path, sizeof(path), NEW_ROOT "%s", s->to[i]);
		make_public(path);
	}
	make_public(NEW_ROOT "/srv");
	/* The rest of the host has no second name in the guest. */
	if (umount2(HOST_ROOT, MNT_DETACH) < 0)
		fail("unmount " HOST_ROOT);
}

static void hide_files(const struct settings *s)
{
	for (size_t i = 0; i < s->n_hidden; i++) {
		char path[4096];

		snprintf(path, sizeof(path), NEW_ROOT "%s", s->hidden[i]);
		/* It may be hidden already, in the layer on a disk. */
		if (unlink(path) < 0 && errno != ENOENT)
			fail("hide %s", path);
	}
}

static void mount_root(const struct settings *s)
{
	mount_on("root", "/lower", "9p", MS_RDONLY, SHARE ",access=any,cache=loose");
	if (s->disk) {
		load_modules("/modules/order-disk");
		mount_on(DISK, "/upper", "ext4", 0, NULL);
	} else {
		mount_on("tmpfs", "/upper", "tmpfs", 0, "mode=755,size=75%");
	}
	make_dir("/upper/data");
	make_dir("/upper/work");
	make_tmp();
	mount_on("overlay", NEW_ROOT, "overlay", 0,
		 "lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work");

	hide_files(s);
	mount_host(s);
	mount_tmp(s);
	mount_on("proc", NEW_ROOT "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	mount_on("sysfs", NEW_ROOT "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	mount_on("devtmpfs", NEW_ROOT "/dev", "devtmpfs", MS_NOSUID, "mode=755");
	mount_on("devpts", NEW_ROOT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		 "mode=620,ptmxmode=666,gid=5");
	mount_on("tmpfs", NEW_ROOT "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	mount_on("mqueue", NEW_ROOT "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		 NULL);
	mount_on("tmpfs", NEW_ROOT "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
	make_dir(NEW_ROOT "/run/lock");
	mount_on("cgroup2", NEW_ROOT "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		 NULL);
	mount_on("bpf", NEW_ROOT "/sys/fs/bpf", "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		 "mode=700");
	mount_if_possible("securityfs", NEW_ROOT "/sys/kernel/security");
	mount_if_possible("debugfs", NEW_ROOT "/sys/kernel/debug");
	mount_if_possible("tracefs", NEW_ROOT "/sys/kernel/tracing");
	bind_folders(s);
	if (s->out_share)
		mount_on("out", NEW_ROOT OUT_SHARE, "9p", MS_NOSUID | MS_NODEV,
			 s->out_owners ? SHARE ",access=client,posixacl" : SHARE ",access=any");
}

static void switch_root(void)
{
	if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		fail("switch to the new root");
}

static void loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		fail("bring up the loopback interface");
	close(fd);
}

static void link_dev(const char *target, const char *path)
{
	if (symlink(target, path) < 0 && errno != EEXIST)
		fail("symlink %s", path);
}

static void settle(void)
{
	static const char host[] = "cordon-vm";
	static const char *const controllers[] = {"+cpu", "+cpuset", "+io", "+memory", "+pids"};

	link_dev("/proc/self/fd", "/dev/fd");
	link_dev("/proc/self/fd/0", "/dev/stdin");
	link_dev("/proc/self/fd/1", "/dev/stdout");
	link_dev("/proc/self/fd/2", "/dev/stderr");
	if (sethostname(host, sizeof(host) - 1) < 0)
		fail("set the host name");
	loopback_up();
	/* As on a host under systemd: the root offers its controllers to its children. */
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++)
		write_file("/sys/fs/cgroup/cgroup.subtree_control", controllers[i]);
}

/*
 * Another program becomes process 1, as on a host; this one goes on beside it, and serves the
 * command as ever.
 */
static void make_way(const struct settings *s)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0) {
		execl(s->init, s->init, NULL);
		fail("run %s", s->init);
	}
	setsid();
}

static _Noreturn void run_command(const struct settings *s, int in, int out, int err)
{
	sigset_t none;
	int error;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (s->terminal) {
		in = open(TERMINAL, O_RDWR);
		ioctl(in, TIOCSCTTY, 0);
		out = err = in;
	}
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(125);
	closefrom(3);
	if (chdir(s->cwd) < 0) {
		dprintf(2, "tests/vm/run: cannot enter %s: %s\n", s->cwd, strerror(errno));
		_exit(125);
	}
	environ = (char **)s->env;
	execvpe(s->arg[0], s->arg, environ);
	error = errno;
	dprintf(2, "tests/vm/run: cannot run %s: %s\n", s->arg[0], strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * One step in each direction that is ready; closes both ends once the source has ended and all is
 * out.
 */
static void pump_step(struct pump *p, bool readable, bool writable)
{
	if (readable && p->from >= 0 && p->begin == p->end) {
		ssize_t n = read(p->from, p->buffer, sizeof(p->buffer));

		p->begin = p->end = 0;
		if (n > 0)
			p->end = n;
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			close_fd(&p->from);
		writable = true;
	}
	if (writable && p->to >= 0 && p->begin < p->end) {
		ssize_t n = write(p->to, p->buffer + p->begin, p->end - p->begin);

		if (n > 0) {
			p->begin += n;
			p->total += n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			p->begin = p->end;
			close_fd(&p->from);
		}
	}
	if (p->from < 0 && p->begin == p->end)
		close_fd(&p->to);
}

static void pump_interest(const struct pump *p, struct pollfd *from, struct pollfd *to)
{
	bool full = p->begin < p->end;

	from->fd = full ? -1 : p->from;
	from->events = POLLIN;
	to->fd = full ? p->to : -1;
	to->events = POLLOUT;
	from->revents = to->revents = 0;
}

static void make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("pipe");
}

static void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The host asks "ping" to tell a busy guest from a dead one, and "winsize RxC". */
static void answer(int terminal)
{
	struct winsize size = {0};
	char text[256];
	ssize_t n = read(ctl, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	if (strstr(text, "ping"))
		report("pong");
	if (terminal >= 0 && sscanf(text, "winsize %hux%hu", &size.ws_row, &size.ws_col) == 2)
		ioctl(terminal, TIOCSWINSZ, &size);
}

/* Reaps whatever has ended. Returns whether any child is left. */
static bool reap(pid_t command, bool *ended, int *status)
{
	for (;;) {
		int s;
		pid_t pid = waitpid(-1, &s, WNOHANG);

		if (pid == 0)
			return true;
		if (pid < 0)
			return errno != ECHILD;
		if (pid == command) {
			*ended = true;
			*status = s;
		}
	}
}

/*
 * Moves bytes until the command has ended, everything that it left behind has been killed, and all
 * output is with the host. Returns the wait status.
 */
static int supervise(pid_t command, struct pump pumps[3], int signals, int terminal)
{
	bool ended = false, children = true;
	time_t deadline = 0;
	int status = 0;

	while (!ended || children || pumps[1].to >= 0 || pumps[2].to >= 0) {
		struct pollfd fds[8];
		struct signalfd_siginfo info;

		for (int i = 0; i < 3; i++)
			pump_interest(&pumps[i], &fds[2 * i], &fds[2 * i + 1]);
		fds[6] = (struct pollfd){.fd = signals, .events = POLLIN};
		fds[7] = (struct pollfd){.fd = ctl, .events = POLLIN};
		if (poll(fds, 8, ended ? 100 : 1000) < 0 && errno != EINTR)
			fail("poll");
		if (fds[6].revents)
			while (read(signals, &info, sizeof(info)) > 0)
				;
		if (fds[7].revents & POLLIN)
			answer(terminal);
		for (int i = 0; i < 3; i++)
			pump_step(&pumps[i], fds[2 * i].revents, fds[2 * i + 1].revents);

		children = reap(command, &ended, &status);
		if (!ended)
			continue;
		if (!deadline)
			deadline = seconds() + REAP_SECONDS;
		if (children)
			kill(-1, SIGKILL);
		if (children && seconds() > deadline) {
			errno = ETIMEDOUT;
			fail("processes that the command left behind do not die");
		}
	}
	return status;
}

static bool is_complaint(const char *text)
{
	static const char *const signs[] = {
		"WARNING:",
		"BUG:",
		"Oops",
		"Call Trace",
		"detected stalls",
		"soft lockup",
		"blocked for more than",
		"Out of memory:",
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

/*
 * Tells the host about every kernel message since boot that means trouble. Only the kernel's own
 * messages (facility 0) count: anybody may write others to /dev/kmsg.
 */
static void report_complaints(int kmsg)
{
	char record[8192 + 1];
	bool limit_reached = false;
	int follow = 0;

	for (;;) {
		ssize_t n = read(kmsg, record, sizeof(record) - 1);
		unsigned int priority;
		char *text;

		if (n < 0 && errno == EPIPE) {
			report("note kernel messages were overwritten before they could be checked");
			continue;
		}
		if (n <= 0)
			return;
		record[n] = '\0';
		text = strchr(record, ';');
		if (!text || sscanf(record, "%u", &priority) != 1 || priority >> 3 != 0)
			continue;
		text++;
		text[strcspn(text, "\n")] = '\0';
		/*
		 * A memory limit at work shows its call trace; where the machine itself is short,
		 * more follows.
		 */
		if (strstr(text, "invoked oom-killer")) {
			limit_reached = true;
		} else if (limit_reached && strstr(text, "Call Trace")) {
			limit_reached = false;
		} else if (is_complaint(text)) {
			report("complaint %s", text);
			follow = 25;
		} else if (follow > 0) {
			report("context %s", text);
			follow--;
		}
	}
}

int main(void)
{
	static struct settings s;
	static struct pump pumps[3];
	int in[2], out[2], err[2], signals, status, kmsg, terminal = -1;
	sigset_t mask;
	pid_t command;

	umask(022);
	mount_on("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, "mode=755");
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	dup2(open("/dev/console", O_RDWR), STDERR_FILENO);
	load_modules("/modules/order");
	ctl = open_port(PORT_CTL, O_RDWR);
	pumps[0].from = open_port(PORT_IN, O_RDONLY | O_NONBLOCK);
	/*
	 * Closing a port could drop what the host has not yet taken, so a second descriptor keeps
	 * it open.
	 */
	pumps[1].to = dup(open_port(PORT_OUT, O_WRONLY | O_NONBLOCK));
	pumps[2].to = dup(open_port(PORT_ERR, O_WRONLY | O_NONBLOCK));
	read_settings(&s);
	mount_root(&s);
	switch_root();
	settle();
	if (s.init)
		make_way(&s);

	make_pipe(in);
	make_pipe(out);
	make_pipe(err);
	pumps[0].to = in[1];
	pumps[1].from = out[0];
	pumps[2].from = err[0];
	set_nonblocking(in[1]);
	set_nonblocking(out[0]);
	set_nonblocking(err[0]);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s.terminal) {
		struct winsize size = {.ws_row = s.rows, .ws_col = s.columns};

		terminal = open_port(TERMINAL, O_RDWR | O_NOCTTY);
		ioctl(terminal, TIOCSWINSZ, &size);
	}

	report("ready");
	command = fork();
	if (command < 0)
		fail("fork");
	if (command == 0)
		run_command(&s, in[0], out[1], err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	status = supervise(command, pumps, signals, terminal);
	if (terminal >= 0)
		tcdrain(terminal);
	report_complaints(kmsg);
	sync();
	report("exit %d %llu %llu",
	       WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
	       (unsigned long long)pumps[1].total, (unsigned long long)pumps[2].total);
	/* The host switches the machine off. */
	for (;;)
		pause();
}
