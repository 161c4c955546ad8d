/* SPDX-License-Identifier: Apache-2.0 */
/* The record that says which host, boot, build and log its segment is of. */
#include "audit/record/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/io.h"
#include "base/sha256.h"

DEFINE_CLEANUP(json_t *, json_decref, identity_json_decrefp)

/* What makes the id cordon's own: other programs get other ids of the same machine. */
static const unsigned char application[16] = {0x6b, 0x1f, 0x0c, 0x53, 0x2d, 0x9e, 0x4a, 0x71,
					      0x8f, 0x36, 0xe4, 0x05, 0xd7, 0x92, 0x1b, 0xc8};

/* 2026-11-25T00:00:00.000000000Z */
#define TIME_LENGTH 30u

static const char head[] = "\"event\":{\"kind\":\"event\",\"action\":\"identity\","
			   "\"outcome\":\"success\"},";
static const char log_member[] = ",\"log\":\"";
static const char record_end[] = "\"}}";

int identity_host_id(const char *machine_id, char ret_host[IDENTITY_HOST_SIZE])
{
	unsigned char key[16], digest[SHA256_SIZE];
	char digits[IDENTITY_HOST_SIZE];
	size_t size = strcspn(machine_id, "\n");
	unsigned int digest_size = sizeof(digest);

	if (size != sizeof(digits) - 1)
		return -EINVAL;
	memcpy(digits, machine_id, size);
	digits[size] = '\0';
	if (hex_decode(digits, key, sizeof(key)) < 0)
		return -EINVAL;
	if (!HMAC(EVP_sha256(), key, sizeof(key), application, sizeof(application), digest,
		  &digest_size))
		return -EIO;
	/* As systemd does it, which marks it as a UUID of version 4. */
	digest[6] = (unsigned char)((digest[6] & 0x0f) | 0x40);
	digest[8] = (unsigned char)((digest[8] & 0x3f) | 0x80);
	hex_encode(digest, sizeof(key), ret_host);
	return 0;
}

/* A small file's first line; empty: it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
	_cleanup_(freep) char *data = NULL;
	size_t length;

	line[0] = '\0';
	if (io_read_file(AT_FDCWD, path, 4096, &data, &length) < 0)
		return;
	data[strcspn(data, "\n")] = '\0';
	snprintf(line, size, "%s", data);
}

void identity_of_host(struct identity *ret_identity)
{
	struct identity identity = {};
	struct utsname names;
	char machine[64];
	unsigned char boot[16];

	read_line("/etc/machine-id", machine, sizeof(machine));
	if (identity_host_id(machine, identity.host) < 0)
		identity.host[0] = '\0';
	read_line("/proc/sys/kernel/random/boot_id", identity.boot, sizeof(identity.boot));
	if (uuid_parse(identity.boot, boot) < 0)
		identity.boot[0] = '\0';
	if (uname(&names) == 0) {
		snprintf(identity.name, sizeof(identity.name), "%s", names.nodename);
		snprintf(identity.kernel, sizeof(identity.kernel), "%s", names.release);
	}
	*ret_identity = identity;
}

/* NULL where there is none, or where it is no UTF-8. */
static json_t *text_or_null(const char *text)
{
	json_t *value = text && text[0] ? json_string(text) : NULL;

	return value ? value : json_null();
}

static json_t *labels_object(const char *const *labels)
{
	json_t *object = json_object();

	for (; labels && labels[0]; labels += 2)
		json_object_set_new(object, labels[0], text_or_null(labels[1]));
	return object;
}

static json_t *members(const struct identity *identity)
{
	return json_pack("{s:{s:o, s:o, s:{s:o}, s:{s:o}}, s:{s:i, s:{s:o, s:o, s:o}}}", "host",
			 "id", text_or_null(identity->host), "name", text_or_null(identity->name),
			 "boot", "id", text_or_null(identity->boot), "os", "kernel",
			 text_or_null(identity->kernel), "cordon", "schema", 1, "identity",
			 "tenant", text_or_null(identity->tenant), "labels",
			 labels_object(identity->labels), "version",
			 text_or_null(identity->version));
}

int identity_format(const struct identity *identity, char text[IDENTITY_TEXT_MAX])
{
	_cleanup_(identity_json_decrefp) json_t *object = members(identity);
	_cleanup_(freep) char *dumped = NULL;
	size_t size;

	if (object)
		dumped = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!dumped)
		return -ENOMEM;
	/* Without the braces around it, and those that end what the log's id still goes into. */
	size = strlen(dumped) - 4;
	if (size >= IDENTITY_TEXT_MAX)
		return -EMSGSIZE;
	memcpy(text, dumped + 1, size);
	text[size] = '\0';
	return 0;
}

void identity_record(const char *text, const char log[UUID_TEXT_SIZE], const char *time,
		     char record[IDENTITY_LINE_MAX])
{
	snprintf(record, IDENTITY_LINE_MAX, "{\"@timestamp\":\"%s\",%s%s%s%s%s}", time, head, text,
		 log_member, log, record_end);
}

bool identity_of_line(const char *line, size_t size, char ret_log[UUID_TEXT_SIZE],
		      const char **ret_text, size_t *ret_size)
{
	static const size_t chain_size = sizeof(",\"chain\":\"\"}") - 1 + 2 * SHA256_SIZE;
	static const size_t after_text =
		sizeof(log_member) - 1 + UUID_TEXT_SIZE - 1 + sizeof(record_end) - 1;
	const char *event, *end;
	unsigned char id[16];
	char log[UUID_TEXT_SIZE];
	size_t skip;

	/* {"seq":N,"@timestamp":"..." and then the event, always in this order. */
	event = memchr(line, ',', size < 32 ? size : 32);
	skip = sizeof(",\"@timestamp\":\"\",") - 1 + TIME_LENGTH;
	if (!event ||
	    (size_t)(event - line) + skip + sizeof(head) - 1 + after_text + chain_size > size)
		return false;
	event += skip;
	end = line + size - chain_size - after_text;
	if (memcmp(event, head, sizeof(head) - 1) != 0 || end < event + sizeof(head) - 1 ||
	    memcmp(end, log_member, sizeof(log_member) - 1) != 0 ||
	    memcmp(end + after_text - (sizeof(record_end) - 1), record_end,
		   sizeof(record_end) - 1) != 0)
		return false;
	memcpy(log, end + sizeof(log_member) - 1, UUID_TEXT_SIZE - 1);
	log[UUID_TEXT_SIZE - 1] = '\0';
	if (uuid_parse(log, id) < 0)
		return false;
	memcpy(ret_log, log, sizeof(log));
	if (ret_text) {
		*ret_text = event + sizeof(head) - 1;
		*ret_size = (size_t)(end - *ret_text);
	}
	return true;
}

bool identity_host_of_text(const char *text, size_t size, char ret_host[IDENTITY_HOST_SIZE])
{
	static const char member[] = "\"host\":{\"id\":\"";
	unsigned char id[16];
	char host[IDENTITY_HOST_SIZE];

	if (size < sizeof(member) - 1 + sizeof(host) ||
	    memcmp(text, member, sizeof(member) - 1) != 0)
		return false;
	memcpy(host, text + sizeof(member) - 1, sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	if (hex_decode(host, id, sizeof(id)) < 0)
		return false;
	memcpy(ret_host, host, sizeof(host));
	return true;
}
