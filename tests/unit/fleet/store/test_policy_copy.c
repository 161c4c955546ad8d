/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that come from hosts: what is not what its digest says is not kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include "audit/storage/policy_store.h"
#include "base/io.h"
#include "fleet/store/policy_copy.h"
#include "policy/compile/compile.h"

struct place {
	char top[48], log[64], copy[64];
	char digest[SHA256_TEXT_SIZE];
	char *data;
	size_t size;
};

static int set_up(void **state)
{
	static const char text[] =
		"version: 1\nname: p\nfiles:\n  - {allow: [read], paths: [/srv/**]}\n";
	static const char *const nowhere[] = {NULL};
	const struct policy_search search = {.directories = nowhere};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	struct place *p = calloc(1, sizeof(*p));
	char path[256];

	strcpy(p->top, "/tmp/cordon-policy-copy-XXXXXX");
	assert_non_null(mkdtemp(p->top));
	snprintf(p->log, sizeof(p->log), "%s/log", p->top);
	snprintf(p->copy, sizeof(p->copy), "%s/copy", p->top);
	assert_int_equal(mkdir(p->log, 0750), 0);
	assert_int_equal(mkdir(p->copy, 0750), 0);
	assert_int_equal(policy_compile_text(text, strlen(text), "p.yaml", &search, d, &policy), 0);
	assert_int_equal(policy_store_put(p->log, policy, NULL), 0);
	strcpy(p->digest, policy->digest_text);
	snprintf(path, sizeof(path), "%s/policies/%s", p->log, p->digest);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1u << 20, &p->data, &p->size), 0);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", p->top);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	free(p->data);
	free(p);
	return 0;
}

static int keep(const struct place *p, const char *digest, const char *data, size_t size)
{
	struct failure failure = {};
	int r = policy_copy_keep(p->top, p->copy, digest, data, size, &failure);

	assert_int_equal(r < 0, failure.text[0] != '\0');
	return r;
}

static bool is_kept(const struct place *p, const char *digest)
{
	struct compiled_policy *policy = NULL;
	int r = policy_store_get(p->copy, digest, &policy, NULL);

	compiled_policy_free(policy);
	return r == 0;
}

static void kept(void **state)
{
	struct place *p = *state;

	assert_false(is_kept(p, p->digest));
	assert_int_equal(keep(p, p->digest, p->data, p->size), 0);
	assert_true(is_kept(p, p->digest));
	/* Whatever comes later under its name changes nothing. */
	assert_int_equal(keep(p, p->digest, "?", 1), 1);
	assert_true(is_kept(p, p->digest));
}

static void refused(void **state)
{
	struct place *p = *state;
	char other[SHA256_TEXT_SIZE];

	strcpy(other, p->digest);
	other[5] = other[5] == '0' ? '1' : '0';
	assert_int_equal(keep(p, other, p->data, p->size), -EBADMSG);
	assert_false(is_kept(p, other));
	assert_int_equal(keep(p, p->digest, p->data, p->size / 2), -EBADMSG);
	assert_int_equal(keep(p, p->digest, "", 0), -EBADMSG);
	p->data[p->size / 2] ^= 1;
	assert_int_equal(keep(p, p->digest, p->data, p->size), -EBADMSG);
	assert_int_equal(keep(p, "../../../../tmp/x", p->data, p->size), -EBADMSG);
	assert_int_equal(keep(p, "", p->data, p->size), -EBADMSG);
	assert_false(is_kept(p, p->digest));
	/* One that was refused is not in the way of the right one. */
	p->data[p->size / 2] ^= 1;
	assert_int_equal(keep(p, p->digest, p->data, p->size), 0);
	assert_true(is_kept(p, p->digest));
}

/* gzip: `head`, so often `unit`, `tail`; caller frees. */
static char *pack(const char *head, const char *unit, size_t count, const char *tail,
		  size_t *ret_size)
{
	z_stream stream = {};
	size_t capacity = 1u << 20, size = strlen(unit);
	char *data = malloc(capacity), *block = malloc(size * 1000);

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	stream.next_out = (unsigned char *)data;
	stream.avail_out = (unsigned int)capacity;
	for (size_t i = 0; i < 1000; i++)
		memcpy(block + i * size, unit, size);
	stream.next_in = (unsigned char *)head;
	stream.avail_in = (unsigned int)strlen(head);
	assert_int_equal(deflate(&stream, Z_NO_FLUSH), Z_OK);
	for (size_t i = 0; i < count / 1000; i++) {
		stream.next_in = (unsigned char *)block;
		stream.avail_in = (unsigned int)(size * 1000);
		assert_int_equal(deflate(&stream, Z_NO_FLUSH), Z_OK);
	}
	stream.next_in = (unsigned char *)tail;
	stream.avail_in = (unsigned int)strlen(tail);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	*ret_size = stream.total_out;
	deflateEnd(&stream);
	free(block);
	return data;
}

/* Small where they come from, and large once they are unpacked or parsed. */
static void bombs(void **state)
{
	static const struct {
		const char *head, *unit;
		size_t count;
		const char *tail;
	} cases[] = {
		{"{\"x\":[", "{},", 5000000, "0]}\n"},
		{"{\"x\":[", "{},", 150000, "0]}\n"},
		{"{\"x\":[", "0,", 4000000, "0]}\n"},
		{"{\"x\":[", "\"\",", 3000000, "0]}\n"},
		{"", "[", 8000000, "\n"},
		{"", "{\"a\":", 1000000, "\n"},
		{"{\"name\":\"", "aaaaaaaa", 8000000, "\"}\n"},
		{"{}", " ", 200000000, "\n"},
		{"", "\n", 200000000, ""},
	};
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t size;
		char *data =
			pack(cases[i].head, cases[i].unit, cases[i].count, cases[i].tail, &size);

		if (keep(p, p->digest, data, size) != -EBADMSG)
			fail_msg("case %zu", i);
		free(data);
	}
	/* The control: one that is what it says is kept. */
	assert_int_equal(keep(p, p->digest, p->data, p->size), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bombs, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
