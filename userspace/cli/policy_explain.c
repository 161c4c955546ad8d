/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy explain`: why an access is allowed or refused. */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "cli/message.h"
#include "cli/policy_command.h"
#include "policy/match.h"
#include "policy/question.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy explain [OPTION]... POLICY RIGHT OBJECT\n"
	      "\n"
	      "Says whether POLICY allows an access, which rule decides, which other rules match, and the\n"
	      "smallest rule that would allow it. Nothing is opened or connected: OBJECT is a resolved name,\n"
	      "as it stands in a denial's record.\n"
	      "\n"
	      "  read|list|write|create|delete /PATH       run|map /PATH, @anonymous or @memfd\n"
	      "  connect|bind|listen [tcp:|udp:|icmp:]ADDRESS:PORT\n"
	      "  connect|bind abstract:NAME, connect /SOCKET\n"
	      "  socket FAMILY/TYPE/PROTOCOL\n"
	      "\n"
	      "  --workdir DIR, --tmp DIR, --home DIR, --bind NAME=DIR\n"
	      "             what the policy's variables stand for; OBJECT may also start with one,\n"
	      "             as in '${workdir}/x'\n"
	      "  --json     one JSON object, for programs\n"
	      "\n"
	      "Exit status 0: allowed, 1: refused, 2: the question or the policy is wrong.\n",
	      out);
}

struct explanation {
	const struct compiled_policy *policy;
	struct policy_question question;
	struct policy_answer answer;
	struct policy_matches matches;
	char *rule; /* the smallest that would allow it */
};

static void explanation_release(struct explanation *e)
{
	question_release(&e->question);
	policy_matches_release(&e->matches);
	free(e->rule);
}

struct bindings {
	const char *names[CORDON_MAX_ANCHORS]; /* not terminated: of `sizes` bytes */
	size_t sizes[CORDON_MAX_ANCHORS];
	const char *directories[CORDON_MAX_ANCHORS];
	size_t count;
};

static int add_binding(struct bindings *b, const char *name, size_t size, const char *directory)
{
	if (b->count == CORDON_MAX_ANCHORS) {
		message("more than %u variables", CORDON_MAX_ANCHORS);
		return -EINVAL;
	}
	if (*directory != '/') {
		message("%.*s must be an absolute path: %s", (int)size, name, directory);
		return -EINVAL;
	}
	b->names[b->count] = name;
	b->sizes[b->count] = size;
	b->directories[b->count++] = directory;
	return 0;
}

static int split_binding(struct bindings *b, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		message("write --bind NAME=DIR");
		return -EINVAL;
	}
	return add_binding(b, text, (size_t)(equals - text), equals + 1);
}

static bool is_named(const char *name, const struct bindings *b, size_t number)
{
	return name && strlen(name) == b->sizes[number] &&
	       memcmp(name, b->names[number], b->sizes[number]) == 0;
}

static int resolve_bindings(const struct compiled_policy *p, const struct bindings *b,
			    const char *directories[CORDON_MAX_ANCHORS])
{
	for (size_t i = 0; i < b->count; i++) {
		bool found = false;

		for (size_t n = 0; n < CORDON_MAX_ANCHORS; n++) {
			if (!is_named(p->anchor_names[n], b, i))
				continue;
			directories[n] = b->directories[i];
			found = true;
		}
		if (!found) {
			message("%s has no variable \"%.*s\"", p->name, (int)b->sizes[i],
				b->names[i]);
			return -EINVAL;
		}
	}
	return 0;
}

static json_t *describe_rule(const struct compiled_policy *p, uint32_t number)
{
	if (number >= p->rule_count)
		return json_null();
	return json_pack("{s:i, s:s, s:i, s:s}", "number", (int)number, "file",
			 p->rules[number].file, "line", (int)p->rules[number].line, "text",
			 p->rules[number].text);
}

static int print_json(const struct explanation *e, const char *right, const char *object)
{
	const struct compiled_policy *p = e->policy;
	uint32_t decides = e->answer.rule[e->question.right];
	json_t *others = json_array(), *o;
	int r;

	for (size_t i = 0; i < e->matches.count; i++)
		if (e->matches.list[i].rule != decides && e->matches.list[i].rule < p->rule_count)
			json_array_append_new(others, describe_rule(p, e->matches.list[i].rule));
	o = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o}", "policy", p->name, "right", right, "object",
		      object, "allowed", e->answer.missing == 0, "rule", describe_rule(p, decides),
		      "others", others);
	if (o && e->rule) {
		json_object_set_new(o, "section", json_string(question_section(e->question.right)));
		json_object_set_new(o, "smallest_rule", json_string(e->rule));
	}
	r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
	putchar('\n');
	json_decref(o);
	return r == 0 ? 0 : -ENOMEM;
}

static void print_rule(const struct compiled_policy *p, const char *what, uint32_t number)
{
	const struct policy_rule *rule = &p->rules[number];

	printf("  %-8s %s:%u: %s\n", what, rule->file, rule->line, rule->text);
}

static void print_text(const struct explanation *e, const char *right, const char *object)
{
	const struct compiled_policy *p = e->policy;
	uint32_t decides = e->answer.rule[e->question.right];
	bool allowed = e->answer.missing == 0;
	bool denied = e->answer.verdict.deny & CORDON_RIGHT(e->question.right);

	printf("%s: %s %s: %s%s\n", p->name, right, object, allowed ? "allowed" : "refused",
	       p->observe && !allowed ? " (observe mode: on record only)" : "");
	if (decides < p->rule_count)
		print_rule(p, "by", decides);
	else
		printf("  %-8s %s\n", "by",
		       allowed ? "what is built in" : "no rule: nothing allows it");
	for (size_t i = 0; i < e->matches.count; i++)
		if (e->matches.list[i].rule != decides && e->matches.list[i].rule < p->rule_count)
			print_rule(p, "also", e->matches.list[i].rule);
	if (e->rule)
		printf("  %-8s under %s: %s\n", "smallest", question_section(e->question.right),
		       e->rule);
	if (denied)
		printf("  %-8s a deny wins over every allow: narrow it first\n", "but");
}

static int explain(const char *name, const struct policy_search *search, const struct bindings *b,
		   const char *right, const char *object, bool json)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	_cleanup_(explanation_release) struct explanation e = {0};
	const char *directories[CORDON_MAX_ANCHORS] = {0};
	char error[QUESTION_ERROR_TEXT];
	int r;

	if (policy_command_load(name, search, &p) < 0 || resolve_bindings(p, b, directories) < 0)
		return 2;
	e.policy = p;
	r = question_read(p, right, object, directories, &e.question, error);
	if (r == -EINVAL)
		message("%s", error);
	if (r == 0)
		r = question_judge(p, &e.question, &e.answer);
	if (r == 0)
		r = policy_find_matches(name, search, &e.question, &e.matches);
	if (r == 0 && e.answer.missing) {
		e.rule = question_smallest_rule(p, &e.question);
		r = e.rule ? 0 : -ENOMEM;
	}
	if (r == 0 && json)
		r = print_json(&e, right, object);
	else if (r == 0)
		print_text(&e, right, object);
	if (r < 0 && r != -EINVAL)
		message("cannot explain %s: %s", name, strerror(-r));
	return r < 0 ? 2 : e.answer.missing != 0;
}

int policy_command_explain(const struct policy_search *search, int argc, char **argv)
{
	static const struct option options[] = {
		{"workdir", required_argument, NULL, 'w'},
		{"tmp", required_argument, NULL, 't'},
		{"home", required_argument, NULL, 'o'},
		{"bind", required_argument, NULL, 'b'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct bindings b = {0};
	bool json = false;
	int option, r = 0;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'w':
			r = add_binding(&b, "workdir", strlen("workdir"), optarg);
			break;
		case 't':
			r = add_binding(&b, "tmp", strlen("tmp"), optarg);
			break;
		case 'o':
			r = add_binding(&b, "home", strlen("home"), optarg);
			break;
		case 'b':
			r = split_binding(&b, optarg);
			break;
		case 'j':
			json = true;
			break;
		default:
			print_help(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
		if (r < 0)
			return 2;
	}
	if (argc - optind != 3) {
		message("name a policy, a right and an object");
		print_help(stderr);
		return 2;
	}
	r = explain(argv[optind], search, &b, argv[optind + 1], argv[optind + 2], json);
	return policy_command_finish(r);
}
