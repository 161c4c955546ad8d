/* SPDX-License-Identifier: Apache-2.0 */
/* Checks directories of requests without waiting for file systems in the loop. */
#include "daemon/execution/places.h"

#include <string.h>

#include "daemon/execution/context.h"
#include "daemon/host/workdir.h"

static int check(int fd, bool cached, const struct log_use *log, struct failure *failure)
{
	static const char *const own[] = {PROTOCOL_DIRECTORY, NULL};
	dev_t device;
	ino_t inode;
	int r = workdir_check(fd, cached, DAEMON_PASSWD, own, failure);

	if (r < 0)
		return r;
	logs_where(log, &device, &inode);
	return workdir_check_log(fd, cached, logs_directory(log), device, inode, failure);
}

bool places_check_cached(struct places *places, const struct protocol_fds *fds, bool member,
			 const struct log_use *log)
{
	bool worker = false;

	places->count = member || fds->count == 0 ? fds->count : 1;
	for (size_t i = 0; i < places->count; i++) {
		places->of[i].result = check(fds->fd[i], true, log, &places->of[i].failure);
		worker |= places->of[i].result == -EAGAIN;
	}
	return worker;
}

void places_check(const struct places *places, int first, const struct log_use *log, FILE *to)
{
	struct places checked = *places;

	for (size_t i = 0; i < places->count; i++) {
		struct place_check *place = &checked.of[i];

		if (place->result != -EAGAIN)
			continue;
		place->failure = (struct failure){};
		place->result = check(first + (int)i, false, log, &place->failure);
	}
	(void)fwrite(&checked, sizeof(checked), 1, to);
}

int places_take(struct places *places, const char *data, size_t size)
{
	struct places checked;

	if (size != sizeof(checked))
		return -EPROTO;
	memcpy(&checked, data, sizeof(checked));
	if (checked.count != places->count)
		return -EPROTO;
	for (size_t i = 0; i < checked.count; i++)
		checked.of[i].failure.text[sizeof(checked.of[i].failure.text) - 1] = '\0';
	*places = checked;
	return 0;
}
