/* SPDX-License-Identifier: Apache-2.0 */
/* Events from the ring, whole, cut off and out of range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/record/decode.h"
#include "tests/unit/audit/fixture.h"

static const struct fixture_denial denial = {
	.pid = 7,
	.comm = "x",
	.operation = CORDON_OP_OPEN,
	.rights = 1,
	.kind = CORDON_OBJECT_PATH,
	.object = "/etc/shadow",
	.object_size = 11,
};

/* Decodes from a block of exactly that size, so that a byte too many read is seen. */
static int decode_exact(const unsigned char *data, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);
	struct decoded_event event;
	int r;

	assert_non_null(copy);
	memcpy(copy, data, size);
	r = decode_event(copy, size, &event);
	free(copy);
	return r;
}

static void poke(struct fixture_event *e, size_t offset, uint32_t value, size_t size)
{
	memcpy(e->data + offset, &value, size);
}

static void test_good(void **state)
{
	struct decoded_event event;
	struct fixture_event e;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	fixture_denial(&f, &denial, &e);
	assert_int_equal(decode_event(e.data, e.size, &event), 0);
	assert_int_equal(event.header.tgid, 7);
	assert_int_equal(event.denial.error, -EACCES);
	assert_int_equal(event.denial.access.object_length, 11);
	assert_memory_equal(event.denial.access.object, "/etc/shadow", 11);
	assert_int_equal(event.comm_length, 1);
	/* A ring reservation may be longer than the event in it. */
	assert_int_equal(decode_event(e.data, sizeof(e.data), &event), 0);
}

static void test_every_truncation(void **state)
{
	struct fixture_event e[5];
	struct fixture f;

	(void)state;
	fixture_init(&f);
	fixture_denial(&f, &denial, &e[0]);
	fixture_exec(&f, 7, 1, "x", "/bin/x", "x\0y\0", 4, 0, &e[1]);
	fixture_exit(&f, 7, 1, "x", 0, &e[2]);
	fixture_access(&f, CORDON_EVENT_OPEN, 7, 1, "x", CORDON_OP_OPEN, 1, CORDON_OBJECT_PATH,
		       "/x", 2, &e[3]);
	fixture_access(&f, CORDON_EVENT_CHANGE, 7, 1, "x", CORDON_OP_UNLINK, 1, CORDON_OBJECT_PATH,
		       "/x", 2, &e[4]);
	for (size_t i = 0; i < ARRAY_SIZE(e); i++) {
		assert_int_equal(decode_exact(e[i].data, e[i].size), 0);
		for (size_t size = 0; size < e[i].size; size++) {
			assert_int_equal(decode_exact(e[i].data, size), -EBADMSG);
			/* The same where the event itself claims to be so short. */
			poke(&e[i], offsetof(struct cordon_event, size), (uint32_t)size, 4);
			assert_int_equal(decode_exact(e[i].data, size), -EBADMSG);
			poke(&e[i], offsetof(struct cordon_event, size), (uint32_t)e[i].size, 4);
		}
	}
}

#define DENIAL(member)                                                                             \
	offsetof(struct cordon_denial_event, member),                                              \
		sizeof(((struct cordon_denial_event *)0)->member)
#define EXEC(member)                                                                               \
	offsetof(struct cordon_exec_event, member), sizeof(((struct cordon_exec_event *)0)->member)

static void test_numbers_out_of_range(void **state)
{
	static const struct {
		size_t offset, size;
		uint32_t value;
	} bad_denials[] =
		{
			{DENIAL(event.type), 0},
			{DENIAL(event.type), CORDON_EVENT_TYPE_COUNT},
			{DENIAL(event.size), 0xffffffff},
			{DENIAL(operation), CORDON_OP_COUNT},
			{DENIAL(rights), 1u << CORDON_RIGHT_COUNT},
			{DENIAL(error), 0},
			{DENIAL(error), 13},
			{DENIAL(error), (uint32_t)-4096},
			{DENIAL(reason), CORDON_REASON_COUNT},
			{DENIAL(would), 2},
			{DENIAL(object_kind), CORDON_OBJECT_COUNT},
			{DENIAL(object_kind), CORDON_OBJECT_NONE},
			{DENIAL(object_kind), CORDON_OBJECT_NET},
			{DENIAL(object_kind), CORDON_OBJECT_SOCKET},
			{DENIAL(object_kind), CORDON_OBJECT_NUMBER},
			{DENIAL(object_kind), CORDON_OBJECT_PROCESS},
			{DENIAL(object_flags), 16},
			{DENIAL(object_length), 12},
			{DENIAL(object_length), 0xffffffff},
			{DENIAL(object_total), 10},
		},
	  bad_execs[] = {
		  {EXEC(path_length), 11}, {EXEC(path_length), 0xffffffff},
		  {EXEC(args_length), 5},  {EXEC(args_length), 0xffffffff},
		  {EXEC(args_total), 3},
	  };
	struct fixture_event e;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(bad_denials); i++) {
		fixture_denial(&f, &denial, &e);
		poke(&e, bad_denials[i].offset, bad_denials[i].value, bad_denials[i].size);
		assert_int_equal(decode_exact(e.data, e.size), -EBADMSG);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad_execs); i++) {
		fixture_exec(&f, 7, 1, "x", "/bin/x", "x\0y\0", 4, 0, &e);
		poke(&e, bad_execs[i].offset, bad_execs[i].value, bad_execs[i].size);
		assert_int_equal(decode_exact(e.data, e.size), -EBADMSG);
	}
}

static void test_address_shapes(void **state)
{
	static const unsigned char addresses[][21] = {{4}, {6}, {5}};
	struct fixture_denial d = denial;
	struct fixture_event e;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	d.kind = CORDON_OBJECT_NET;
	for (size_t family = 0; family < ARRAY_SIZE(addresses); family++)
		for (size_t size = 0; size <= sizeof(addresses[0]); size++) {
			bool good = (family == 0 && size == 8) || (family == 1 && size == 20);

			d.object = addresses[family];
			d.object_size = size;
			fixture_denial(&f, &d, &e);
			assert_int_equal(decode_exact(e.data, e.size), good ? 0 : -EBADMSG);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_numbers_out_of_range),
		cmocka_unit_test(test_address_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
