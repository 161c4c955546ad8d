/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records each file and name that a compilation looked at, and checks later whether they have
 * changed.
 */
#include "policy/source/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sha256.h"
#include "policy/source/source.h"

enum kind {
	ABSENT, /* the name does not exist */
	PRESENT,
	CONTENT, /* was read: device, inode and digest are compared */
};

struct input {
	enum kind kind;
	const char *path;
	dev_t device;
	ino_t inode;
	bool local; /* open(2) needs no file server, see is_local() */
	unsigned char digest[SHA256_SIZE];
};

struct policy_inputs {
	struct arena *arena;
	struct input *list;
	size_t count;
};

struct policy_inputs *policy_inputs_new(void)
{
	struct policy_inputs *inputs = calloc(1, sizeof(*inputs));

	if (!inputs)
		return NULL;
	inputs->arena = arena_new();
	if (!inputs->arena) {
		free(inputs);
		return NULL;
	}
	return inputs;
}

void policy_inputs_free(struct policy_inputs *inputs)
{
	if (!inputs)
		return;
	arena_free(inputs->arena);
	free(inputs);
}

static int add(struct policy_inputs *inputs, const char *path, const struct input *input)
{
	struct input *list =
		arena_grow(inputs->arena, inputs->list, inputs->count, sizeof(*inputs->list));
	const char *copy = arena_copy(inputs->arena, path, strlen(path));

	if (!list || !copy)
		return -ENOMEM;
	inputs->list = list;
	list[inputs->count] = *input;
	list[inputs->count++].path = copy;
	return 0;
}

int policy_inputs_add_name(struct policy_inputs *inputs, const char *path, bool found)
{
	const struct input input = {.kind = found ? PRESENT : ABSENT};

	return inputs ? add(inputs, path, &input) : 0;
}

/*
 * Local file systems: open(2) of a file with cached dentry and inode does not block. Overlayfs is
 * excluded, because its layers may be on any file system.
 */
static bool is_local(const char *path)
{
	struct statfs found;

	if (statfs(path, &found) < 0)
		return false;
	switch ((unsigned int)found.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

int policy_inputs_add_file(struct policy_inputs *inputs, const struct source *source)
{
	struct input input = {.kind = CONTENT, .device = source->device, .inode = source->inode};
	int r;

	if (!inputs)
		return 0;
	input.local = is_local(source->path);
	r = sha256_of(source->text, source->size, input.digest);
	return r < 0 ? r : add(inputs, source->path, &input);
}

/* --- from one process to another ---------------------------------------------------------- */

struct written {
	uint32_t kind, local;
	uint64_t device, inode;
	unsigned char digest[SHA256_SIZE];
};

void policy_inputs_put(const struct policy_inputs *inputs, FILE *to)
{
	const uint64_t count = inputs->count;

	(void)fwrite(&count, sizeof(count), 1, to);
	for (size_t i = 0; i < inputs->count; i++) {
		const struct input *input = &inputs->list[i];
		struct written written;

		memset(&written, 0, sizeof(written));
		written.kind = input->kind;
		written.local = input->local;
		written.device = input->device;
		written.inode = input->inode;
		if (input->kind == CONTENT)
			memcpy(written.digest, input->digest, sizeof(written.digest));
		(void)fwrite(&written, sizeof(written), 1, to);
		parcel_put_text(to, input->path);
	}
}

static int take_one(struct policy_inputs *inputs, struct parcel *from)
{
	const void *at = parcel_take(from, sizeof(struct written));
	_cleanup_(freep) char *path = NULL;
	struct written written;
	struct input input = {};
	int r;

	if (!at)
		return -EPROTO;
	memcpy(&written, at, sizeof(written));
	r = parcel_take_text(from, &path);
	if (r < 0)
		return r;
	if (!path || written.kind > CONTENT)
		return -EPROTO;
	input.kind = (enum kind)written.kind;
	input.local = written.local;
	input.device = written.device;
	input.inode = written.inode;
	memcpy(input.digest, written.digest, sizeof(input.digest));
	return add(inputs, path, &input);
}

int policy_inputs_take(struct parcel *from, struct policy_inputs **ret_inputs)
{
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = policy_inputs_new();
	const void *at = parcel_take(from, sizeof(uint64_t));
	uint64_t count;
	int r = 0;

	if (!inputs)
		return -ENOMEM;
	if (!at)
		return -EPROTO;
	memcpy(&count, at, sizeof(count));
	for (uint64_t i = 0; r == 0 && i < count; i++)
		r = take_one(inputs, from);
	if (r < 0)
		return r;
	*ret_inputs = TAKE_PTR(inputs);
	return 0;
}

/* --- later -------------------------------------------------------------------------------- */

static bool same_content(const struct input *input)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	unsigned char digest[SHA256_SIZE];
	struct source *s;

	return a && source_read(a, input->path, input->path, &s) == 0 &&
	       s->device == input->device && s->inode == input->inode &&
	       sha256_of(s->text, s->size, digest) == 0 &&
	       memcmp(digest, input->digest, sizeof(digest)) == 0;
}

static bool is_unchanged(const struct input *input)
{
	if (input->kind == CONTENT)
		return same_content(input);
	return (access(input->path, F_OK) == 0) == (input->kind == PRESENT);
}

bool policy_inputs_unchanged(const struct policy_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (!is_unchanged(&inputs->list[i]))
			return false;
	return inputs->count > 0;
}

/* --- without waiting ---------------------------------------------------------------------- */

/* -EAGAIN: the path is not completely in the kernel's caches. */
static int open_cached(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int is_same_file(int fd, const struct input *input)
{
	struct statx found;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_TYPE, &found) < 0)
		return -errno;
	return makedev(found.stx_dev_major, found.stx_dev_minor) == input->device &&
	       found.stx_ino == input->inode && S_ISREG(found.stx_mode);
}

