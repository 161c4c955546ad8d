/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the code that a command is about to run, for its record: the digest, never the text.
 */
#include "adopt/code.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "audit/record/arguments.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "bpf/pure/name_hash.h"

#define HASH_ATTEMPTS 3

/* --- hashing ------------------------------------------------------------------------------ */

static int hash_from(int fd, off_t offset, struct audit_code *code)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char digest[SHA256_SIZE];
	char buffer[16384];
	uint64_t length = 0;
	int r;

	if (!hash)
		return -ENOMEM;
	for (;;) {
		ssize_t n = pread(fd, buffer, sizeof(buffer), offset + (off_t)length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (uint64_t)n;
		if (length > CODE_MAX_SIZE)
			return -EFBIG;
		r = sha256_update(hash, buffer, (size_t)n);
		if (r < 0)
			return r;
	}
	r = sha256_finish(hash, digest);
	if (r < 0)
		return r;
	memcpy(code->digest, digest, sizeof(digest));
	code->length = length;
	code->have_digest = true;
	return 0;
}

/*
 * Timestamps of file systems have the resolution of the clock's tick, so that a second change
 * within a tick is not visible. Waits for the next tick.
 */
static void outlast_tick(uint64_t changed)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME_COARSE);
	struct timespec tick;

	/* A future time means that the clock was set back: do not wait. */
	if (clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0 && now >= changed &&
	    now - changed < timespec_nsec(&tick))
		nanosleep(&tick, NULL);
}

/* Hashes a file in a consistent state. Size and change time identify this state later. */
static int hash_file(int fd, struct audit_code *code)
{
	struct stat before, after;
	int r;

	if (fstat(fd, &before) < 0)
		return -errno;
	outlast_tick(timespec_nsec(&before.st_ctim));
	for (int attempt = 0; attempt < HASH_ATTEMPTS; attempt++) {
		r = hash_from(fd, 0, code);
		if (r < 0)
			return r;
		if (fstat(fd, &after) < 0)
			return -errno;
		code->changed = timespec_nsec(&after.st_ctim);
		if (timespec_nsec(&before.st_ctim) == code->changed)
			return 0;
		outlast_tick(code->changed);
		before = after;
	}
	code->have_digest = false;
	return -EBUSY;
}

/* --- files -------------------------------------------------------------------------------- */

static char *absolute(const struct code_question *question, const char *name)
{
	char *path;

	if (name[0] == '/')
		return strdup(name);
	return asprintf(&path, "%s/%s", question->workdir, name) < 0 ? NULL : path;
}

/* Returns the path of the open file as the kernel reports it, with links resolved. */
static char *path_of(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	return strndup(path, (size_t)n);
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Opens a file in the other root directory; links cannot leave it. */
static int open_elsewhere(const struct code_question *question, const char *name)
{
	const struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT};
	_cleanup_(freep) char *path = absolute(question, name);

	return path ? (int)syscall(SYS_openat2, question->root_fd, path, &how, sizeof(how)) : -1;
}

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/*
 * Opens a regular file or the null device, without blocking on a FIFO. Returns -EISDIR or -EINVAL
 * for other files.
 */
static int open_regular(const struct code_question *question, const char *name, int *ret_fd)
{
	_cleanup_(closep) int fd = -1;
	struct stat st;

	fd = question->elsewhere ? open_elsewhere(question, name)
				 : openat(question->workdir_fd, name, OPEN_FLAGS);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !is_null_device(&st))
		return -EINVAL;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* After these errors an interpreter searches further, or reports a missing file. */
static bool is_missing(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -EISDIR || error == -ELOOP ||
	       error == -ENAMETOOLONG;
}

/*
 * Stores the names under which the file may be opened: as given, absolute, and as the kernel
 * formats it.
 */
