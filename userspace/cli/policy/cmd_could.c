/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon could`: could an execution of the log have had an access at all? */
#include <getopt.h>
#include <string.h>

#include "cli/term/commands.h"
#include "cli/log/find.h"
#include "cli/log/judge.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "insight/story/denials.h"
#include "insight/text/view.h"

static const char help[] =
	"usage: cordon could ID|last RIGHT OBJECT [--log DIR] [--json]\n"
	"\n"
	"Decides whether an execution could have had an access, by the compiled policy that it ran under,\n"
	"which is kept beside the log: the tables that the kernel ran, run once more. The answer names the\n"
	"rule, or is the proof that none of them grants it. RIGHT and OBJECT as `cordon policy explain` takes\n"
	"them; variables stand for what they stood for then.\n"
	"\n"
	"      --json           the answer as JSON\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status 0: it could, 1: it could not, 2: there is no answer.\n";

struct could {
	const char *directory, *right, *object;
	json_t *records;
	const json_t *start;
	json_t *answers; /* one per policy */
	bool possible;
};

static const json_t *find_start(const json_t *records)
{
	const json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
		if (view_is(record, "execution-start"))
			return record;
	return NULL;
}

static json_t *make_answer(struct could *c, const struct judge *judge,
			   const struct policy_question *question,
			   const struct policy_answer *answer)
{
	const struct compiled_policy *p = judge->policy;
	uint32_t decides = answer->rule[question->right];
	bool allowed = answer->missing == 0;
	bool denied = answer->verdict.deny & CORDON_RIGHT(question->right);
	_cleanup_(freep) char *smallest = allowed || denied ? NULL
							    : question_smallest_rule(p, question);
	_cleanup_(freep) char *proof = NULL;

	if (allowed && p->observe)
		proof = strdup("the policy allows it");
	else if (allowed)
		proof = strdup("the tables that were in force grant it");
	else if (denied)
		proof = strdup("a rule denies it, and deny beats whatever allows it");
	else if (
		asprintf(
			&proof,
			"no rule grants it: the automaton of all %zu rules (%u states) was run over "
			"the whole of the name, and ends where none of them allows this",
			p->rule_count, compiled_policy_states(p)) < 0)
		proof = NULL;
	/* A policy that only observes stops nothing. */
	c->possible |= allowed || p->observe;
	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:o, s:o, s:s?, s:s?, s:s}", "policy",
			 p->name, "file", p->file, "digest", p->digest_text, "allowed", allowed,
			 "observe", p->observe, "denied", denied, "rule",
			 judge_rule(judge, decides), "others",
			 judge_others(judge, question, decides), "proof", proof, "smallest_rule",
			 smallest, "section", question_section(question->right));
}

static int ask(struct could *c, const char *digest)
{
	struct policy_question question;
	struct policy_answer answer;
	char error[QUESTION_ERROR_TEXT];
	struct judge judge;
	int r = judge_open(c->directory, digest, c->start, &judge);

	if (r < 0)
		return r;
	r = question_read(judge.policy, c->right, c->object, judge.directories, &question, error);
	if (r == -EINVAL)
		message("%s", error);
	if (r == 0) {
		r = question_judge(judge.policy, &question, &answer);
		if (r == 0)
			json_array_append_new(c->answers,
					      make_answer(c, &judge, &question, &answer));
		question_release(&question);
	}
	judge_close(&judge);
	return r;
}

/* Each policy that a record names: it may have been changed while the execution ran. */
static int ask_all(struct could *c)
{
	json_t *asked = json_object(), *record;
	int r = asked ? 0 : -ENOMEM;
	size_t i;

	json_array_foreach(c->records, i, record) {
		const char *digest = view_text(record, "cordon.policy.digest");

		if (r < 0 || !digest || json_object_get(asked, digest))
			continue;
		json_object_set_new(asked, digest, json_true());
		r = ask(c, digest);
	}
	json_decref(asked);
	return r;
}

/* Without the protocol, which records keep elsewhere. */
static const char *object_on_record(const char *object)
{
	static const char *const protocols[] = {"tcp:", "udp:", "icmp:", "abstract:"};

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (strncmp(object, protocols[i], strlen(protocols[i])) == 0)
			return object + strlen(protocols[i]);
	return object;
}

/* What the log says of this very object. */
static json_t *find_evidence(const struct could *c)
{
	const char *object = object_on_record(c->object);
	struct denial_groups groups = {0};
	json_t *evidence = json_array(), *record;
	size_t i, index;
	int is_new;

	json_array_foreach(c->records, i, record) {
		const char *text = view_text(record, "cordon.object.text");

		if (text && strcmp(text, object) == 0)
			(void)denial_groups_add(&groups, record, &index, &is_new);
	}
	for (i = 0; i < groups.count; i++) {
		_cleanup_(freep) char *phrase = denial_phrase(groups.items[i].first);

		json_array_append_new(
			evidence,
			json_pack("{s:I, s:s?, s:s?, s:I}", "seq",
				  (json_int_t)view_number(groups.items[i].first, "seq"), "action",
				  view_text(groups.items[i].first, "event.action"), "what", phrase,
				  "count", (json_int_t)groups.items[i].count));
	}
	denial_groups_free(&groups);
	return evidence;
}

static void print_rule(const struct style *style, const char *label, const json_t *rule)
{
	const char *file = view_text(rule, "file"), *text = view_text(rule, "text");

	printf("  %-9s ", label);
	style_text_in(stdout, style, STYLE_NAME, file ? file : "?", 0);
	printf(":%llu  ", (unsigned long long)view_number(rule, "line"));
	style_text(stdout, style, text ? text : "?");
	putchar('\n');
}

static void print_answer(const struct style *style, const json_t *answer)
{
	const json_t *rule = json_object_get(answer, "rule"), *other;
	const char *smallest = view_text(answer, "smallest_rule");
	size_t i;

	printf("  policy    ");
	style_text(stdout, style, view_text(answer, "policy"));
	printf(" (");
	style_text(stdout, style, view_text(answer, "file"));
	printf("), sha256 %.16s...: ", view_text(answer, "digest"));
	if (json_is_true(json_object_get(answer, "allowed")))
		style_text_in(stdout, style, STYLE_WARN, "allows it", 0);
	else if (json_is_true(json_object_get(answer, "observe")))
		style_text_in(stdout, style, STYLE_WARN, "does not allow it, but only observes", 0);
	else
		style_text_in(stdout, style, STYLE_GOOD, "does not allow it", 0);
	putchar('\n');
	if (json_is_object(rule))
		print_rule(style, "by", rule);
	json_array_foreach(json_object_get(answer, "others"), i, other)
		print_rule(style, "also", other);
	printf("  because   %s\n", view_text(answer, "proof"));
	if (smallest) {
		printf("  smallest  under %s: ", view_text(answer, "section"));
		style_text_in(stdout, style, STYLE_NAME, smallest, 0);
		putchar('\n');
	}
}

static void print_text(const struct could *c, const json_t *evidence)
{
	const char *id = view_text(c->start, "cordon.execution.id");
	struct style style = terminal_style(stdout);
	json_t *item;
	size_t i;

	style_text_in(stdout, &style, c->possible ? STYLE_WARN : STYLE_GOOD,
		      c->possible ? "It could" : "It could not", 0);
	printf(": %s ", c->right);
	style_text(stdout, &style, c->object);
	printf(", by execution %s\n", id ? id : "?");
	json_array_foreach(c->answers, i, item)
		print_answer(&style, item);
	json_array_foreach(evidence, i, item) {
		const char *what = view_text(item, "what");

		printf("  on record seq %llu: ", (unsigned long long)view_number(item, "seq"));
		style_text(stdout, &style, what ? what : "?");
		if (view_number(item, "count") > 1)
			printf(", %llu times", (unsigned long long)view_number(item, "count"));
		putchar('\n');
	}
	if (json_array_size(evidence) == 0)
		puts("  on record nothing of this object");
}

static int answer(struct could *c, const char *word, bool json)
{
	int status = EXIT_FAILURE;
	json_t *evidence, *object;

	if (find_execution(c->directory, word, &c->records, &status) < 0)
		return 2;
	c->start = find_start(c->records);
	if (!c->start) {
		message("the record of its start, which says what its variables stood for, is not in "
			"this log");
		return 2;
	}
	if (ask_all(c) < 0 || json_array_size(c->answers) == 0)
		return 2;
	evidence = find_evidence(c);
	if (json) {
		object = json_pack("{s:O, s:s, s:s, s:b, s:O, s:O}", "execution",
				   view_field(c->start, "cordon.execution.id"), "right", c->right,
				   "object", c->object, "could", c->possible, "policies",
				   c->answers, "on_record", evidence);
		json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
		json_decref(object);
	} else {
		print_text(c, evidence);
	}
	json_decref(evidence);
	return terminal_finish(stdout, c->possible ? 0 : 1);
}

int cmd_could(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct could c = {.directory = DEFAULT_LOG_DIRECTORY};
	bool json = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'l':
			c.directory = optarg;
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	if (argc - optind != 3) {
		message("name an execution, a right and an object");
		fputs(help, stderr);
		return 2;
	}
	c.right = argv[optind + 1];
	c.object = argv[optind + 2];
	c.answers = json_array();
	status = answer(&c, argv[optind], json);
	json_decref(c.records);
	json_decref(c.answers);
	return status;
}
