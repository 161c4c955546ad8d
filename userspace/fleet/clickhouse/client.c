/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the ClickHouse client over its HTTP interface, with libcurl. */
#include "fleet/clickhouse/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/retry_after.h"
#include "fleet/ship/certificate.h"

#define CONNECT_MSEC 5000L
#define ANSWER_MSEC  120000L
#define ANSWER_MAX   (64u << 20)
#define PASSWORD_MAX 4096u
/* Characters of a server's error text that a message shows at most. */
#define SAID_MAX 300
/* ClickHouse's error codes for a table or database that was not created from the schema file. */
#define UNKNOWN_TABLE	 60
#define UNKNOWN_DATABASE 81

struct clickhouse {
	const struct config_clickhouse *settings;
	const atomic_bool *cancel;
	CURL *curl;
	struct curl_slist *headers;
	struct buffer url;
	char error[CURL_ERROR_SIZE];
};

void clickhouse_close(struct clickhouse *c)
{
	curl_easy_cleanup(c->curl);
	curl_slist_free_all(c->headers);
	buffer_free(&c->url);
	free(c);
	curl_global_cleanup();
}

static size_t take_answer(char *data, size_t one, size_t size, void *context)
{
	struct buffer *answer = context;

	(void)one;
	if (answer->size + size > ANSWER_MAX)
		return 0;
	buffer_add(answer, data, size);
	return answer->failed ? 0 : size;
}

/* libcurl's progress callback: a result other than 0 ends the transfer. */
static int look_whether_cancelled(void *context, curl_off_t a, curl_off_t b, curl_off_t c,
				  curl_off_t d)
{
	const struct clickhouse *clickhouse = context;

	(void)a, (void)b, (void)c, (void)d;
	return clickhouse->cancel && atomic_load(clickhouse->cancel);
}

static int add_header(struct clickhouse *c, const char *name, const char *value,
		      struct failure *failure)
{
	_cleanup_(freep) char *header = NULL;
	struct curl_slist *headers = NULL;

	if (value[strcspn(value, "\r\n")] != '\0')
		return failure_set(failure, EINVAL, "there is a newline in user or password");
	if (asprintf(&header, "%s: %s", name, value) >= 0)
		headers = curl_slist_append(c->headers, header);
	if (!headers)
		return failure_set(failure, ENOMEM, "out of memory");
	c->headers = headers;
	return 0;
}

static int add_password(struct clickhouse *c, struct failure *failure)
{
	const char *path = c->settings->password_file;
	char *password;
	size_t size;
	int r = io_read_file(AT_FDCWD, path, PASSWORD_MAX, &password, &size);

	if (r < 0)
		return failure_set(failure, r, "cannot read the password for ClickHouse in %s: %m",
				   path);
	while (size > 0 && strchr("\r\n", password[size - 1]))
		password[--size] = '\0';
	r = add_header(c, "X-ClickHouse-Key", password, failure);
	explicit_bzero(password, size);
	free(password);
	return r;
}

static int add_headers(struct clickhouse *c, struct failure *failure)
{
	/* Send the body at once instead of waiting for "100 Continue". */
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
	int r = 0;

	if (!headers)
		return failure_set(failure, ENOMEM, "out of memory");
	c->headers = headers;
	if (c->settings->user)
		r = add_header(c, "X-ClickHouse-User", c->settings->user, failure);
	if (r == 0 && c->settings->password_file)
		r = add_password(c, failure);
	return r;
}

static CURLcode set_tls(CURL *curl, const struct config_clickhouse *settings)
{
	CURLcode c = curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);

	if (c == CURLE_OK && settings->ca)
		c = curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca);
	if (c == CURLE_OK && settings->certificate)
		c = curl_easy_setopt(curl, CURLOPT_SSLCERT, settings->certificate);
	if (c == CURLE_OK && settings->key)
		c = curl_easy_setopt(curl, CURLOPT_SSLKEY, settings->key);
	return c;
}

static CURLcode set_options(struct clickhouse *clickhouse)
{
	CURL *curl = clickhouse->curl;
	/* No redirections: requests and the password go only to the configured server. */
	CURLcode c = curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");

	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_POST, 1L);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MSEC);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ANSWER_MSEC);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, clickhouse->error);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_HTTPHEADER, clickhouse->headers);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_whether_cancelled);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_XFERINFODATA, clickhouse);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	return c == CURLE_OK ? set_tls(curl, clickhouse->settings) : c;
}

