/* SPDX-License-Identifier: Apache-2.0 */
/* Words for the numbers of the kernel: none is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/capability.h>
#include <signal.h>
#include <sys/socket.h>

#include "audit/record/names.h"

/* Every number below `count` has a name of its own, and none above has one. */
#define CHECK_COMPLETE(function, type, count)                                                      \
	do {                                                                                       \
		for (uint32_t i = 0; i < (count); i++) {                                           \
			assert_non_null(function((type)i));                                        \
			for (uint32_t k = 0; k < i; k++)                                           \
				assert_string_not_equal(function((type)i), function((type)k));     \
		}                                                                                  \
		assert_null(function((type)(count)));                                              \
		assert_null(function((type)(count) + 1000));                                       \
	} while (0)

static void test_complete(void **state)
{
	(void)state;
	CHECK_COMPLETE(name_of_operation, uint32_t, CORDON_OP_COUNT);
	CHECK_COMPLETE(name_of_right, uint32_t, CORDON_RIGHT_COUNT);
	CHECK_COMPLETE(name_of_reason, uint32_t, CORDON_REASON_COUNT);
	CHECK_COMPLETE(name_of_object_kind, uint32_t, CORDON_OBJECT_COUNT);
	CHECK_COMPLETE(name_of_counter, uint32_t, CORDON_COUNTER_COUNT);
	CHECK_COMPLETE(name_of_code_source, enum audit_code_source, AUDIT_CODE_STDIN + 1);
	CHECK_COMPLETE(name_of_end_cause, enum audit_end_cause, AUDIT_END_CANCELLED + 1);
	CHECK_COMPLETE(name_of_approval_decision, enum audit_approval_decision,
		       AUDIT_APPROVAL_USED + 1);
	CHECK_COMPLETE(name_of_capability, uint64_t, CAP_LAST_CAP + 1);
}

static void test_system_names(void **state)
{
	(void)state;
	assert_string_equal(name_of_error(-EACCES), "EACCES");
	assert_string_equal(name_of_error(EPERM), "EPERM");
	assert_string_equal(name_of_error(99999), "unknown");
	assert_string_equal(name_of_signal(SIGKILL), "SIGKILL");
	assert_null(name_of_signal(0));
	assert_null(name_of_signal(9999));
	assert_string_equal(name_of_family(AF_NETLINK), "netlink");
	assert_null(name_of_family(255));
	assert_string_equal(name_of_socket_type(SOCK_SEQPACKET), "seqpacket");
	assert_null(name_of_socket_type(0));
	assert_string_equal(name_of_protocol(17), "udp");
	assert_null(name_of_protocol(255));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_system_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
