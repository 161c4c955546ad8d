/* SPDX-License-Identifier: Apache-2.0 */
/* Moves under another policy: what may be refused since the new name grants more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "insight/recording/moves.h"

#define READ   CORDON_RIGHT(CORDON_READ)
#define WRITE  CORDON_RIGHT(CORDON_WRITE)
#define CREATE CORDON_RIGHT(CORDON_CREATE)
#define DELETE CORDON_RIGHT(CORDON_DELETE)
#define RUN    CORDON_RIGHT(CORDON_RUN)
#define OWN    (READ | WRITE | CREATE | DELETE)

static struct recorded_access name(size_t run, uint8_t operation, uint32_t rights)
{
	return (struct recorded_access){
		.run = run, .kind = ACCESS_PATH, .operation = operation, .rights = rights};
}

static struct replay_answer granting(uint32_t granted)
{
	return (struct replay_answer){.allowed = true, .granted = granted};
}

static void test_found(void **state)
{
	const struct recorded_access accesses[] = {
		name(0, CORDON_OP_RENAME, DELETE), name(0, CORDON_OP_RENAME, CREATE),
		name(0, CORDON_OP_RENAME, DELETE), name(0, CORDON_OP_RENAME, CREATE | DELETE),
		name(1, CORDON_OP_RENAME, CREATE), name(1, CORDON_OP_UNLINK, DELETE),
		name(0, CORDON_OP_LINK, CREATE),
	};
	const struct replay_answer answers[] = {
		granting(OWN),	     granting(OWN),    granting(DELETE),    granting(OWN | RUN),
		granting(OWN | RUN), granting(DELETE), granting(OWN | RUN),
	};
	struct moves m;

	(void)state;
	assert_int_equal(moves_find(2, accesses, 7, answers, &m), 0);
	/* Run 1 took nothing away but by unlink, and where a link leads from is not on record. */
	assert_int_equal(m.widening_count, 2);
	assert_int_equal(m.widening[0].to, 1);
	assert_int_equal(m.widening[0].from, 2);
	assert_int_equal(m.widening[0].rights, READ | WRITE | CREATE);
	assert_int_equal(m.widening[1].to, 3);
	assert_int_equal(m.widening[1].from, 2);
	assert_int_equal(m.renamed, 3);
	assert_int_equal(m.linked, 1);
	moves_release(&m);
}

/* What is refused at one of its names need not be compared; rights of sockets are no names'. */
static void test_refused_and_others(void **state)
{
	const struct recorded_access accesses[] = {
		name(0, CORDON_OP_RENAME, DELETE),
		name(0, CORDON_OP_RENAME, CREATE),
		name(0, CORDON_OP_RENAME, CREATE),
	};
	struct replay_answer answers[] = {granting(OWN), granting(OWN | RUN), granting(OWN)};
	struct moves m;

	(void)state;
	answers[1].allowed = false;
	answers[2].granted |= CORDON_RIGHT(CORDON_NET_CONNECT);
	assert_int_equal(moves_find(1, accesses, 3, answers, &m), 0);
	assert_int_equal(m.widening_count, 0);
	assert_int_equal(m.renamed, 1);
	moves_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_refused_and_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