static int set_up(struct clickhouse *c, struct failure *failure)
{
	CURLcode code;
	int r;

	c->curl = curl_easy_init();
	if (!c->curl)
		return failure_set(failure, ENOMEM, "out of memory");
	r = add_headers(c, failure);
	if (r < 0)
		return r;
	code = set_options(c);
	return code == CURLE_OK
		       ? 0
		       : failure_set(failure, EINVAL, "cannot use these options for ClickHouse: %s",
				     curl_easy_strerror(code));
}

int clickhouse_open(const struct config_clickhouse *settings, const atomic_bool *cancel,
		    struct clickhouse **ret_clickhouse, struct failure *failure)
{
	struct clickhouse *c = calloc(1, sizeof(*c));
	int r;

	if (!c || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(c);
		return failure_set(failure, ENOMEM, "out of memory");
	}
	c->settings = settings;
	c->cancel = cancel;
	r = set_up(c, failure);
	if (r < 0) {
		clickhouse_close(c);
		return r;
	}
	*ret_clickhouse = c;
	return 0;
}

/* Percent-encode a value for the query string. */
static void add_escaped(struct buffer *out, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c)) {
			buffer_add(out, text, 1);
			continue;
		}
		buffer_add(out, (char[]){'%', digits[c >> 4], digits[c & 15]}, 3);
	}
}

static void add_parameter(struct buffer *out, const char *name, const char *value)
{
	buffer_literal(out, "&");
	buffer_string(out, name);
	buffer_literal(out, "=");
	add_escaped(out, value);
}

/* ClickHouse parses a parameter's value as a field of its TSV format. */
static void add_value(struct buffer *out, const struct clickhouse_parameter *p)
{
	struct buffer escaped = {};

	for (const char *at = p->value; *at; at++) {
		switch (*at) {
		case '\\':
			buffer_literal(&escaped, "\\\\");
			break;
		case '\t':
			buffer_literal(&escaped, "\\t");
			break;
		case '\n':
			buffer_literal(&escaped, "\\n");
			break;
		default:
			buffer_add(&escaped, at, 1);
		}
	}
	buffer_add(&escaped, "", 1);
	buffer_literal(out, "&param_");
	buffer_string(out, p->name);
	buffer_literal(out, "=");
	if (!escaped.failed)
		add_escaped(out, escaped.data);
	out->failed |= escaped.failed;
	buffer_free(&escaped);
}

static void begin_url(struct clickhouse *c)
{
	const char *url = c->settings->url;

	c->url.size = 0;
	c->url.failed = false;
	buffer_string(&c->url, url);
	/* The server completes the query first, so that the status also covers late errors. */
	buffer_string(&c->url, url[strlen(url) - 1] == '/' ? "?wait_end_of_query=1"
							   : "/?wait_end_of_query=1");
	add_parameter(&c->url, "database", c->settings->database);
}

static uint64_t wait_of(struct clickhouse *c)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME) / NSEC_PER_SEC;
	struct curl_header *header;

	if (curl_easy_header(c->curl, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return 0;
	return retry_after_seconds(header->value, now) * NSEC_PER_SEC;
}

static long code_of(struct clickhouse *c)
{
	struct curl_header *header;

	if (curl_easy_header(c->curl, "X-ClickHouse-Exception-Code", 0, CURLH_HEADER, -1,
			     &header) != CURLHE_OK)
		return 0;
	return strtol(header->value, NULL, 10);
}

/* Report the server's error text, up to the first character that is not printable ASCII. */
static int refused(struct clickhouse *c, long status, const struct buffer *answer,
		   struct failure *failure)
{
	long code = code_of(c);
	char said[SAID_MAX + 1];
	size_t size = 0;

	while (size < answer->size && size < SAID_MAX && answer->data[size] >= ' ' &&
	       answer->data[size] <= '~') {
		said[size] = answer->data[size];
		size++;
	}
	said[size] = '\0';
	return failure_set(failure, EAGAIN,
			   "ClickHouse at %s rejected the request: status %ld%s%s%s",
			   c->settings->url, status, said[0] ? ": " : "", said,
			   code == UNKNOWN_TABLE || code == UNKNOWN_DATABASE
				   ? "; make it with cordon's fleet/clickhouse.sql"
				   : "");
}

static CURLcode set_request(struct clickhouse *c, const struct buffer *body, struct buffer *answer)
{
	CURLcode code = curl_easy_setopt(c->curl, CURLOPT_URL, c->url.data);

	if (code == CURLE_OK)
		code = curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE,
					(curl_off_t)body->size);
	if (code == CURLE_OK)
		code = curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body->data);
	if (code == CURLE_OK)
		code = curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, answer);
	return code;
}

