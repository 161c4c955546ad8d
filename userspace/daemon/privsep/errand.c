/* SPDX-License-Identifier: Apache-2.0 */
/* Does in a process of its own what may take long or never end. */
#include "daemon/privsep/errand.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "daemon/host/pid_event.h"
#include "daemon/host/turn.h"

#define ANSWER_FD 3

struct errand {
	TAILQ_ENTRY(errand) link;
	struct event_base *base;
	struct errand_job job; /* done: NULL: nobody waits for it; it only is to be reaped */
	pid_t pid;	       /* 0: it stands in line */
	uint64_t since;	       /* when it was set off: monotonic clock, ns */
	int socket;
	struct event *answer, *ended, *late;
};

/*
 * What a process sends; the descriptors that go along are its data, and those of `fds` that are
 * set.
 */
struct errand_reply {
	int32_t result;
	uint32_t present; /* bits of `fds` */
	struct failure failure;
};

static TAILQ_HEAD(, errand) errands = TAILQ_HEAD_INITIALIZER(errands);

struct errand_fds errand_no_fds(void)
{
	struct errand_fds none;

	for (size_t i = 0; i < ERRAND_FDS; i++)
		none.fd[i] = -1;
	return none;
}

/* --- the process -------------------------------------------------------------------------- */

static int send_reply(const struct errand_reply *reply, int data, const struct errand_fds *fds)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE((1 + ERRAND_FDS) * sizeof(int))];
	} control = {};
	struct iovec part = {(void *)(uintptr_t)reply, sizeof(*reply)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
	int along[1 + ERRAND_FDS] = {data};
	size_t count = 1;

	for (size_t i = 0; i < ERRAND_FDS; i++)
		if (fds->fd[i] >= 0)
			along[count++] = fds->fd[i];
	control.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(count * sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&control.header), along, count * sizeof(int));
	message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	return sendmsg(ANSWER_FD, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int answer(const struct errand_job *job)
{
	struct errand_reply reply = {};
	int data = memfd_create("cordon-errand", MFD_CLOEXEC);
	struct errand_fds fds = errand_no_fds();
	FILE *to = data < 0 ? NULL : fdopen(data, "w");

	if (!to)
		return -errno;
	reply.result = job->work(job->context, to, &fds, &reply.failure);
	if (fflush(to) != 0 || ferror(to))
		return -EIO;
	for (size_t i = 0; i < ERRAND_FDS; i++)
		reply.present |= (uint32_t)(fds.fd[i] >= 0) << i;
	return send_reply(&reply, data, &fds);
}

/* Above all descriptors that are kept, so that moving one closes no other. */
#define MOVED_FD 128

static bool move_kept(const struct errand_job *job, int moved[ERRAND_FDS])
{
	for (size_t i = 0; i < job->kept_count; i++)
		if ((moved[i] = fcntl(job->kept[i], F_DUPFD_CLOEXEC, MOVED_FD)) < 0)
			return false;
	return true;
}

static bool keep(const struct errand_job *job, const int moved[ERRAND_FDS])
{
	for (size_t i = 0; i < job->kept_count; i++)
		if (dup3(moved[i], ERRAND_KEPT_FD + (int)i, O_CLOEXEC) < 0)
			return false;
	return true;
}

/* It keeps nothing else of the daemon's open: what it waits for may outlast that. */
static _Noreturn void run(const struct errand_job *job, int socket, pid_t daemon)
{
	int moved[ERRAND_FDS];
	sigset_t none;

	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, SIG_DFL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || setsid() < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != daemon || !move_kept(job, moved) ||
	    (socket != ANSWER_FD && dup2(socket, ANSWER_FD) < 0) || !keep(job, moved) ||
	    close_range(ERRAND_KEPT_FD + (unsigned int)job->kept_count, ~0u, 0) < 0 ||
	    fcntl(ANSWER_FD, F_SETFD, FD_CLOEXEC) < 0)
		_exit(EXIT_FAILURE);
	(void)prctl(PR_SET_NAME, "cordon-errand");
	_exit(answer(job) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* --- its life ----------------------------------------------------------------------------- */

static void release(struct errand *errand)
{
	TAILQ_REMOVE(&errands, errand, link);
	pid_event_free(&errand->ended);
	if (errand->answer)
		event_free(errand->answer);
	if (errand->late)
		event_free(errand->late);
	closep(&errand->socket);
	free(errand);
}

static void next_of(uid_t uid);

/* Without a pidfd, for which there was no room, the end of a killed process is looked for. */
#define REAP_MSEC 100

static bool look_again(struct errand *errand)
{
	const struct timeval after = {.tv_usec = REAP_MSEC * 1000};

	return errand->ended || (errand->late && evtimer_add(errand->late, &after) == 0);
}

/* Until it is waited for, the number is its own. */
static void put_down(struct errand *errand)
{
	uid_t uid = errand->job.uid;

	errand->job.done = NULL;
	if (errand->late)
		(void)event_del(errand->late);
	if (errand->answer)
		(void)event_del(errand->answer);
	if (errand->pid > 0) {
		(void)kill(errand->pid, SIGKILL);
		/* It takes its time to die, in the kernel perhaps: its end is an event. */
		if (waitpid(errand->pid, NULL, WNOHANG) == 0 && look_again(errand))
			return;
	}
	release(errand);
	next_of(uid);
}

static void finish(struct errand *errand, int result, const char *data, size_t size,
		   struct errand_fds *fds, const struct failure *failure)
{
	struct errand_job job = errand->job;

	put_down(errand);
	job.done(job.context, result, data, size, fds, failure);
}

static void fail(struct errand *errand, int error, const char *why)
{
	struct errand_fds fds = errand_no_fds();
	struct failure failure = {};

	failure_set(&failure, error, "%s %s", errand->job.what, why);
	finish(errand, error, NULL, 0, &fds, &failure);
}

static void on_end(evutil_socket_t fd, short what, void *context)
{
	struct errand *errand = context;
	TURN(errand->job.what);
	uid_t uid = errand->job.uid;

	(void)fd;
	(void)what;
	if (waitpid(errand->pid, NULL, WNOHANG) == 0)
		return;
	errand->pid = -1;
	/* What it has sent is there: on_answer() comes first or has come. */
	if (errand->job.done)
		return;
	release(errand);
	next_of(uid);
}

static int be_patient(struct errand *errand)
{
	const struct timeval patience = {.tv_sec = errand->job.seconds};

	return evtimer_add(errand->late, &patience) < 0 ? -ENOMEM : 0;
}

/* Somebody's turn has come meanwhile. */
static bool line_moves(const struct errand *waiting)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	const struct errand *errand;

	TAILQ_FOREACH(errand, &errands, link)
	if (errand->pid != 0 && errand->job.uid == waiting->job.uid &&
	    now - errand->since < (uint64_t)waiting->job.seconds * NSEC_PER_SEC)
		return true;
	return false;
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
	struct errand *errand = context;
	TURN(errand->job.what);

	(void)fd;
	(void)what;
	/* It was put down, and has no event for its end. */
	if (!errand->job.done) {
		put_down(errand);
		return;
	}
	if (errand->socket < 0 && line_moves(errand) && be_patient(errand) == 0)
		return;
	fail(errand, -ETIMEDOUT, "did not answer in time");
}

/* --- its answer --------------------------------------------------------------------------- */

static int receive(int socket, struct errand_reply *ret_reply, int *ret_data,
		   struct errand_fds *fds)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE((1 + ERRAND_FDS) * sizeof(int))];
	} control = {};
	struct iovec part = {ret_reply, sizeof(*ret_reply)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	size_t count = header ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0, next = 1;
	int along[1 + ERRAND_FDS];

	if (n < 0)
		return -errno;
	if (count < 1 || count > ARRAY_SIZE(along))
		return -EPROTO;
	memcpy(along, CMSG_DATA(header), count * sizeof(int));
	*ret_data = along[0];
	for (size_t i = 0; i < ERRAND_FDS; i++)
		if ((ret_reply->present >> i) & 1 && next < count)
			fds->fd[i] = along[next++];
	ret_reply->failure.text[sizeof(ret_reply->failure.text) - 1] = '\0';
	return n == sizeof(*ret_reply) && next == count && ret_reply->result <= 0 ? 0 : -EPROTO;
}

