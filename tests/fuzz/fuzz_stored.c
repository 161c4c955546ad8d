/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the daemon reads back as root. The first byte chooses the kind of file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/storage/policy_store.h"
#include "daemon/execution/state.h"
#include "daemon/host/process.h"
#include "daemon/policy/approval_file.h"
#include "fleet/ship/state.h"

struct log_use;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *logs_directory(const struct log_use *log);

/* state_save() names it; nothing is saved here. */
const char *logs_directory(const struct log_use *log)
{
	(void)log;
	return "";
}

#define DIGEST "43434343434343434343434343434343434343434343434343434343434343ab"

static char directory[] = "/dev/shm/cordon-fuzz-XXXXXX";
static int directory_fd = -1;

static void open_directory(void)
{
	if (directory_fd >= 0)
		return;
	if (!mkdtemp(directory))
		abort();
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory_fd < 0 || mkdirat(directory_fd, POLICY_STORE_NAME, 0700) < 0)
		abort();
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void read_state(const uint8_t *data, size_t size)
{
	json_t *object = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct failure failure = {};
	struct state state = {};

	if (object && state_parse(object, &state, &failure) == 0)
		state_release(&state);
	json_decref(object);
}

static void read_policy(const uint8_t *data, size_t size)
{
	struct compiled_policy *policy = NULL;
	struct failure failure = {};

	write_file(POLICY_STORE_NAME "/" DIGEST, data, size);
	if (policy_store_get(directory, DIGEST, &policy, &failure) == 0)
		compiled_policy_free(policy);
}

static void read_approval(const uint8_t *data, size_t size)
{
	struct approval_entry *entry = NULL;

	write_file(DIGEST ".json", data, size);
	if (approval_file_load(directory_fd, DIGEST ".json", &entry) == 0)
		approval_entry_free(entry);
}

static void read_cursor(const uint8_t *data, size_t size)
{
	struct ship_state state;
	char path[64];

	write_file("ship", data, size);
	snprintf(path, sizeof(path), "%s/ship", directory);
	(void)ship_state_load(path, &state);
}

/* /proc/PID/stat: the process chooses the name in it. */
static void read_status(const uint8_t *data, size_t size)
{
	struct process_status status;
	char *text = strndup((const char *)data, size);

	if (text && process_status_parse(text, &status) == 0 &&
	    memchr(status.name, '\0', sizeof(status.name)) == NULL)
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const uint8_t *, size_t) = {
		read_state, read_policy, read_approval, read_cursor, read_status};

	if (size < 1)
		return 0;
	open_directory();
	readers[data[0] % (sizeof(readers) / sizeof(readers[0]))](data + 1, size - 1);
	return 0;
}
