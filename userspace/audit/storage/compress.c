/* SPDX-License-Identifier: Apache-2.0 */
/* Compressing a closed segment, in a thread of its own, so that its log goes on meanwhile. */
#include "audit/storage/compress.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "audit/storage/segments.h"
#include "audit/storage/storage.h"
#include "base/cleanup.h"

#define CHUNK (1u << 18)
#define GZIP  (15 + 16)
/* Records repeat themselves: more effort gains little. */
#define EFFORT 4
#define MEMORY 8

struct compress_job {
	pthread_t thread;
	atomic_bool done;
	int directory_fd;
	uint64_t first;
	int error;
	uint64_t bytes;
	unsigned char digest[SHA256_SIZE];
};

struct streams {
	int from, to;
	z_stream z;
	struct sha256 *hash;
	unsigned char *in, *out;
	uint64_t bytes;
};

static int write_out(struct streams *s)
{
	size_t size = CHUNK - s->z.avail_out, done = 0;

	while (done < size) {
		ssize_t n = storage_append(s->to, s->out + done, size - done);

		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	s->bytes += size;
	s->z.next_out = s->out;
	s->z.avail_out = CHUNK;
	return sha256_update(s->hash, s->out, size);
}

static int pump(struct streams *s)
{
	int flush = Z_NO_FLUSH, status = Z_OK, r;

	s->z.next_out = s->out;
	s->z.avail_out = CHUNK;
	while (status != Z_STREAM_END) {
		if (s->z.avail_in == 0 && flush == Z_NO_FLUSH) {
			ssize_t n = read(s->from, s->in, CHUNK);

			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return -errno;
			s->z.next_in = s->in;
			s->z.avail_in = (uInt)n;
			flush = n == 0 ? Z_FINISH : Z_NO_FLUSH;
		}
		status = deflate(&s->z, flush);
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return -EIO;
		if (s->z.avail_out == 0 || status == Z_STREAM_END) {
			r = write_out(s);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Retention goes by the time of the last change. */
static int keep_time(int from, int to)
{
	struct stat status;
	struct timespec times[2];

	if (fstat(from, &status) < 0)
		return -errno;
	times[0] = times[1] = status.st_mtim;
	return futimens(to, times) < 0 ? -errno : 0;
}

static int compress_segment(struct compress_job *job)
{
	_cleanup_(closep) int from = -1, to = -1;
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	_cleanup_(freep) unsigned char *in = malloc(CHUNK), *out = malloc(CHUNK);
	struct streams s = {.hash = hash, .in = in, .out = out};
	char name[SEGMENTS_NAME_SIZE];
	int r;

	if (!hash || !in || !out)
		return -ENOMEM;
	segments_name(job->first, false, name);
	from = openat(job->directory_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
	if (from < 0)
		return -errno;
	to = storage_create(job->directory_fd, COMPRESS_NAME, O_WRONLY | O_TRUNC | O_APPEND, 0640);
	if (to < 0)
		return to;
	s.from = from;
	s.to = to;
	if (deflateInit2(&s.z, EFFORT, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	r = pump(&s);
	deflateEnd(&s.z);
	if (r == 0)
		r = keep_time(from, to);
	if (r == 0)
		r = storage_sync(to);
	if (r == 0)
		r = sha256_finish(hash, job->digest);
	job->bytes = s.bytes;
	return r;
}

static void *run(void *data)
{
	struct compress_job *job = data;

	job->error = compress_segment(job);
	atomic_store(&job->done, true);
	return NULL;
}

int compress_start(struct compress *compress, int directory_fd, uint64_t first)
{
	struct compress_job *job = calloc(1, sizeof(*job));
	sigset_t all, before;
	int r;

	if (!job)
		return -ENOMEM;
	job->first = first;
	job->directory_fd = fcntl(directory_fd, F_DUPFD_CLOEXEC, 0);
	r = job->directory_fd < 0 ? errno : 0;
	/* Signals are for the thread that waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r == 0)
		r = pthread_create(&job->thread, NULL, run, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0) {
		closep(&job->directory_fd);
		free(job);
		return -r;
	}
	compress->job = job;
	compress->first = first;
	return 0;
}

static void take_results(struct compress *compress)
{
	struct compress_job *job = compress->job;

	pthread_join(job->thread, NULL);
	compress->error = job->error;
	compress->bytes = job->bytes;
	memcpy(compress->digest, job->digest, sizeof(compress->digest));
	closep(&job->directory_fd);
	free(job);
	compress->job = NULL;
}

bool compress_finish(struct compress *compress)
{
	if (!compress->job || !atomic_load(&compress->job->done))
		return false;
	take_results(compress);
	return true;
}

void compress_wait(struct compress *compress)
{
	if (compress->job)
		take_results(compress);
}
