/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that an execution begins with and that its policy does not grant. */
#include "daemon/host/descriptors.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/socket.h>

#include "control/protocol.h"

static bool is_named(const struct cordon_descriptor_record *record, const char *name,
		     const char *expected)
{
	return record->name_length == strlen(expected) &&
	       memcmp(name, expected, record->name_length) == 0;
}

/* Anonymous inodes that only pass on what their holder puts into them. */
static bool is_harmless_stream(const struct cordon_descriptor_record *record, const char *name)
{
	static const char *const names[] = {"[eventpoll]", "[eventfd]", "[timerfd]", "[signalfd]"};

	if (record->magic == PIPEFS_MAGIC)
		return true;
	if (record->magic != ANON_INODE_FS_MAGIC)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_named(record, name, names[i]))
			return true;
	return false;
}

static bool is_granted(const struct cordon_descriptor_record *record, const char *name)
{
	switch (record->kind) {
	case CORDON_DESCRIPTOR_FILE:
		return record->missing == 0;
	case CORDON_DESCRIPTOR_STREAM:
		return is_harmless_stream(record, name);
	default:
		return false;
	}
}

char *descriptor_text(const struct cordon_descriptor_record *record, const char *name, int *ret_r)
{
	bool reads = record->rights & CORDON_RIGHT(CORDON_READ);
	bool writes = record->rights & CORDON_RIGHT(CORDON_WRITE);
	char *text;

	*ret_r = 0;
	if (is_granted(record, name))
		return NULL;
	if (record->magic == SOCKFS_MAGIC) {
		name = "socket";
	} else if (record->kind == CORDON_DESCRIPTOR_OTHER) {
		name = "an object of the kernel";
	} else if (asprintf(&text, "%u: %.*s (%s%s%s)", record->fd, (int)record->name_length, name,
			    reads ? "read" : "", reads && writes ? ", " : "",
			    writes ? "write" : "") >= 0) {
		return text;
	} else {
		*ret_r = -ENOMEM;
		return NULL;
	}
	if (asprintf(&text, "%u: %s", record->fd, name) >= 0)
		return text;
	*ret_r = -ENOMEM;
	return NULL;
}

struct collection {
	struct descriptor_check check;
	size_t count;
};

static int collect(const struct cordon_descriptor_record *record, const char *name, void *context)
{
	struct collection *collection = context;
	char *text, **grown;
	int r;

	text = descriptor_text(record, name, &r);
	if (!text)
		return r;
	grown = reallocarray(collection->check.outside, collection->count + 2, sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	grown[collection->count++] = text;
	grown[collection->count] = NULL;
	collection->check.outside = grown;
	collection->check.refused |= record->fd > STDERR_FILENO;
	collection->check.ring |= is_named(record, name, "[io_uring]");
	collection->check.internet |= record->family == AF_INET || record->family == AF_INET6;
	return 0;
}

int descriptors_check(struct enforcement *e, int pidfd, struct descriptor_check *ret_check)
{
	struct collection collection = {};
	int r = enforcement_for_each_descriptor(e, pidfd, collect, &collection);

	if (r < 0) {
		protocol_strings_free(collection.check.outside);
		return r;
	}
	*ret_check = collection.check;
	return 0;
}
