/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks random policies and names in three ways: by a simple reference implementation, by the
 * matcher compiled for the host, and by the matcher in this kernel.
 *
 *    matcher [--pairs N] [--seed N]
 *
 * A pair is a policy and a name. Both rights in the policies are checked for each. Exit status 0:
 * all agree, 1: they differ, 2: usage, 3: the kernel rejects the program.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <getopt.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/failure.h"
#include "policy/compile/compile.h"
#include "tests/bpf/matcher.skel.h"
#include "tests/bpf/sample.h"
#include "tests/unit/policy/draw.h"

#define PAIRS_DEFAULT 200000u
#define SMALL_RULES   4u
/* Many rules give tables of several pages. */
#define LARGE_RULES 1200u
#define LARGE_EVERY 40u /* policies */
#define PAGES_MAX   64u
#define RIGHTS	    2u /* CORDON_READ and CORDON_WRITE */
#define NAMES	    (SAMPLE_BATCH / RIGHTS)

struct sample {
	struct matcher_bpf *program;
	struct sample_question *asked; /* mapped, SAMPLE_BATCH */
	int pages_fd;
	/* the current policy */
	struct drawn rules[LARGE_RULES];
	size_t rule_count;
	struct compiled_policy *policy;
	struct question names[NAMES];
	/* totals so far */
	uint64_t pairs, matches, resumed, policies, refused, pages_most;
};

/* --- the kernel's side -------------------------------------------------------------------- */

static int load(struct sample *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
	const struct bpf_map *wanted[4];
	struct bpf_map *map;
	const __u32 first = 0;
	void *at;

	s->program = matcher_bpf__open();
	if (!s->program)
		return -errno;
	wanted[0] = s->program->maps.policies;
	wanted[1] = s->program->maps.questions;
	wanted[2] = s->program->maps.scratch;
	wanted[3] = s->program->maps.rodata; /* libbpf maps it */
	/* The headers define all maps of the enforcement; the check of names uses these. */
	bpf_object__for_each_map(map, s->program->obj) bpf_map__set_autocreate(
		map, map == wanted[0] || map == wanted[1] || map == wanted[2] || map == wanted[3]);
	if (matcher_bpf__load(s->program) < 0)
		return -errno;
	s->pages_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sample_policy", sizeof(__u32),
				     CORDON_PAGE_SIZE, PAGES_MAX, &options);
	if (s->pages_fd < 0 ||
	    bpf_map_update_elem(bpf_map__fd(wanted[0]), &first, &s->pages_fd, BPF_ANY) < 0)
		return -errno;
	at = mmap(NULL, SAMPLE_BATCH * sizeof(*s->asked), PROT_READ | PROT_WRITE, MAP_SHARED,
		  bpf_map__fd(wanted[1]), 0);
	if (at == MAP_FAILED)
		return -errno;
	s->asked = at;
	return 0;
}

static int put_policy(const struct sample *s)
{
	const __u32 pages = (__u32)(s->policy->tables_size / CORDON_PAGE_SIZE);

	if (pages > PAGES_MAX)
		return -E2BIG;
	for (__u32 page = 0; page < pages; page++)
		if (bpf_map_update_elem(s->pages_fd, &page,
					s->policy->tables + (size_t)page * CORDON_PAGE_SIZE,
					BPF_ANY) < 0)
			return -errno;
	return 0;
}

/* As a path walk finds it: components from the innermost outwards. */
static void spell_question(const struct question *name, uint32_t wanted,
			   struct sample_question *ret_question)
{
	struct sample_question *q = ret_question;
	size_t end = strlen(name->name);

	memset(q, 0, sizeof(*q));
	memset(q->anchor_depth, 0xff, sizeof(q->anchor_depth));
	q->wanted = wanted;
	memcpy(q->bytes, name->name, end);
	if (end > 1 && name->name[end - 1] == '/') {
		q->listing = 1;
		end--;
	}
	if (end == 1)
		end = 0;
	for (unsigned int n = 0; n < CORDON_MAX_ANCHORS; n++)
		if (name->anchors[n] == end)
			q->anchor_depth[n] = 0;
	while (end > 0) {
		size_t begin = end;

		while (name->name[begin - 1] != '/')
			begin--;
		q->components[q->depth].offset = (__u16)begin;
		q->components[q->depth].length = (__u16)(end - begin);
		q->depth++;
		end = begin - 1;
		for (unsigned int n = 0; n < CORDON_MAX_ANCHORS; n++)
			if (name->anchors[n] == end)
				q->anchor_depth[n] = q->depth;
	}
}

static int ask_kernel(const struct sample *s)
{
	struct sample_request request = {.count = SAMPLE_BATCH};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));

	for (size_t i = 0; i < NAMES; i++)
		for (uint32_t right = 0; right < RIGHTS; right++)
			spell_question(&s->names[i], CORDON_RIGHT(right),
				       &s->asked[i * RIGHTS + right]);
	if (bpf_prog_test_run_opts(bpf_program__fd(s->program->progs.judge_questions), &options) <
	    0)
		return -errno;
	return request.asked == SAMPLE_BATCH ? 0 : -EIO;
}

