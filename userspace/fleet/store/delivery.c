/* SPDX-License-Identifier: Apache-2.0 */
/* Parses subject, headers and encoding of a message, which may all be malicious. */
#include "fleet/store/delivery.h"

#include <string.h>
#include <zlib.h>

#include "audit/storage/unchained.h"

#define SUBJECT_HEAD "cordon.log."

static bool id_has(const char *id, size_t size, const char *characters)
{
	return size > 0 && size < DELIVERY_ID_SIZE && strspn(id, characters) >= size;
}

bool delivery_id_is_valid(const char *id)
{
	return id_has(id, strlen(id), "0123456789abcdef-") && id[0] != '-';
}

static void copy_id(char to[DELIVERY_ID_SIZE], const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size] = '\0';
}

/* Parses HOST.LOG.REST after `head`. Returns REST, or NULL if the subject has another form. */
static const char *read_ids(const char *subject, const char *head, struct delivery *delivery)
{
	const char *host = subject + strlen(head), *log, *rest;

	if (strncmp(subject, head, strlen(head)) != 0)
		return NULL;
	log = strchr(host, '.');
	rest = log ? strchr(log + 1, '.') : NULL;
	if (!rest || !id_has(host, (size_t)(log - host), "0123456789abcdef") ||
	    !id_has(log + 1, (size_t)(rest - log - 1), "0123456789abcdef-") || log[1] == '-')
		return NULL;
	copy_id(delivery->host, host, (size_t)(log - host));
	copy_id(delivery->log, log + 1, (size_t)(rest - log - 1));
	return rest + 1;
}

/*
 * Sets the host from a malformed subject if it has one. The server lets only the host's own
 * certificate publish on subjects with its ID. Otherwise sets nothing.
 */
static void read_host(const char *subject, const char *head, struct delivery *delivery)
{
	const char *host = subject + strlen(head);
	size_t size = strncmp(subject, head, strlen(head)) == 0 ? strcspn(host, ".") : 0;

	if (id_has(host, size, "0123456789abcdef"))
		copy_id(delivery->host, host, size);
}

int delivery_read_subject(const char *subject, struct delivery *delivery, struct failure *failure)
{
	struct delivery found = *delivery;
	const char *lane = read_ids(subject, SUBJECT_HEAD, &found);

	if (!lane)
		read_host(subject, SUBJECT_HEAD, delivery);
	if (!lane || (strcmp(lane, "bulk") != 0 && strcmp(lane, "first") != 0))
		return failure_set(failure, EINVAL,
				   "the subject is not cordon.log.<host id>.<log id>.<bulk|first>");
	found.first_lane = strcmp(lane, "first") == 0;
	*delivery = found;
	return 0;
}

int delivery_read_policy_subject(const char *subject, struct delivery *delivery,
				 const char **ret_digest, struct failure *failure)
{
	const char *digest = read_ids(subject, "cordon.policy.", delivery);

	if (!digest)
		return failure_set(failure, EINVAL,
				   "the subject is not cordon.policy.<host id>.<log id>.<digest>");
	*ret_digest = digest;
	return 0;
}

static bool read_range(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	unsigned long long first, last;
	char end;

	if (strspn(text, "0123456789-") != strlen(text) || text[0] == '-')
		return false;
	if (sscanf(text, "%20llu-%20llu%c", &first, &last, &end) != 2 || first == 0 || last < first)
		return false;
	*ret_first = first;
	*ret_last = last;
	return true;
}

int delivery_read_headers(struct delivery *delivery, const char *host, const char *log,
			  const char *sequences, struct failure *failure)
{
	if (host && strcmp(host, delivery->host) != 0)
		return failure_set(failure, EBADMSG,
				   "the header Cordon-Host names another host than the subject");
	if (log && strcmp(log, delivery->log) != 0)
		return failure_set(failure, EBADMSG,
				   "the header Cordon-Log names another log than the subject");
	if (sequences && !read_range(sequences, &delivery->first, &delivery->last))
		return failure_set(failure, EBADMSG, "the header Cordon-Seq is not <first>-<last>");
	return 0;
}

static int inflate_all(z_stream *stream, struct buffer *text)
{
	int r;

	do {
		if (text->size >= DELIVERY_SIZE_MAX)
			return -EFBIG;
		if (!buffer_reserve(text, 1u << 16))
			return -ENOMEM;
		stream->next_out = (unsigned char *)text->data + text->size;
		stream->avail_out = 1u << 16;
		r = inflate(stream, Z_NO_FLUSH);
		text->size += (1u << 16) - stream->avail_out;
	} while (r == Z_OK);
	return r == Z_STREAM_END && stream->avail_in == 0 ? 0 : -EBADMSG;
}

int delivery_inflate(const void *data, size_t size, struct buffer *ret_text)
{
	z_stream stream = {.next_in = (unsigned char *)data, .avail_in = (unsigned int)size};
	struct buffer text = {};
	int r;

	/* 16 selects the gzip format. */
	if (inflateInit2(&stream, 15 + 16) != Z_OK)
		return -ENOMEM;
	r = inflate_all(&stream, &text);
	inflateEnd(&stream);
	if (r < 0) {
		buffer_free(&text);
		return r;
	}
	*ret_text = text;
	return 0;
}

int delivery_chain(const char *header, const char *data, size_t size, struct buffer *ret_lines,
		   struct failure *failure)
{
	unsigned char before[SHA256_SIZE], last[SHA256_SIZE];
	int r;

	if (unchained_parse(header, before, last) < 0)
		return failure_set(failure, EBADMSG,
				   "the header Cordon-Chain is not <before>-<last>");
	r = unchained_restore(data, size, before, last, DELIVERY_SIZE_MAX, ret_lines);
	if (r == -EFBIG)
		return failure_set(failure, EBADMSG, "it holds more than 4 MiB");
	if (r == -EBADMSG)
		return failure_set(failure, EBADMSG,
				   "its records do not lead to the chain value in its header "
				   "Cordon-Chain");
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}
