/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/recall.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/segment.h"
#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref, recall_json_decrefp)

/* One line, without its end; one that is no record says nothing. */
static void take_line(const char *line, size_t size, const char *id, struct recall *recall)
{
	_cleanup_(recall_json_decrefp) json_t *record = NULL;
	const char *action = "", *of = "";
	json_int_t sequence = 0;

	/* Most lines are of others. */
	if (!memmem(line, size, id, strlen(id)))
		return;
	record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (json_unpack(record, "{s:{s:s},s:{s:{s:s},s?:I}}", "event", "action", &action, "cordon",
			"execution", "id", &of, "sequence", &sequence) < 0 ||
	    strcmp(of, id) != 0)
		return;
	recall->started |= strcmp(action, "execution-start") == 0;
	recall->ended |= strcmp(action, "execution-end") == 0;
	if (sequence > 0 && (uint64_t)sequence > recall->last_sequence)
		recall->last_sequence = (uint64_t)sequence;
}

static int read_window(int fd, char *data, off_t from, size_t *size)
{
	size_t done = 0;

	while (done < *size) {
		ssize_t n = pread(fd, data + done, *size - done, from + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*size = done;
	return 0;
}

int recall_execution(const char *directory, const char *id, struct recall *ret_recall)
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *data = NULL;
	struct recall recall = {0};
	char path[PATH_MAX];
	struct stat file;
	size_t size, start = 0;
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", directory, SEGMENT_NAME) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &file) < 0)
		return -errno;
	size = file.st_size < (off_t)RECALL_WINDOW ? (size_t)file.st_size : RECALL_WINDOW;
	data = malloc(size + 1);
	if (!data)
		return -ENOMEM;
	r = read_window(fd, data, file.st_size - (off_t)size, &size);
	if (r < 0)
		return r;
	/* The first line may be cut; it then is no JSON. */
	while (start < size) {
		const char *newline = memchr(data + start, '\n', size - start);

		if (!newline)
			break;
		take_line(data + start, (size_t)(newline - data) - start, id, &recall);
		start = (size_t)(newline - data) + 1;
	}
	*ret_recall = recall;
	return 0;
}