static int note_names(const struct code_question *question, const char *name, struct code *code)
{
	_cleanup_(freep) char *whole =
		absolute(question, strncmp(name, "./", 2) == 0 ? name + 2 : name);

	if (!whole)
		return -ENOMEM;
	code->audit.names[0] = name_hash(name);
	code->audit.names[1] = name_hash(whole);
	code->audit.names[2] = name_hash(code->audit.path);
	return 0;
}

/* On success `code` owns `fd`. -1: the file does not exist. */
static int from_open_file(const struct code_question *question, const char *name, int fd,
			  struct code *code)
{
	int r;

	code->audit.source = AUDIT_CODE_FILE;
	code->audit.path = fd < 0 || question->elsewhere ? NULL : path_of(fd);
	if (!code->audit.path)
		code->audit.path = absolute(question, name);
	if (!code->audit.path)
		return -ENOMEM;
	r = note_names(question, name, code);
	if (r == 0 && fd >= 0)
		r = hash_file(fd, &code->audit);
	if (r == 0)
		code->fd = fd;
	return r;
}

static int from_file(const struct code_question *question, const char *name, struct code *code)
{
	_cleanup_(closep) int fd = -1;
	int r = open_regular(question, name, &fd);

	if (r == 0 || is_missing(r))
		r = from_open_file(question, name, fd, code);
	else
		code->audit.path = absolute(question, name);
	if (r == 0)
		(void)TAKE_FD(fd);
	return r;
}

/* --- standard input ----------------------------------------------------------------------- */

static bool is_standard_input(const char *name)
{
	return strcmp(name, "/dev/stdin") == 0 || strcmp(name, "/dev/fd/0") == 0 ||
	       strcmp(name, "/proc/self/fd/0") == 0;
}

/* At a terminal the code arrives line by line while it runs: there is nothing to hash. */
static int from_stdin(const struct code_question *question, struct code *code)
{
	struct stat st;
	off_t offset;

	if (fstat(question->stdin_fd, &st) < 0)
		return 0;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		code->audit.source = AUDIT_CODE_STDIN;
		code->stream = true;
		return 0;
	}
	if (is_null_device(&st)) { /* no code */
		code->audit.source = AUDIT_CODE_STDIN;
		return hash_from(question->stdin_fd, 0, &code->audit);
	}
	offset = lseek(question->stdin_fd, 0, SEEK_CUR);
	if (!S_ISREG(st.st_mode) || offset < 0)
		return 0;
	code->audit.source = AUDIT_CODE_STDIN;
	return hash_from(question->stdin_fd, offset, &code->audit);
}

/* --- a script as the program -------------------------------------------------------------- */

/* *ret_name: the path of the program; the caller frees it. */
static int open_program(const struct code_question *question, const char *name, int *ret_fd,
			char **ret_name)
{
	const char *path = question->path ? question->path : "/bin:/usr/bin";
	int r = -ENOENT;

	if (question->elsewhere || strchr(name, '/')) {
		if (!question->elsewhere && faccessat(question->workdir_fd, name, X_OK, 0) < 0)
			return -ENOENT;
		*ret_name = strdup(name);
		return *ret_name ? open_regular(question, name, ret_fd) : -ENOMEM;
	}
	while (*name) {
		size_t length = strcspn(path, ":");
		_cleanup_(freep) char *candidate = NULL;

		if (asprintf(&candidate, "%.*s%s%s", (int)length, path, length ? "/" : "", name) <
		    0) {
			candidate = NULL;
			return -ENOMEM;
		}
		if (faccessat(question->workdir_fd, candidate, X_OK, 0) == 0) {
			r = open_regular(question, candidate, ret_fd);
			if (!is_missing(r)) {
				*ret_name = TAKE_PTR(candidate);
				return r;
			}
		}
		if (path[length] == '\0')
			break;
		path += length + 1;
	}
	return r;
}

