/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process of a log's writer, and waits for it. */
#include "daemon/privsep/writer_child.h"

#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/io.h"
#include "daemon/privsep/writer_state.h"

static void describe_death(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

/* One that hangs in the kernel cannot be waited for: it is left for later. */
static bool reap(struct writer *w, int *ret_status)
{
	const struct timespec pause = {.tv_nsec = NSEC_PER_MSEC};

	if (w->unreaped > 0 && waitpid(w->unreaped, NULL, WNOHANG) != 0)
		w->unreaped = 0;
	for (int i = 0; i < 50; i++) {
		pid_t found = waitpid(w->pid, ret_status, WNOHANG);

		if (found == w->pid || (found < 0 && errno != EINTR))
			return found == w->pid;
		nanosleep(&pause, NULL);
	}
	w->unreaped = w->pid;
	return false;
}

void writer_child_drop_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

void writer_child_put_down(struct writer *w, char *why, size_t size)
{
	struct writer_wait *wait;
	int status;

	if (w->fd < 0)
		return;
	writer_child_drop_event(&w->readable);
	writer_child_drop_event(&w->writable);
	if (w->late)
		evtimer_del(w->late);
	closep(&w->fd);
	w->fd = -1;
	/* One that ended by itself is a zombie, to which this does nothing. */
	(void)kill(w->pid, SIGKILL);
	if (reap(w, &status))
		describe_death(status, why, size);
	else
		snprintf(why, size, "hangs");
	if (w->asking)
		w->wanted[w->asked] = w->asked != WRITER_HELLO && w->asked != WRITER_CLOSE;
	w->asking = false;
	OPENSSL_cleanse(w->out.data, w->out.size);
	w->out.size = w->out_at = w->reply_size = 0;
	TAILQ_FOREACH(wait, &w->waits, link)
	wait->covered = false;
	w->sent = 0;
	w->said = 0;
	w->lost_before += w->lost;
	w->lost = 0;
	w->written_before += w->figures.written;
	w->figures.written = 0;
}
