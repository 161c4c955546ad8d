/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last cordon.yaml that was good, for a start at which it is not: STATE/executors.yaml, whose
 * first line says which file that was.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/privsep/errand.h"

#define KEPT	   "executors.yaml"
#define KEPT_FRESH "executors.yaml.new"
/* That line, and the file. */
#define KEPT_MAX ((2u << 20) + PATH_MAX)

#define SAVE_SECONDS 20

static int open_state(const struct daemon *daemon, int *ret_fd)
{
	if (!daemon->state)
		return -ENOENT;
	if (mkdir(daemon->state, 0700) < 0 && errno != EEXIST)
		return -errno;
	*ret_fd = open(daemon->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

/* It says what is confined: nobody else may have written it. */
static int read_kept(int directory, char **ret_text, size_t *ret_size)
{
	_cleanup_(closep) int fd =
		openat(directory, KEPT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		return -EPERM;
	return io_read_all(fd, KEPT_MAX, ret_text, ret_size);
}

int executor_kept_load(const struct daemon *daemon, const char *path, struct config **ret_config)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(closep) int directory = -1;
	_cleanup_(freep) char *text = NULL, *head = NULL;
	size_t size = 0, length;
	int r;

	if (!diagnostics || asprintf(&head, "# %s\n", path) < 0) {
		head = NULL;
		return -ENOMEM;
	}
	r = open_state(daemon, &directory);
	if (r == 0)
		r = read_kept(directory, &text, &size);
	if (r < 0)
		return r;
	length = strlen(head);
	if (!text || size < length || memcmp(text, head, length) != 0)
		return -ENOENT;
	return config_parse(text + length, size - length, path, diagnostics, ret_config);
}

static int save(const struct daemon *daemon, const char *path, const struct config *config)
{
	_cleanup_(closep) int directory = -1;
	_cleanup_(freep) char *whole = NULL, *present = NULL;
	size_t size, present_size = 0;
	const char *text = config_text(config, &size);
	int r = open_state(daemon, &directory);

	if (r < 0)
		return r == -ENOENT && !daemon->state ? 0 : r;
	if (asprintf(&whole, "# %s\n%.*s", path, (int)size, text) < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	if (read_kept(directory, &present, &present_size) == 0 && present &&
	    present_size == strlen(whole) && memcmp(present, whole, present_size) == 0)
		return 0;
	return io_replace_file(directory, KEPT, KEPT_FRESH, whole, true);
}

/* In a worker. */
static int save_apart(const void *context, FILE *to, struct errand_fds *fds,
		      struct failure *failure)
{
	const struct executors *x = context;
	int r = x->config ? save(x->daemon, x->path, x->config) : 0;

	(void)to;
	(void)fds;
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}

/* A failure matters at a later start only. */
static void on_saved(void *context, int result, const char *data, size_t size,
		     struct errand_fds *fds, const struct failure *why)
{
	struct executors *x = context;

	(void)data;
	(void)size;
	(void)fds;
	(void)why;
	x->saving = NULL;
	if (result < 0)
		daemon_say(x->daemon, "%s cannot be kept for a start when it has mistakes: %s",
			   x->path, strerror(-result));
	if (x->save_again)
		executor_kept_save(x);
}

void executor_kept_save(struct executors *x)
{
	const struct errand_job job = {
		.what = EXECUTOR_KEEPER,
		.seconds = SAVE_SECONDS,
		.work = save_apart,
		.done = on_saved,
		.context = x,
	};
	struct failure failure = {};

	x->save_again = x->saving != NULL;
	if (!x->saving && errand_start(x->daemon->base, &job, &x->saving, &failure) < 0)
		daemon_say(x->daemon, "%s cannot be kept for a start when it has mistakes: %s",
			   x->path, failure.text);
}