/* Returns the language of "#!/usr/bin/env -S python3 -u" and similar lines. */
static const char *shebang_language(char *line)
{
	const char *argv[16];
	struct arguments_code found;
	size_t argc = 0;
	char *save = NULL;

	line[strcspn(line, "\n")] = '\0';
	for (char *word = strtok_r(line, " \t", &save); word && argc + 1 < ARRAY_SIZE(argv);
	     word = strtok_r(NULL, " \t", &save))
		if (strcmp(word, "-S") != 0)
			argv[argc++] = word;
	argv[argc++] = "script";
	return arguments_find_code(argc, argv, &found) < 0 ? NULL : found.language;
}

/*
 * Text in the program file is code. Any other file is a program, and an unreadable one cannot be a
 * script.
 */
static int from_program(const struct code_question *question, struct code *code)
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *name = NULL;
	char head[256];
	ssize_t n;
	int r = open_program(question, question->argv[0], &fd, &name);

	if (r == -EAGAIN)
		code->audit.path = absolute(question, name);
	if (r < 0)
		return r == -EAGAIN || r == -ENOMEM ? r : 0;
	n = pread(fd, head, sizeof(head) - 1, 0);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	head[n] = '\0';
	if (strncmp(head, "#!", 2) == 0)
		code->language = shebang_language(head + 2);
	else if (strlen(head) == (size_t)n)
		code->language = "shell"; /* execvp(3) runs it with /bin/sh */
	else
		return 0;
	r = from_open_file(question, name, fd, code);
	if (r == 0)
		(void)TAKE_FD(fd);
	return r;
}

/* ------------------------------------------------------------------------------------------ */

static int identify(const struct code_question *question, struct code *code)
{
	const char *const *argv = (const char *const *)question->argv;
	struct arguments_code found;
	const char *name;
	int r;

	r = arguments_find_code(question->argc, argv, &found);
	if (r < 0)
		return r;
	code->language = found.language;
	switch (found.kind) {
	case ARGUMENTS_CODE_ARGUMENT:
		code->audit.source = AUDIT_CODE_ARGUMENT;
		r = arguments_hash_code(question->argc, argv, code->audit.digest,
					&code->audit.length);
		code->audit.have_digest = r == 0;
		return r;
	case ARGUMENTS_CODE_FILE:
		name = argv[found.index] + found.offset;
		return is_standard_input(name) ? from_stdin(question, code)
					       : from_file(question, name, code);
	case ARGUMENTS_CODE_STDIN:
		return from_stdin(question, code);
	case ARGUMENTS_CODE_NONE:
		break;
	}
	return found.language ? 0 : from_program(question, code);
}

static int cannot_hash(int error, const struct code *code, struct failure *failure)
{
	const char *path = code->audit.path ? code->audit.path : "the code";

	if (error == -EFBIG)
		return failure_set(
			failure, EFBIG,
			"the code is larger than %llu MB: too large to be recorded, so it is "
			"not run",
			CODE_MAX_SIZE >> 20);
	if (error == -EAGAIN)
		return failure_set(
			failure, EAGAIN,
			"%s cannot be hashed, as another process has a lease on it, and code "
			"without a digest is not run",
			path);
	if (error == -EBUSY)
		return failure_set(
			failure, EBUSY,
			"%s cannot be hashed, as it is being written, and code without a "
			"digest is not run",
			path);
	if (error == -EINVAL)
		return failure_set(failure, EINVAL,
				   "%s cannot be hashed, as it is not a regular file, and code "
				   "without a digest is not run",
				   path);
	return failure_set(failure, error,
			   "%s cannot be hashed, and code without a digest is not run: %m", path);
}

int code_identify(const struct code_question *question, struct code *ret_code,
		  struct failure *failure)
{
	struct code code = {.fd = -1};
	int r;

	r = identify(question, &code);
	if (r < 0) {
		cannot_hash(r, &code, failure);
		code_release(&code);
		return r;
	}
	*ret_code = code;
	return 0;
}

void code_release(struct code *code)
{
	free(code->audit.path);
	closep(&code->fd);
	*code = (struct code){.fd = -1};
}
