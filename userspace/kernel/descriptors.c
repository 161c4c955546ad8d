/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and checks a process's descriptors with a file iterator (kernel/bpf/task_iter.c). */
#include <bpf/bpf.h>
#include <string.h>

#include "kernel/handle.h"

static int start_iterator(int program_fd, int pidfd)
{
	_cleanup_(closep) int link = -1;
	union bpf_iter_link_info info = {.task = {.pid_fd = (__u32)pidfd}};
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	int iterator;

	link = bpf_link_create(program_fd, 0, BPF_TRACE_ITER, &options);
	if (link < 0)
		return -errno;
	iterator = bpf_iter_create(link);
	return iterator < 0 ? -errno : iterator;
}

/* Reads to the end. The caller frees *ret_data. */
static int read_all(int fd, char **ret_data, size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0, capacity = 0;

	for (;;) {
		ssize_t n;

		if (capacity - size < 4096) {
			char *grown = realloc(data, capacity + 65536);

			if (!grown)
				return -ENOMEM;
			data = grown;
			capacity += 65536;
		}
		n = read(fd, data + size, capacity - size);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
	}
	*ret_data = TAKE_PTR(data);
	*ret_size = size;
	return 0;
}

int enforcement_for_each_descriptor(struct enforcement *e, int pidfd,
				    int (*visit)(const struct cordon_descriptor_record *record,
						 const char *name, void *context),
				    void *context)
{
	_cleanup_(closep) int iterator = start_iterator(e->list_descriptors_fd, pidfd);
	_cleanup_(freep) char *data = NULL;
	size_t size, at = 0;
	int r;

	if (iterator < 0)
		return iterator;
	r = read_all(iterator, &data, &size);
	while (r == 0 && at < size) {
		struct cordon_descriptor_record record;

		if (size - at < sizeof(record))
			return -EBADMSG;
		memcpy(&record, data + at, sizeof(record));
		at += sizeof(record);
		if (size - at < record.name_length)
			return -EBADMSG;
		r = visit(&record, data + at, context);
		at += record.name_length;
	}
	return r;
}
