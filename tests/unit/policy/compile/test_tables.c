/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables themselves: that the automaton is the smallest one, that what a state says of its
 * continuations is exact, that absorbing states are marked, and that damage is noticed.
 */
#include "policy/compile/tables.h"
#include "tests/unit/policy/support.h"

static const char *const policies[] = {
	"version: 1\n",
	"version: 1\n"
	"files:\n"
	"  - {allow: [read], paths: [/usr/lib/**, /etc/passwd, '/a/**/b', '/x?y']}\n"
	"  - {allow: [all], paths: ['${workdir}/**', '${tmp}/**']}\n"
	"  - {deny: [all], paths: ['${workdir}/.git/hooks', '**/.env', '**/.ssh']}\n"
	"  - {deny: [write], paths: ['/usr/**/.b', '/a']}\n"
	"exec:\n"
	"  - {allow: [map], paths: [/usr/lib/**, '@memfd']}\n"
	"network:\n"
	"  - {allow: [connect], to: [10.0.0.0/9], ports: [443, 8000-8100]}\n",
	"version: 1\n"
	"files:\n"
	"  - {allow: [read], paths: ['/**']}\n"
	"  - {deny: [read], paths: ['/{a,b}/{c,d}', '/[e-g]*.x']}\n",
};

static const struct cordon_policy_header *header(const struct compiled_policy *p)
{
	return (const void *)p->tables;
}

/* Transitions read straight off the tables, as bpf/abi.h describes them. */
static uint32_t step(const struct compiled_policy *p, uint32_t state, unsigned int byte)
{
	const struct cordon_policy_header *h = header(p);
	const struct cordon_state *s = (const void *)(p->tables + h->states_offset);
	const struct cordon_edge *e = (const void *)(p->tables + h->edges_offset);
	const struct cordon_edge *edge = &e[s[state].base + byte];

	return edge->check == state ? edge->next : s[state].otherwise;
}

static const struct cordon_final * final(const struct compiled_policy *p, uint32_t state)
{
	return (const struct cordon_final *)(p->tables + header(p)->finals_offset) + state;
}

static const struct cordon_verdict *verdict(const struct compiled_policy *p, uint32_t state)
{
	return (const struct cordon_verdict *)(p->tables + header(p)->verdicts_offset) +
	       final(p, state)->verdict;
}

/* All states behind `from`, by plain search. */
static uint8_t *reach(const struct compiled_policy *p, uint32_t from)
{
	uint32_t count = header(p)->states_count, top = 0;
	uint8_t *seen = calloc(count, 1);
	uint32_t *stack = calloc(count, sizeof(*stack));

	assert_true(seen && stack);
	seen[from] = 1;
	stack[top++] = from;
	while (top) {
		uint32_t s = stack[--top];

		for (unsigned int byte = 0; byte < 256; byte++) {
			uint32_t next = step(p, s, byte) & CORDON_STATE_MASK;

			if (seen[next])
				continue;
			seen[next] = 1;
			stack[top++] = next;
		}
	}
	free(stack);
	return seen;
}

static void check_finals(const struct compiled_policy *p)
{
	for (uint32_t s = 0; s < header(p)->states_count; s++) {
		_cleanup_(freep) uint8_t *seen = reach(p, s);
		uint32_t may = 0, must = 0xffffffff, deny = 0;

		for (uint32_t t = 0; t < header(p)->states_count; t++) {
			if (!seen[t])
				continue;
			may |= verdict(p, t)->allow;
			must &= verdict(p, t)->allow;
			deny |= verdict(p, t)->deny;
		}
		assert_int_equal(final(p, s)->may_allow, may);
		assert_int_equal(final(p, s)->must_allow, must);
		assert_int_equal(final(p, s)->may_deny, deny);
	}
}

