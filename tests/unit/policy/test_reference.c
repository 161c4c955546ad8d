/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies and names at random: the compiler, the tables and the whole question as the matcher asks
 * it against the reference, which knows none of them. CORDON_PAIRS says how many pairs of policy and
 * name to compare, CORDON_SEED where to begin: see tests/fuzz/reference.
 */
#include "reference.h"
#include "support.h"

#define PAIRS_DEFAULT 300000u
#define RULES	      4
#define NAMES	      150
#define NAME_SIZE     128

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16) % n;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Where a rule's pattern starts: at the root, or at a variable. */
#define AT_ROOT CORDON_MAX_ANCHORS

struct drawn {
	char pattern[REFERENCE_MAX]; /* behind the variable */
	unsigned int anchor;	     /* or AT_ROOT */
	bool deny, write;
};

struct question {
	char name[NAME_SIZE]; /* a '/' at the end asks for a listing */
	size_t anchors[CORDON_MAX_ANCHORS];
};

static void make_pattern(char *text, const char *start)
{
	static const char *const pieces[] = {
		"a",   "b",	"ab",	    "/",    "/",     "/a",   "/**/",	      "*",
		"**",  "?",	"[ab]",	    "[!a]", "{a,b}", "{,b}", "{a,b/a,{b,*}}", "/**/b",
		"\\*", "[a-b]", "\xc3\xa4", "c",
	};
	uint32_t count = 1 + random_below(6), wild = 0;

	strcpy(text, start);
	while (count--) {
		const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];
		size_t n = strlen(text);

		/* Stars that touch become one run: which run is a matter of spelling. */
		if (piece[0] == '*' && text[n - 1] == '*')
			continue;
		/* More of them in one pattern multiply beyond what the compiler accepts. */
		if (strchr(piece, '*') && piece[0] != '\\' && ++wild > 3)
			continue;
		strcat(text, piece);
	}
}

static void make_name(char *text)
{
	static const char *const pieces[] = {"a", "b", "/", "/", "a", "*", "\xc3\xa4", "\xff", "c"};
	uint32_t count = random_below(9);

	strcpy(text, "/");
	while (count--) {
		const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];

		/* No name that the kernel asks for has an empty component. */
		if (piece[0] != '/' || text[strlen(text) - 1] != '/')
			strcat(text, piece);
	}
}

static void place_anchors(struct question *q)
{
	size_t size = strlen(q->name);

	for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++)
		q->anchors[i] = POLICY_NO_ANCHOR;
	if (size > 1 && q->name[size - 1] == '/')
		size--;
	for (unsigned int i = CORDON_ANCHOR_WORKDIR; i <= CORDON_ANCHOR_TMP; i++) {
		size_t at = random_below((uint32_t)size + 1);

		/* At the root, or where a component ends. */
		if (at != 1 && (at == 0 || at == size || q->name[at] == '/'))
			q->anchors[i] = at;
	}
}

static void draw_rule(struct drawn *rule)
{
	static const char *const starts[] = {"/", "/", "/", "**/"};

	rule->deny = random_below(3) == 0;
	rule->write = random_below(3) == 0;
	rule->anchor = random_below(2) ? AT_ROOT : CORDON_ANCHOR_WORKDIR + random_below(2);
	if (rule->anchor == AT_ROOT)
		make_pattern(rule->pattern, starts[random_below(ARRAY_SIZE(starts))]);
	else if (random_below(6) == 0)
		rule->pattern[0] = '\0';
	else
		make_pattern(rule->pattern, "/");
}

static const char *variable(const struct drawn *rule)
{
	return rule->anchor == AT_ROOT		       ? ""
	       : rule->anchor == CORDON_ANCHOR_WORKDIR ? "${workdir}"
						       : "${tmp}";
}

static bool speaks(const struct drawn *rule, unsigned int right, const struct question *q)
{
	const char *name = q->name;

	if (rule->write != (right == CORDON_WRITE))
		return false;
	if (rule->anchor != AT_ROOT) {
		if (q->anchors[rule->anchor] == POLICY_NO_ANCHOR)
			return false;
		name += q->anchors[rule->anchor];
		/* The root below itself has no components, and no slash. */
		if (strcmp(q->name, "/") == 0)
			name = "";
	}
	return reference_rule(rule->pattern, rule->deny, !rule->write, name);
}

/* The pattern may match at any depth: two stars may also come together from alternatives. */
static bool floats(const struct drawn *rule)
{
	return rule->anchor == AT_ROOT && strchr(rule->pattern, '*') != strrchr(rule->pattern, '*');
}

/* Another rule that may match at any depth speaks as well, perhaps further out: then that one decides. */
static bool displaced(const struct drawn *rules, uint16_t rule, unsigned int right,
		      const struct question *q)
{
	for (uint16_t i = 0; i < RULES && floats(&rules[rule]); i++)
		if (i != rule && floats(&rules[i]) && rules[i].deny == rules[rule].deny &&
		    speaks(&rules[i], right, q))
			return true;
	return false;
}

/* The rule that decides is the first that speaks, those set aside that another one displaces. */
static bool decides(const struct drawn *rules, uint16_t rule, unsigned int right, bool deny,
		    const struct question *q)
{
	if (rule == CORDON_NO_RULE || rules[rule].deny != deny || !speaks(&rules[rule], right, q))
		return false;
	for (uint16_t i = 0; i < rule; i++)
		if (rules[i].deny == deny && speaks(&rules[i], right, q) &&
		    !displaced(rules, i, right, q))
			return false;
	return true;
}

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
		bool allow = false, deny = false, right_rule;

		for (uint16_t i = 0; i < RULES; i++) {
			allow |= !rules[i].deny && speaks(&rules[i], right, q);
			deny |= rules[i].deny && speaks(&rules[i], right, q);
		}
		right_rule = allow || deny ? decides(rules, a.rule[right], right, deny, q)
					   : a.rule[right] == CORDON_NO_RULE;
		*matches += allow || deny;
		if (!right_rule || deny != ((a.verdict.deny & CORDON_RIGHT(right)) != 0) ||
		    (!deny && allow != ((a.verdict.allow & CORDON_RIGHT(right)) != 0)))
			report(rules, q, right, allow, deny, &a);
	}
}

/* NULL: the rules multiply beyond what the compiler takes, and it says so. */
static struct compiled_policy *draw_policy(struct drawn *rules)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;
	int r;

	char text[8192] = "version: 1\nfiles:\n";

	for (int i = 0; i < RULES; i++) {
		draw_rule(&rules[i]);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "  - {%s: [%s], paths: ['%s%s']}\n", rules[i].deny ? "deny" : "allow",
			 rules[i].write ? "write" : "read", variable(&rules[i]), rules[i].pattern);
	}
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