static int read_data(int fd, size_t most, char **ret_data, size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > (most ? most : ERRAND_DATA_MAX))
		return -EFBIG;
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return -ENOMEM;
	r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : io_read_exactly(fd, data, (size_t)st.st_size);
	if (r != 0)
		return r < 0 ? r : -EPROTO;
	*ret_size = (size_t)st.st_size;
	*ret_data = TAKE_PTR(data);
	return 0;
}

static void on_answer(evutil_socket_t socket, short what, void *context)
{
	struct errand *errand = context;
	TURN(errand->job.what);
	_cleanup_(closep) int data_fd = -1;
	_cleanup_(freep) char *data = NULL;
	struct errand_fds fds = errand_no_fds();
	struct errand_reply reply = {};
	size_t size = 0;
	int r = receive(socket, &reply, &data_fd, &fds);

	(void)what;
	if (r == -EAGAIN || r == -EINTR) {
		(void)event_add(errand->answer, NULL);
		return;
	}
	if (r == 0)
		r = read_data(data_fd, errand->job.most, &data, &size);
	if (r < 0)
		fail(errand, r, "has failed");
	else
		finish(errand, reply.result, data, size, &fds, &reply.failure);
	for (size_t i = 0; i < ERRAND_FDS; i++)
		closep(&fds.fd[i]);
}