static void check_absorbing(const struct compiled_policy *p)
{
	for (uint32_t s = 0; s < header(p)->states_count; s++) {
		for (unsigned int byte = 0; byte < 256; byte++) {
			uint32_t next = step(p, s, byte), number = next & CORDON_STATE_MASK;
			int absorbing = 1;

			for (unsigned int b = 0; b < 256; b++)
				absorbing &= (step(p, number, b) & CORDON_STATE_MASK) == number;
			assert_int_equal((next & CORDON_ABSORBING) != 0, absorbing);
		}
	}
}

/* Moore's refinement, as the textbook has it: as many classes as states, and each state used. */
static void check_minimal(const struct compiled_policy *p)
{
	uint32_t count = header(p)->states_count, classes = 0, before;
	_cleanup_(freep) uint32_t *class = calloc(count, sizeof(*class));
	_cleanup_(freep) uint32_t *refined = calloc(count, sizeof(*refined));
	_cleanup_(freep) uint8_t *used = calloc(count, 1);

	for (uint32_t s = 0; s < count; s++)
		class[s] = final(p, s)->verdict;
	do {
		before = classes;
		classes = 0;
		for (uint32_t s = 0; s < count; s++) {
			uint32_t t = 0;

			for (; t < s; t++) {
				unsigned int byte = 0;

				if (class[t] != class[s])
					continue;
				while (byte < 256 &&
				       class[step(p, s, byte) & CORDON_STATE_MASK] ==
					       class[step(p, t, byte) & CORDON_STATE_MASK])
					byte++;
				if (byte == 256)
					break;
			}
			refined[s] = t < s ? refined[t] : classes++;
		}
		memcpy(class, refined, count * sizeof(*class));
	} while (classes != before);
	assert_int_equal(classes, count);
	for (unsigned int i = 0; i < CORDON_START_COUNT; i++) {
		_cleanup_(freep) uint8_t *seen = reach(p, header(p)->start[i] & CORDON_STATE_MASK);

		for (uint32_t s = 0; s < count; s++)
			used[s] |= seen[s];
	}
	for (uint32_t s = 0; s < count; s++)
		assert_true(used[s] || s == 0);
}

static void test_automata(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		_cleanup_(compiled_policy_freep) struct compiled_policy *p =
			compile_good(policies[i]);

		assert_true(header(p)->states_count < 1000);
		check_finals(p);
		check_absorbing(p);
		check_minimal(p);
	}
}

static void test_rule_order_decides(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p =
		compile_good("version: 1\nfiles:\n"
			     "  - {allow: [read], paths: [/a/x]}\n"
			     "  - {allow: [read, write], paths: [/a/*]}\n"
			     "  - {deny: [write], paths: [/a/y]}\n"
			     "  - {deny: [all], paths: ['/a/[xy]']}\n");
	struct cordon_verdict x = ask(p, CORDON_START_PATH, "/a/x", 4);
	struct cordon_verdict y = ask(p, CORDON_START_PATH, "/a/y", 4);
	struct cordon_verdict z = ask(p, CORDON_START_PATH, "/a/z", 4);

	(void)state;
	assert_int_equal(x.rule[CORDON_READ], 3);
	assert_int_equal(y.rule[CORDON_WRITE], 2);
	assert_int_equal(y.rule[CORDON_READ], 3);
	assert_int_equal(z.rule[CORDON_READ], 1);
	assert_int_equal(z.rule[CORDON_RUN], CORDON_NO_RULE);
}

/* Many rules of the kind that multiplies when it is not looked after. */
static void test_many_floating_denies(void **state)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fputs("version: 1\nfiles:\n", out);
	for (int i = 0; i < 60; i++)
		fprintf(out, "  - {deny: [%s], paths: ['**/.n%d']}\n", i % 2 ? "all" : "write", i);
	fclose(out);
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(text);

	assert_true(header(p)->states_count < 4000);
	/* The outermost match decides, also against a rule that comes first. */
	assert_int_equal(ask_path(p, "/.n59/.n3/x").rule[CORDON_WRITE], 59);
	assert_int_equal(ask_path(p, "/.n3/.n59/x").rule[CORDON_WRITE], 3);
	assert_int_equal(ask_path(p, "/.n2/.n3/x").rule[CORDON_READ], 3);
}

