/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of any bytes as a log: closed segments, plain and compressed, the one that grows, a
 * key and an index. It can be verified, with a key and without, indexed and searched; and a search
 * finds the same with the index as without.
 *
 * The input's first byte says what is there; then the files, each behind two bytes that say how
 * long it is.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "audit/search/index.h"
#include "audit/search/search.h"
#include "audit/seal/verify.h"
#include "base/io.h"

#define INDEX "index.sqlite"

static const char *const names[] = {
	"current.jsonl", "00000000000000000001.jsonl",	  "00000000000000000006.jsonl.gz",
	"seal.key",	 "00000000000000000001.jsonl.gz", INDEX,
};

static char directory[] = "/dev/shm/cordon-fuzz-XXXXXX";
static int directory_fd = -1;

static void empty(void)
{
	int copy = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(copy);
	const struct dirent *found;

	if (!dir)
		abort();
	while ((found = readdir(dir)))
		if (found->d_name[0] != '.')
			unlinkat(directory_fd, found->d_name, 0);
	closedir(dir);
}

static void clean_up(void)
{
	empty();
	rmdir(directory);
}

static void prepare(void)
{
	if (directory_fd >= 0)
		return;
	if (!mkdtemp(directory))
		abort();
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	atexit(clean_up);
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || io_write_all(fd, data, size) < 0)
		abort();
	close(fd);
}

static void count(void *data, const char *text)
{
	if (!text[0])
		abort();
	(*(uint64_t *)data)++;
}

static void verify(bool with_key)
{
	static const unsigned char key[SEAL_KEY_SIZE] = {7};
	uint64_t problems = 0;
	const struct verify_options options = {
		.keys = &key, .key_count = with_key, .problem = count, .data = &problems};
	struct verify_result result;

	if (verify_log(directory, &options, &result, NULL) == 0 && problems != result.problems)
		abort();
}

static int visit(void *data, json_t *record)
{
	uint64_t *sum = data;

	*sum = *sum * 31 + (uint64_t)json_integer_value(json_object_get(record, "seq")) + 1;
	return 0;
}

static int search(bool no_index, uint64_t *ret_sum, struct search_result *ret_result)
{
	const struct audit_query query = {.action = "denial"};
	const struct search_options options = {.no_index = no_index};

	*ret_sum = 0;
	return audit_search(directory, &query, &options, visit, ret_sum, ret_result, NULL);
}

/*
 * `fresh`: the index is of this log. One that is not shows where else to look, but may not break
 * anything.
 */
static void look(bool fresh)
{
	struct search_result with, without;
	uint64_t sum_with, sum_without;

	if (search(true, &sum_without, &without) < 0)
		return;
	if (search(false, &sum_with, &with) < 0)
		return;
	if (fresh && with.used_index && !with.stale &&
	    (sum_with != sum_without || with.found != without.found))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct index_result result;
	uint8_t flags;

	if (size < 1)
		return 0;
	prepare();
	empty();
	flags = data[0];
	data++;
	size--;
	for (size_t i = 0; i < ARRAY_SIZE(names) && size >= 2; i++) {
		size_t length = (size_t)data[0] << 8 | data[1];

		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		if (flags & 1u << i)
			write_file(names[i], data, length);
		data += length;
		size -= length;
	}
	verify(false);
	verify(true);
	if (flags & 0x80) {
		/* An index that somebody else made, or none. */
		bool rebuild = flags & 0x40;

		look(false);
		if (index_update(directory, rebuild, true, NULL, &result, NULL) == 0)
			look(rebuild);
	}
	return 0;
}
