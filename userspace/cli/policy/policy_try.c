/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy try`: what would a policy have refused of what is on record? */
#include <jansson.h>
#include <string.h>

#include "audit/record/names.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "cli/log/recorded.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/recording/moves.h"
#include "insight/recording/replay.h"

#define OBJECT_WIDTH 48

static void print_help(FILE *out)
{
	fputs("usage: cordon policy try [OPTION]... POLICY [ID|last]...\n"
	      "\n"
	      "Asks POLICY about everything that the log recorded of executions: what went\n"
	      "ahead and would be denied, and what was denied and no longer would be. Without\n"
	      "an ID: of all on record. How much is on record is the matter of the policy they\n"
	      "ran under: under `observe` it is everything. Of moves the log has both names,\n"
	      "but not which belong together: those that may be denied, since the new name\n"
	      "grants more than an old one, are listed apart.\n"
	      "\n"
	      "      --since TIME         executions that started since: 2h, 7d, today,\n"
	      "                           2026-11-22, ...\n"
	      "      --log DIR            the log's directory (/var/log/cordon)\n"
	      "      --json               one JSON object, for programs\n"
	      "  -h, --help               this text\n"
	      "\n"
	      "Exit status 0: nothing that went ahead would be denied, 1: something would be,\n"
	      "2: no answer.\n",
	      out);
}

enum change {
	CHANGE_REFUSED, /* went ahead, would be refused */
	CHANGE_ALLOWED, /* was refused, would be allowed */
	CHANGE_NONE_ALLOWED,
	CHANGE_NONE_REFUSED,
	CHANGE_COUNT,
};

struct trial {
	const struct compiled_policy *policy;
	const struct recorded_run *runs;
	size_t run_count;
	const struct recorded_access *accesses;
	size_t count;
	struct replay_answer *answers;
	struct moves moves;
	size_t changes[CHANGE_COUNT];
};

static enum change change_of(const struct trial *t, size_t i)
{
	bool before = t->accesses[i].outcome != ACCESS_REFUSED, after = t->answers[i].allowed;

	if (before == after)
		return before ? CHANGE_NONE_ALLOWED : CHANGE_NONE_REFUSED;
	return before ? CHANGE_REFUSED : CHANGE_ALLOWED;
}

static char *list_rights(uint32_t rights, bool listing)
{
	_cleanup_(freep) char *text = NULL;
	const char *separator = "";
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (unsigned int right = 0; out && right < CORDON_RIGHT_COUNT; right++) {
		if (!(rights & CORDON_RIGHT(right)))
			continue;
		fprintf(out, "%s%s", separator,
			right == CORDON_READ && listing ? "list" : question_right_name(right));
		separator = ",";
	}
	return out && fclose(out) == 0 ? TAKE_PTR(text) : NULL;
}

/* "read,write", or the operation where no right stands for it. */
static char *describe_rights(const struct recorded_access *a)
{
	return a->rights ? list_rights(a->rights, a->listing)
			 : strdup(name_of_operation(a->operation));
}

static const struct policy_rule *rule_of(const struct trial *t, size_t i)
{
	uint16_t number = t->answers[i].rule;

	return number < t->policy->rule_count ? &t->policy->rules[number] : NULL;
}

static void print_access(const struct trial *t, const struct style *style, size_t i)
{
	const struct recorded_access *a = &t->accesses[i];
	const struct policy_rule *rule = rule_of(t, i);
	_cleanup_(freep) char *rights = describe_rights(a);
	int width = (int)strlen(a->text);

	printf("  %-12s ", rights ? rights : "?");
	style_text(stdout, style, a->text);
	printf("%*s  %5llu  %7llu  ", width < OBJECT_WIDTH ? OBJECT_WIDTH - width : 0, "",
	       (unsigned long long)a->count, (unsigned long long)a->record);
	style_text(stdout, style, a->program);
	if (rule)
		printf("  %s:%u: %s\n", rule->file, rule->line, rule->text);
	else
		printf("  %s\n",
		       a->kind >= ACCESS_CAPABILITY ? "section process" : "no rule allows it");
}

static void print_changes(const struct trial *t, const struct style *style, enum change change,
			  const char *head)
{
	if (!t->changes[change])
		return;
	printf("%s:\n  %-12s %-*s  %5s  %7s  %s\n", head, "rights", OBJECT_WIDTH, "object", "count",
	       "record", "program and rule");
	for (size_t i = 0; i < t->count; i++)
		if (change_of(t, i) == change)
			print_access(t, style, i);
}

static void print_moves(const struct trial *t, const struct style *style)
{
	if (t->moves.widening_count)
		puts("may be denied: moves to a name that grants more than an old one");
	for (size_t i = 0; i < t->moves.widening_count; i++) {
		const struct widening_move *move = &t->moves.widening[i];
		_cleanup_(freep) char *rights = list_rights(move->rights, false);

		printf("  to ");
		style_text(stdout, style, t->accesses[move->to].text);
		printf(" (record %llu), if it was from ",
		       (unsigned long long)t->accesses[move->to].record);
		style_text(stdout, style, t->accesses[move->from].text);
		printf(", which does not grant %s\n", rights ? rights : "?");
	}
	if (t->moves.renamed || t->moves.linked)
		printf("not compared: what lies below directories among the %zu names that something was "
		       "moved to; the old names of %zu hard links, which are not on record\n",
		       t->moves.renamed, t->moves.linked);
}

static void print_text(const struct trial *t)
{
	struct style style = terminal_style(stdout);

	print_changes(t, &style, CHANGE_REFUSED, "would be denied");
	print_changes(t, &style, CHANGE_ALLOWED, "would no longer be denied");
	print_moves(t, &style);
	printf("%s: of %zu distinct accesses in %zu executions, %zu would be denied, %zu no longer be "
	       "refused, %zu be allowed as before, %zu be denied as before\n",
	       t->policy->name, t->count, t->run_count, t->changes[CHANGE_REFUSED],
	       t->changes[CHANGE_ALLOWED], t->changes[CHANGE_NONE_ALLOWED],
	       t->changes[CHANGE_NONE_REFUSED]);
}

static json_t *list_changes(const struct trial *t, enum change change)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->count; i++) {
		const struct recorded_access *a = &t->accesses[i];
		const struct policy_rule *rule = rule_of(t, i);
		_cleanup_(freep) char *rights = NULL;
		json_t *o;

		if (change_of(t, i) != change)
			continue;
		rights = describe_rights(a);
		o = json_pack("{s:s, s:I, s:I, s:s, s:s, s:s, s:s}", "execution",
			      t->runs[a->run].id, "record", (json_int_t)a->record, "count",
			      (json_int_t)a->count, "operation", name_of_operation(a->operation),
			      "rights", rights ? rights : "", "object", a->text, "program",
			      a->program);
		json_object_set_new(o, "rule",
				    rule ? json_pack("{s:s, s:i, s:s}", "file", rule->file, "line",
						     (int)rule->line, "text", rule->text)
					 : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *list_moves(const struct trial *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->moves.widening_count; i++) {
		const struct widening_move *move = &t->moves.widening[i];
		const struct recorded_access *to = &t->accesses[move->to];
		_cleanup_(freep) char *rights = list_rights(move->rights, false);

		json_array_append_new(list, json_pack("{s:s, s:I, s:s, s:s, s:s}", "execution",
						      t->runs[to->run].id, "record",
						      (json_int_t)to->record, "to", to->text,
						      "from", t->accesses[move->from].text,
						      "rights", rights ? rights : ""));
	}
	return list;
}

static int print_json(const struct trial *t)
{
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:{s:I, s:I}, s:I, s:I}",
			      "policy", t->policy->name, "digest", t->policy->digest_text,
			      "executions", (json_int_t)t->run_count, "accesses",
			      (json_int_t)t->count, "refused", list_changes(t, CHANGE_REFUSED),
			      "no_longer_refused", list_changes(t, CHANGE_ALLOWED), "may_widen",
			      list_moves(t), "moves", "renamed", (json_int_t)t->moves.renamed,
			      "linked", (json_int_t)t->moves.linked, "allowed_as_before",
			      (json_int_t)t->changes[CHANGE_NONE_ALLOWED], "refused_as_before",
			      (json_int_t)t->changes[CHANGE_NONE_REFUSED]);
	int r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;

	putchar('\n');
	json_decref(o);
	return r == 0 ? 0 : -ENOMEM;
}

static int ask_all(struct trial *t)
{
	int r;

	t->answers = calloc(t->count + 1, sizeof(*t->answers));
	if (!t->answers)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		r = replay_judge(t->policy, &t->runs[t->accesses[i].run], &t->accesses[i],
				 &t->answers[i]);
		if (r < 0)
			return r;
		t->changes[change_of(t, i)]++;
	}
	return moves_find(t->run_count, t->accesses, t->count, t->answers, &t->moves);
}

static int try_policy(const struct policy_search *search, const char *name,
		      const struct recorded_choice *choice, bool json)
{
	_cleanup_(recording_freep) struct recording *recording = NULL;
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	struct trial t = {0};
	int r;

	if (policy_command_load(name, search, &policy) < 0 || recorded_load(choice, &recording) < 0)
		return 2;
	t.policy = policy;
	t.runs = recording_runs(recording, &t.run_count);
	t.accesses = recording_accesses(recording, &t.count);
	r = ask_all(&t);
	if (r == 0 && json)
		r = print_json(&t);
	else if (r == 0)
		print_text(&t);
	free(t.answers);
	moves_release(&t.moves);
	if (r < 0)
		message("cannot try %s: %s", name, strerror(-r));
	return r < 0 ? 2 : t.changes[CHANGE_REFUSED] != 0;
}

int policy_command_try(const struct policy_search *search, int argc, char **argv)
{
	static const struct option options[] = {
		{"since", required_argument, NULL, 's'},
		{"log", required_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct recorded_choice choice = {.directory = DEFAULT_LOG_DIRECTORY};
	bool json = false;
	int option;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 's':
			if (recorded_since(&choice, optarg) < 0)
				return 2;
			break;
		case 'l':
			choice.directory = optarg;
			break;
		case 'j':
			json = true;
			break;
		default:
			print_help(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (argc - optind < 1) {
		message("name a policy");
		print_help(stderr);
		return 2;
	}
	choice.words = argv + optind + 1;
	choice.word_count = (size_t)(argc - optind - 1);
	if (choice.word_count && choice.have_since) {
		message("either ids or --since");
		return 2;
	}
	return policy_command_finish(try_policy(search, argv[optind], &choice, json));
}