/* Alternatives end alike: which of them a name has met makes no state of its own. */
static void test_shared_endings(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nfiles:\n  - {allow: [read], paths: ['/b/{*-,}{cc,c++,gcc,g++,cpp,as,ld,ar,"
		"nm,strip,size,clang,ranlib,objdump,readelf,gcov,ninja,make}{,-[0-9]*}']}\n");

	(void)state;
	assert_true(header(p)->states_count < 200);
	assert_true(granted_path(p, "/b/x86_64-linux-gnu-gcc-12", CORDON_READ));
	assert_true(granted_path(p, "/b/as-1-ld-2", CORDON_READ));
	assert_true(granted_path(p, "/b/x-c++", CORDON_READ));
	assert_false(granted_path(p, "/b/xc++", CORDON_READ));
	assert_false(granted_path(p, "/b/as-ld-x", CORDON_READ));
}

static void test_damage_is_noticed(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(policies[1]);
	size_t size = p->tables_size;
	struct cordon_policy_header *h = (void *)p->tables;

	(void)state;
	assert_int_equal(policy_tables_check(p->tables, size - 1), -EBADMSG);
	assert_int_equal(policy_tables_check(p->tables, size - CORDON_PAGE_SIZE), -EBADMSG);
	assert_int_equal(policy_tables_check(p->tables, 0), -EBADMSG);
	for (size_t i = 0; i < size; i += 1 + i / 64) {
		p->tables[i] ^= 0x40;
		assert_true(policy_tables_check(p->tables, size) < 0);
		p->tables[i] ^= 0x40;
	}
	h->version++;
	assert_int_equal(policy_tables_check(p->tables, size), -EPROTONOSUPPORT);
	h->version--;
	assert_int_equal(policy_tables_check(p->tables, size), 0);
}

/* A forger can make the digest right: what the tables refer to must be right as well. */
static void test_forged_tables(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(policies[1]);
	struct cordon_policy_header *h = (void *)p->tables;
	struct cordon_state *states = (void *)(p->tables + h->states_offset);
	struct cordon_edge *edges = (void *)(p->tables + h->edges_offset);
	struct cordon_final *finals = (void *)(p->tables + h->finals_offset);
	uint32_t live = h->start[CORDON_START_PATH] & CORDON_STATE_MASK;
	struct {
		uint32_t *field, value;
	} forgeries[] = {
		{&states[1].base, h->edges_count - 255},
		{&states[1].otherwise, h->states_count},
		{&states[1].otherwise, live | CORDON_ABSORBING},
		{&states[0].otherwise, live},
		{&edges[0].next, h->states_count},
		{&edges[0].check, h->states_count},
		{&finals[1].verdict, h->verdicts_count},
		{&finals[0].verdict, h->verdicts_count - 1},
		{&finals[0].may_allow, 1},
		{&h->start[0], h->states_count},
		{&h->start[CORDON_START_SLOTS - 1], 0x7fffffff},
		{&h->states_count, h->states_count + 1},
		{&h->states_offset, h->states_offset + 4},
		{&h->edges_offset, 0},
		{&h->edges_count, 0x7fffffff},
		{&h->finals_offset, 0xfffffff0},
		{&h->verdicts_count, 0},
		{&h->pages, 0},
		{&h->pages, 0xffffffff},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		uint32_t saved = *forgeries[i].field;
		unsigned char digest[32];

		*forgeries[i].field = forgeries[i].value;
		assert_int_equal(tables_digest(p->tables, p->tables_size, digest), 0);
		memcpy(h->digest, digest, sizeof(digest));
		if (policy_tables_check(p->tables, p->tables_size) != -EBADMSG)
			fail_msg("forgery %zu was taken", i);
		*forgeries[i].field = saved;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_automata),
		cmocka_unit_test(test_rule_order_decides),
		cmocka_unit_test(test_many_floating_denies),
		cmocka_unit_test(test_shared_endings),
		cmocka_unit_test(test_damage_is_noticed),
		cmocka_unit_test(test_forged_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