/* --- policies and names ------------------------------------------------------------------- */

/* One of many paths with common prefixes. Wildcards would multiply with each other. */
static void draw_literal(struct drawn *rule)
{
	static const char *const letters = "abcdefghijklmnop";
	size_t size = 0;

	for (int component = 0; component < 4; component++) {
		rule->pattern[size++] = '/';
		for (int i = 0; i < 2 + 3 * component; i++)
			rule->pattern[size++] = letters[random_below(component == 0 ? 3 : 16)];
	}
	rule->pattern[size] = '\0';
	rule->anchor = AT_ROOT;
	rule->deny = random_below(4) == 0;
	rule->write = random_below(2) == 0;
}

/* A name that a rule matches, or one that differs from it somewhere. */
static void draw_near(const struct sample *s, struct question *q)
{
	const struct drawn *rule = &s->rules[random_below((uint32_t)s->rule_count)];

	snprintf(q->name, sizeof(q->name), "%s%s", rule->pattern, random_below(4) ? "" : "/x");
	if (random_below(3) == 0)
		q->name[1 + random_below((uint32_t)strlen(q->name) - 1)] = 'q';
	for (char *slash = strstr(q->name, "//"); slash; slash = strstr(q->name, "//"))
		slash[1] = 'q';
	for (unsigned int n = 0; n < CORDON_MAX_ANCHORS; n++)
		q->anchors[n] = POLICY_NO_ANCHOR;
}

static void draw_names(struct sample *s)
{
	for (size_t i = 0; i < NAMES; i++) {
		if (s->rule_count == LARGE_RULES) {
			draw_near(s, &s->names[i]);
			continue;
		}
		make_name(s->names[i].name);
		place_anchors(&s->names[i]);
	}
}

/* Returns 0, or -E2BIG if the rules expand beyond the compiler's limit. */
static int draw_policy(struct sample *s)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	bool large = s->policies % LARGE_EVERY == 1;

	compiled_policy_free(s->policy);
	s->policy = NULL;
	s->rule_count = large ? LARGE_RULES : SMALL_RULES;
	for (size_t i = 0; i < s->rule_count; i++) {
		if (large)
			draw_literal(&s->rules[i]);
		else
			draw_rule(&s->rules[i]);
	}
	text = spell(s->rules, s->rule_count);
	if (!text || !d)
		return -ENOMEM;
	return policy_compile_text(text, strlen(text), "sample.yaml", NULL, d, &s->policy);
}

/* --- comparing ---------------------------------------------------------------------------- */

static int report(const struct sample *s, const struct question *q, unsigned int right,
		  const struct expected *e, const struct policy_answer *host,
		  const struct sample_question *kernel)
{
	_cleanup_(freep) char *text = spell(s->rules, s->rule_count);

	printf("# %s# name %s, workdir at %zd, tmp at %zd, right %u\n"
	       "# reference: allow %d deny %d\n"
	       "# host: allow %x deny %x rule %u\n"
	       "# kernel: allow %x deny %x missing %x rule %u reason %u broken %u\n",
	       text ? text : "", q->name, (ssize_t)q->anchors[CORDON_ANCHOR_WORKDIR],
	       (ssize_t)q->anchors[CORDON_ANCHOR_TMP], right, e->allow, e->deny,
	       host->verdict.allow, host->verdict.deny, host->rule[right], kernel->verdict.allow,
	       kernel->verdict.deny, kernel->missing, kernel->rule, kernel->reason, kernel->broken);
	return -EILSEQ;
}

/* The host's outcome for everything below the name, which decides about moves of directories. */
static int tree_of(const struct compiled_policy *p, const struct policy_path *path,
		   struct verdict *ret_verdict)
{
	size_t size = path->size == 1 ? 0 : path->size;
	struct verdict v = {};

	for (unsigned int start = 0; start < CORDON_START_COUNT; start++) {
		char below[NAME_SIZE + 1];
		struct cordon_final final;
		size_t begin = 0;
		int r;

		if (start != CORDON_START_PATH && start != CORDON_START_FLOATING) {
			if (start < CORDON_START_ANCHOR)
				continue;
			begin = path->anchors[start - CORDON_START_ANCHOR];
			if (begin == POLICY_NO_ANCHOR)
				continue;
		}
		memcpy(below, path->name + begin, size - begin);
		below[size - begin] = '/';
		r = policy_run(p->tables, p->tables_size, start, below, size - begin + 1, NULL,
			       &final);
		if (r < 0)
			return r;
		verdict_add_final(&v, &final);
	}
	*ret_verdict = v;
	return 0;
}

