/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies and names at random: the compiler, the tables and the whole question as the matcher asks
 * it against the reference, which knows none of them. CORDON_PAIRS says how many pairs of policy
 * and name to compare, CORDON_SEED where to begin: see tests/fuzz/reference.
 */
#include "draw.h"
#include "support.h"

#define PAIRS_DEFAULT 300000u
#define RULES	      4
#define NAMES	      150

static void report(const struct drawn *rules, const struct question *q, unsigned int right,
		   bool allow, bool deny, const struct policy_answer *a)
{
	for (int i = 0; i < RULES; i++)
		print_error("%d: %s %s %s%s\n", i, rules[i].deny ? "deny" : "allow",
			    rules[i].write ? "write" : "read", variable(&rules[i]),
			    rules[i].pattern);
	fail_msg(
		"name %s, workdir at %zd, tmp at %zd, right %u: expected allow %d deny %d, got %x %x "
		"by %d",
		q->name, (ssize_t)q->anchors[CORDON_ANCHOR_WORKDIR],
		(ssize_t)q->anchors[CORDON_ANCHOR_TMP], right, allow, deny, a->verdict.allow,
		a->verdict.deny, a->rule[right]);
}

static void compare(const struct compiled_policy *p, const struct drawn *rules,
		    const struct question *q, size_t *matches)
{
	struct policy_path path = path_of(q->name, strlen(q->name));
	struct policy_answer a;

	memcpy(path.anchors, q->anchors, sizeof(path.anchors));
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 0, &a), 0);
	for (unsigned int right = CORDON_READ; right <= CORDON_WRITE; right++) {
		struct expected e = expect(rules, RULES, right, q);
		bool right_rule = e.allow || e.deny
					  ? decides(rules, RULES, a.rule[right], right, e.deny, q)
					  : a.rule[right] == CORDON_NO_RULE;

		*matches += e.allow || e.deny;
		if (!right_rule || e.deny != ((a.verdict.deny & CORDON_RIGHT(right)) != 0) ||
		    (!e.deny && e.allow != ((a.verdict.allow & CORDON_RIGHT(right)) != 0)))
			report(rules, q, right, e.allow, e.deny, &a);
	}
}

/* NULL: the rules multiply beyond what the compiler takes, and it says so. */
static struct compiled_policy *draw_policy(struct drawn *rules)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	struct compiled_policy *p = NULL;
	int r;

	for (int i = 0; i < RULES; i++)
		draw_rule(&rules[i]);
	text = spell(rules, RULES);
	assert_non_null(text);
	r = policy_compile_text(text, strlen(text), "test.yaml", NULL, d, &p);
	if (r == -E2BIG)
		return NULL;
	if (r < 0) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s\n%s", text, why);
	}
	return p;
}

static void test_against_reference(void **state)
{
	uint64_t wanted = setting("CORDON_PAIRS", PAIRS_DEFAULT), pairs = 0;
	size_t matches = 0, refused = 0;

	(void)state;
	random_state = setting("CORDON_SEED", 20261121) | 1ull << 63;
	while (pairs < wanted) {
		struct drawn rules[RULES];
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = draw_policy(rules);

		refused += !p;
		for (int i = 0; p && i < NAMES; i++, pairs++) {
			struct question q;

			make_name(q.name);
			place_anchors(&q);
			compare(p, rules, &q, &matches);
		}
	}
	print_message("%llu pairs of policy and name, %zu verdicts by a rule\n",
		      (unsigned long long)pairs, matches);
	assert_true(matches > pairs / 10);
	assert_true(refused <= 1 + pairs / NAMES / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
