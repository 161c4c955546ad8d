/* SPDX-License-Identifier: Apache-2.0 */
/* Implements OTLP over HTTP, with libcurl. */
#include "fleet/ship/otlp.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/retry_after.h"
#include "fleet/ship/certificate.h"
#include "fleet/ship/otlp_message.h"

#define CONNECT_MSEC 5000L
#define ANSWER_MSEC  30000L
/* A presence message has a short timeout, because the next one follows soon. */
#define WORD_MSEC 3000L
/* Bytes of a response that are kept. */
#define ANSWER_MAX 65536u

struct otlp {
	const struct publisher_options *options;
	CURL *curl;
	struct curl_slist *headers;
	struct buffer body, compressed, answer;
	char error[CURL_ERROR_SIZE];
};

void otlp_close(struct otlp *otlp)
{
	curl_easy_cleanup(otlp->curl);
	curl_slist_free_all(otlp->headers);
	buffer_free(&otlp->body);
	buffer_free(&otlp->compressed);
	buffer_free(&otlp->answer);
	free(otlp);
	curl_global_cleanup();
}

/* Read and drop the bytes beyond ANSWER_MAX. */
static size_t take_answer(char *data, size_t one, size_t size, void *context)
{
	struct buffer *answer = context;
	size_t room = answer->size < ANSWER_MAX ? ANSWER_MAX - answer->size : 0;

	(void)one;
	buffer_add(answer, data, size < room ? size : room);
	return size;
}

static bool add_header(struct otlp *otlp, const char *header)
{
	struct curl_slist *headers = curl_slist_append(otlp->headers, header);

	if (headers)
		otlp->headers = headers;
	return headers != NULL;
}

static CURLcode set_tls(CURL *curl, const struct publisher_options *options)
{
	CURLcode c = curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);

	if (c == CURLE_OK && options->ca)
		c = curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca);
	if (c == CURLE_OK && options->certificate)
		c = curl_easy_setopt(curl, CURLOPT_SSLCERT, options->certificate);
	if (c == CURLE_OK && options->key)
		c = curl_easy_setopt(curl, CURLOPT_SSLKEY, options->key);
	return c;
}

static CURLcode set_options(struct otlp *otlp)
{
	CURL *curl = otlp->curl;
	CURLcode c = curl_easy_setopt(curl, CURLOPT_URL, otlp->options->url);

	/* No redirections: records go only to the configured destination. */
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MSEC);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ANSWER_MSEC);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, otlp->error);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_HTTPHEADER, otlp->headers);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
	if (c == CURLE_OK)
		c = curl_easy_setopt(curl, CURLOPT_WRITEDATA, &otlp->answer);
	return c == CURLE_OK ? set_tls(curl, otlp->options) : c;
}

int otlp_open(const struct publisher_options *options, struct otlp **ret_otlp,
	      struct failure *failure)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	CURLcode c;

	if (!otlp || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(otlp);
		return failure_set(failure, ENOMEM, "%m");
	}
	otlp->options = options;
	otlp->curl = curl_easy_init();
	if (!otlp->curl || !add_header(otlp, "Content-Type: application/json") ||
	    !add_header(otlp, "Expect:") ||
	    (!options->plain && !add_header(otlp, "Content-Encoding: gzip"))) {
		otlp_close(otlp);
		return failure_set(failure, ENOMEM, "%m");
	}
	c = set_options(otlp);
	if (c != CURLE_OK) {
		otlp_close(otlp);
		return failure_set(failure, EINVAL, "cannot use these options for OTLP: %s",
				   curl_easy_strerror(c));
	}
	*ret_otlp = otlp;
	return 0;
}

static uint64_t wait_of(struct otlp *otlp)
{
	struct curl_header *header;
	uint64_t now = clock_nsec(CLOCK_REALTIME) / NSEC_PER_SEC;

	if (curl_easy_header(otlp->curl, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return 0;
	return retry_after_seconds(header->value, now) * NSEC_PER_SEC;
}

/*
 * In TLS 1.3 the client's handshake ends before the collector checks the client's certificate. The
 * collector's alert may arrive after the first write has failed; the error is then only the failed
 * write.
 */
static int describe_failure(const struct otlp *otlp, CURLcode c, struct failure *failure)
{
	char expired[CERTIFICATE_TEXT_SIZE];

	return failure_set(failure, EAGAIN, "cannot reach %s: %s%s", otlp->options->url,
			   otlp->error[0] ? otlp->error : curl_easy_strerror(c),
			   certificate_say_expired(otlp->options->certificate, expired));
}

static int post(struct otlp *otlp, const struct buffer *body, uint64_t *ret_wait,
		struct failure *failure)
{
	CURLcode c =
		curl_easy_setopt(otlp->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
	long status = 0;

	*ret_wait = 0;
	otlp->answer.size = 0;
	otlp->answer.failed = false;
	otlp->error[0] = '\0';
	if (c == CURLE_OK)
		c = curl_easy_setopt(otlp->curl, CURLOPT_POSTFIELDS, body->data);
	if (c == CURLE_OK)
		c = curl_easy_perform(otlp->curl);
	if (c != CURLE_OK)
		return describe_failure(otlp, c, failure);
	(void)curl_easy_getinfo(otlp->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300)
		return 0;
	*ret_wait = wait_of(otlp);
	return failure_set(failure, EAGAIN, "%s did not take the records: status %ld",
			   otlp->options->url, status);
}

/* Returns otlp->body, compressed unless `plain` is set. */
static int encode(struct otlp *otlp, const struct buffer **ret_body)
{
	int r;

	if (otlp->options->plain)
		return 0;
	r = batch_compress(&otlp->body, &otlp->compressed);
	if (r == 0)
		*ret_body = &otlp->compressed;
	return r;
}

int otlp_announce(struct otlp *otlp, const struct presence *presence)
{
	const struct buffer *body = &otlp->body;
	uint64_t wait;
	int r = otlp_presence_message(presence, clock_nsec(CLOCK_REALTIME), &otlp->body);

	if (r == 0)
		r = encode(otlp, &body);
	if (r < 0)
		return r;
	(void)curl_easy_setopt(otlp->curl, CURLOPT_TIMEOUT_MS, WORD_MSEC);
	r = post(otlp, body, &wait, NULL);
	(void)curl_easy_setopt(otlp->curl, CURLOPT_TIMEOUT_MS, ANSWER_MSEC);
	return r;
}

int otlp_send(struct otlp *otlp, const struct batch *batch, uint64_t *ret_refused,
	      uint64_t *ret_wait, struct failure *failure)
{
	const struct buffer *body = &otlp->body;
	_cleanup_(freep) char *why = NULL;
	int r = otlp_message(batch, &otlp->body);

	if (r == 0)
		r = encode(otlp, &body);
	if (r < 0)
		return failure_set(failure, r, "cannot make a message of records %llu to %llu: %m",
				   (unsigned long long)batch->first,
				   (unsigned long long)batch->last);
	r = post(otlp, body, ret_wait, failure);
	if (r < 0)
		return r;
	*ret_refused =
		otlp_refused(otlp->answer.data ? otlp->answer.data : "", otlp->answer.size, &why);
	if (*ret_refused > 0)
		(void)failure_set(failure, EBADMSG,
				  "%s rejected %llu of the records %llu to %llu%s%.100s",
				  otlp->options->url, (unsigned long long)*ret_refused,
				  (unsigned long long)batch->first, (unsigned long long)batch->last,
				  why ? ": " : "", why ? why : "");
	return 0;
}