/*
 * Reads from the page cache. -EAGAIN: not completely cached. On older kernels tmpfs does not
 * support RWF_NOWAIT, but it is always in memory.
 */
static int read_cached(int fd, char *text, size_t size, size_t *ret_read)
{
	struct iovec part = {text, size};
	ssize_t n = preadv2(fd, &part, 1, 0, RWF_NOWAIT);
	struct statfs found;

	if (n < 0 && errno == EOPNOTSUPP && fstatfs(fd, &found) == 0 &&
	    (unsigned int)found.f_type == TMPFS_MAGIC)
		n = pread(fd, text, size, 0);
	if (n < 0)
		return -errno;
	*ret_read = (size_t)n;
	return 0;
}

static int hash_cached(int path_fd, unsigned char digest[SHA256_SIZE])
{
	_cleanup_(freep) char *text = malloc(SOURCE_SIZE_MAX + 1);
	_cleanup_(closep) int fd = -1;
	char name[32];
	struct stat st = {};
	size_t size = 0;
	int r;

	/* The symbolic link of a file descriptor needs no path lookup. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = text ? read_cached(fd, text, SOURCE_SIZE_MAX + 1, &size) : -ENOMEM;
	/* RWF_NOWAIT stops at the first page that is not cached. */
	if (r == 0 && size != (size_t)st.st_size)
		r = -EAGAIN;
	return r < 0 ? r : sha256_of(text, size, digest);
}

/* 1: unchanged; 0: changed; -EAGAIN or another error: the check would block. */
static int is_unchanged_in_caches(const struct input *input)
{
	_cleanup_(closep) int fd = open_cached(input->path);
	unsigned char digest[SHA256_SIZE];
	int r;

	if (input->kind != CONTENT)
		return fd == -EAGAIN ? fd : (fd >= 0) == (input->kind == PRESENT);
	if (fd < 0)
		return fd == -EAGAIN ? fd : 0;
	r = is_same_file(fd, input);
	if (r <= 0)
		return r;
	if (!input->local)
		return -EAGAIN;
	r = hash_cached(fd, digest);
	return r < 0 ? r : memcmp(digest, input->digest, sizeof(digest)) == 0;
}

int policy_inputs_unchanged_in_caches(const struct policy_inputs *inputs)
{
	int r = inputs->count > 0;

	for (size_t i = 0; r > 0 && i < inputs->count; i++)
		r = is_unchanged_in_caches(&inputs->list[i]);
	return r;
}