/* ------------------------------------------------------------------------------------------ */

static int set_off(struct errand *errand)
{
	_cleanup_(closep) int its = -1, pidfd = -1;
	pid_t daemon = getpid();
	int ends[2], r = be_patient(errand);

	if (r < 0)
		return r;
	errand->since = clock_nsec(CLOCK_MONOTONIC);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	errand->socket = ends[0];
	its = ends[1];
	errand->answer = event_new(errand->base, errand->socket, EV_READ, on_answer, errand);
	if (!errand->answer || event_add(errand->answer, NULL) < 0)
		return -ENOMEM;
	errand->pid = fork();
	if (errand->pid == 0)
		run(&errand->job, its, daemon);
	pidfd = errand->pid < 0 ? -1 : pidfd_open(errand->pid, 0);
	r = pidfd < 0 ? -errno
		      : pid_event_new(errand->base, &pidfd, on_end, errand, &errand->ended);
	if (errand->pid < 0)
		errand->pid = 0;
	return r;
}

static size_t running_of(uid_t uid)
{
	const struct errand *errand;
	size_t count = 0;

	TAILQ_FOREACH(errand, &errands, link)
	count += errand->pid != 0 && errand->job.uid == uid;
	return count;
}

/* Those that wait longest come first. One that cannot be set off is told when its time is up. */
static void next_of(uid_t uid)
{
	struct errand *errand;

	if (running_of(uid) >= ERRANDS_AT_A_TIME)
		return;
	TAILQ_FOREACH(errand, &errands, link)
	{
		if (errand->pid != 0 || errand->socket >= 0 || errand->job.uid != uid)
			continue;
		(void)set_off(errand);
		return;
	}
}

int errand_start(struct event_base *base, const struct errand_job *job, struct errand **ret_errand,
		 struct failure *failure)
{
	struct errand *errand = calloc(1, sizeof(*errand));
	int r = errand ? 0 : -ENOMEM;

	if (r == 0) {
		*errand = (struct errand){.base = base, .job = *job, .socket = -1};
		TAILQ_INSERT_TAIL(&errands, errand, link);
		errand->late = evtimer_new(base, on_late, errand);
		r = errand->late ? be_patient(errand) : -ENOMEM;
	}
	if (r == 0 && running_of(job->uid) < ERRANDS_AT_A_TIME)
		r = set_off(errand);
	if (r < 0) {
		errand_cancel(errand);
		return failure_set(failure, r, "%s cannot be started: %m", job->what);
	}
	*ret_errand = errand;
	return 0;
}

void errand_cancel(struct errand *errand)
{
	if (errand)
		put_down(errand);
}

uint64_t errands_processor_nsec(void)
{
	const struct errand *errand;
	struct timespec used;
	uint64_t sum = 0;
	clockid_t clock;

	TAILQ_FOREACH(errand, &errands, link)
	if (errand->pid > 0 && clock_getcpuclockid(errand->pid, &clock) == 0 &&
	    clock_gettime(clock, &used) == 0)
		sum += (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
	return sum;
}

#define WAIT_MSEC 100
/* Between two looks; less than that is no progress. */
#define WAIT_BUSY_NSEC (2 * NSEC_PER_MSEC)

static void on_wait(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
}

int errand_wait(struct event_base *base, struct errand *const *errand, uint64_t nsec)
{
	const struct timeval each = {.tv_usec = WAIT_MSEC * 1000};
	struct event *tick = event_new(base, -1, EV_PERSIST, on_wait, NULL);
	uint64_t heard = clock_nsec(CLOCK_MONOTONIC), processor = 0;
	int r = tick && event_add(tick, &each) == 0 ? 0 : -ENOMEM;

	while (r == 0 && *errand) {
		uint64_t used, now;

		(void)event_base_loop(base, EVLOOP_ONCE);
		used = errands_processor_nsec();
		now = clock_nsec(CLOCK_MONOTONIC);
		if (used > processor + WAIT_BUSY_NSEC)
			heard = now;
		processor = used;
		if (*errand && now - heard > nsec)
			r = -ETIMEDOUT;
	}
	if (tick)
		event_free(tick);
	return r;
}

void errands_forget(void)
{
	struct errand *errand;

	while ((errand = TAILQ_FIRST(&errands)) != NULL) {
		if (errand->pid > 0)
			(void)kill(errand->pid, SIGKILL);
		release(errand);
	}
}