static int compare_right(struct sample *s, const struct question *q,
			 const struct policy_answer *host, const struct verdict *tree,
			 unsigned int right, const struct sample_question *kernel)
{
	const __u32 bit = CORDON_RIGHT(right);
	const struct expected e = expect(s->rules, s->rule_count, right, q);
	const bool allow = host->verdict.allow & bit, deny = host->verdict.deny & bit;
	const __u16 rule = deny ? host->rule[right] : CORDON_NO_RULE;

	s->matches += e.allow || e.deny;
	s->resumed += kernel->resumed;
	/* For a denied right, the compiler may omit that it is allowed. */
	if (e.deny != deny || (!e.deny && e.allow != allow))
		return report(s, q, right, &e, host, kernel);
	if (kernel->broken || kernel->verdict.allow != host->verdict.allow ||
	    kernel->verdict.deny != host->verdict.deny ||
	    kernel->missing != verdict_missing(&host->verdict, bit) || kernel->rule != rule ||
	    kernel->reason != (deny ? CORDON_REASON_RULE : CORDON_REASON_DEFAULT))
		return report(s, q, right, &e, host, kernel);
	if (kernel->verdict.may_allow != tree->may_allow ||
	    kernel->verdict.must_allow != tree->must_allow ||
	    kernel->verdict.may_deny != tree->may_deny) {
		printf("# below the name: host %x %x %x, kernel %x %x %x\n", tree->may_allow,
		       tree->must_allow, tree->may_deny, kernel->verdict.may_allow,
		       kernel->verdict.must_allow, kernel->verdict.may_deny);
		return report(s, q, right, &e, host, kernel);
	}
	return 0;
}

static int compare_name(struct sample *s, size_t number)
{
	const struct question *q = &s->names[number];
	struct policy_path path = {.name = q->name, .size = strlen(q->name)};
	struct policy_answer host;
	struct verdict tree;
	int r;

	memcpy(path.anchors, q->anchors, sizeof(path.anchors));
	if (path.size > 1 && q->name[path.size - 1] == '/') {
		path.listing = true;
		path.size--;
	}
	r = policy_judge_path(s->policy->tables, s->policy->tables_size, &path, 0, &host);
	if (r == 0)
		r = tree_of(s->policy, &path, &tree);
	for (unsigned int right = 0; r == 0 && right < RIGHTS; right++)
		r = compare_right(s, q, &host, &tree, right, &s->asked[number * RIGHTS + right]);
	return r;
}

static int compare_policy(struct sample *s)
{
	uint64_t pages;
	int r = draw_policy(s);

	s->policies++;
	if (r == -E2BIG) {
		s->refused++;
		return 0;
	}
	if (r == 0)
		r = put_policy(s);
	if (r < 0)
		return r;
	pages = s->policy->tables_size / CORDON_PAGE_SIZE;
	if (pages > s->pages_most)
		s->pages_most = pages;
	draw_names(s);
	r = ask_kernel(s);
	for (size_t i = 0; r == 0 && i < NAMES; i++)
		r = compare_name(s, i);
	s->pairs += NAMES;
	return r;
}

static int run(struct sample *s, uint64_t wanted)
{
	int r = 0;

	while (r == 0 && s->pairs < wanted)
		r = compare_policy(s);
	if (r < 0 && r != -EILSEQ)
		printf("# after %llu pairs: %s\n", (unsigned long long)s->pairs, strerror(-r));
	/* A sample with few matching rules, or with policies of one page, would prove little. */
	if (r == 0 &&
	    (s->matches < s->pairs / 10 || s->resumed < s->pairs / 10 || s->pages_most < 2)) {
		printf("# too few matches, resumed runs or pages\n");
		r = -EILSEQ;
	}
	return r;
}

static int read_number(const char *text, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return errno || end == text || *end ? -EINVAL : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"pairs", required_argument, NULL, 'p'},
		{"seed", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0},
	};
	uint64_t pairs = PAIRS_DEFAULT, seed = 20261122;
	struct sample *s = calloc(1, sizeof(*s));
	struct utsname kernel = {};
	int option, r = s ? 0 : -ENOMEM;

	while (r == 0 && (option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		r = option == 'p'   ? read_number(optarg, &pairs)
		    : option == 's' ? read_number(optarg, &seed)
				    : -EINVAL;
	if (r < 0) {
		fputs("usage: matcher [--pairs N] [--seed N]\n", stderr);
		free(s);
		return 2;
	}
	random_state = seed | 1ull << 63;
	(void)uname(&kernel);
	r = load(s);
	if (r < 0) {
		printf("# matcher: kernel %s rejects the program: %s\n", kernel.release,
		       strerror(-r));
		return 3;
	}
	r = run(s, pairs);
	printf("%s - reference, host and kernel %s agree on %llu pairs of policy and name (%llu "
	       "policies of up to %llu pages, %llu verdicts by a rule, %llu checked again from the "
	       "directory on, %llu policies rejected as too large, seed %llu)\n",
	       r == 0 ? "ok" : "not ok", kernel.release, (unsigned long long)s->pairs,
	       (unsigned long long)s->policies, (unsigned long long)s->pages_most,
	       (unsigned long long)s->matches, (unsigned long long)s->resumed,
	       (unsigned long long)s->refused, (unsigned long long)seed);
	printf("# matcher: %d passed, %d failed\n", r == 0, r != 0);
	compiled_policy_free(s->policy);
	matcher_bpf__destroy(s->program);
	free(s);
	return r == 0 ? 0 : 1;
}