/* A server that rejects our certificate may close the connection without giving the reason. */
static int unreachable(const struct clickhouse *c, CURLcode code, struct failure *failure)
{
	char expired[CERTIFICATE_TEXT_SIZE];

	return failure_set(failure, EHOSTUNREACH, "cannot reach ClickHouse at %s: %s%s",
			   c->settings->url, c->error[0] ? c->error : curl_easy_strerror(code),
			   certificate_say_expired(c->settings->certificate, expired));
}

static int post(struct clickhouse *c, const struct buffer *body, struct buffer *answer,
		uint64_t *ret_wait, struct failure *failure)
{
	CURLcode code;
	long status = 0;

	*ret_wait = 0;
	buffer_add(&c->url, "", 1);
	if (c->url.failed || body->failed)
		return failure_set(failure, ENOMEM, "out of memory");
	c->error[0] = '\0';
	code = set_request(c, body, answer);
	if (code == CURLE_OK)
		code = curl_easy_perform(c->curl);
	if (code == CURLE_WRITE_ERROR)
		return answer->failed ? failure_set(failure, ENOMEM, "out of memory")
				      : failure_set(failure, EFBIG,
						    "ClickHouse at %s sent more than %u bytes",
						    c->settings->url, ANSWER_MAX);
	if (code != CURLE_OK)
		return unreachable(c, code, failure);
	(void)curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return 0;
	*ret_wait = wait_of(c);
	return refused(c, status, answer, failure);
}

int clickhouse_ask(struct clickhouse *c, const char *sql,
		   const struct clickhouse_parameter *parameters, size_t count,
		   struct buffer *answer, struct failure *failure)
{
	const struct buffer body = {.data = (char *)sql, .size = strlen(sql)};
	uint64_t wait;

	begin_url(c);
	add_parameter(&c->url, "output_format_json_quote_64bit_integers", "0");
	for (size_t i = 0; i < count; i++)
		add_value(&c->url, &parameters[i]);
	return post(c, &body, answer, &wait, failure);
}

bool clickhouse_line(const struct buffer *answer, size_t *at, const char **ret_line,
		     size_t *ret_size)
{
	const char *line, *newline;

	if (*at >= answer->size)
		return false;
	line = answer->data + *at;
	newline = memchr(line, '\n', answer->size - *at);
	*ret_line = line;
	*ret_size = newline ? (size_t)(newline - line) : answer->size - *at;
	*at += *ret_size + 1;
	return true;
}

int clickhouse_insert(struct clickhouse *c, const char *table, const char *token,
		      const struct buffer *lines, uint64_t *ret_wait, struct failure *failure)
{
	struct buffer answer = {}, query = {};
	int r;

	buffer_literal(&query, "INSERT INTO ");
	buffer_string(&query, table);
	buffer_literal(&query, " FORMAT JSONEachRow");
	buffer_add(&query, "", 1);
	if (query.failed)
		return failure_set(failure, ENOMEM, "out of memory");
	begin_url(c);
	/*
	 * Disable the server's insert buffer in memory: rows in it are lost if the server is
	 * killed.
	 */
	add_parameter(&c->url, "async_insert", "0");
	add_parameter(&c->url, "insert_deduplicate", "1");
	add_parameter(&c->url, "insert_deduplication_token", token);
	add_parameter(&c->url, "deduplicate_blocks_in_dependent_materialized_views", "1");
	/* One batch may hold records from many months, and therefore from many partitions. */
	add_parameter(&c->url, "max_partitions_per_insert_block", "0");
	add_parameter(&c->url, "query", query.data);
	buffer_free(&query);
	r = post(c, lines, &answer, ret_wait, failure);
	buffer_free(&answer);
	return r;
}

void clickhouse_time(uint64_t realtime_nsec, char ret_text[CLICKHOUSE_TIME_SIZE])
{
	clock_format(realtime_nsec, ret_text);
	ret_text[10] = ' ';
	ret_text[29] = '\0';
}
