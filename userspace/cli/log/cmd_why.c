/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon why`: why something was refused. */
#include <string.h>

#include "audit/storage/policy_store.h"
#include "cli/term/commands.h"
#include "cli/log/find.h"
#include "cli/log/judge.h"
#include "cli/log/recorded.h"
#include "cli/log/story_options.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "insight/learn/amend.h"
#include "insight/text/view.h"
#include "insight/story/why.h"

static const char help[] =
	"usage: cordon why ID|last|SEQ [--log DIR] [--json]\n"
	"\n"
	"Explains the denials of an execution, or the one denial with the number SEQ in\n"
	"the log: the rule that decided with its file and line, other rules that match,\n"
	"and the smallest rule that would allow the access, or why no rule can. A number\n"
	"of up to 7 digits is a SEQ; write a longer one as #SEQ.\n"
	"\n"
	"      --json           for the agent whose code was denied\n"
	"      --utc            times in UTC instead of local time\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

/* A shorter number is a place in the log, not the beginning of an id. */
#define SEQUENCE_DIGITS_MAX 7

static bool parse_sequence(const char *word, uint64_t *ret)
{
	bool marked = word[0] == '#';
	size_t length;
	char *end;

	word += marked;
	length = strlen(word);
	if (length == 0 || strspn(word, "0123456789") != length ||
	    (!marked && length > SEQUENCE_DIGITS_MAX))
		return false;
	errno = 0;
	*ret = strtoull(word, &end, 10);
	return !errno && *ret > 0;
}

/* The record of its start, for what the policy's variables stood for. */
static json_t *find_start(const char *directory, const char *id)
{
	const struct audit_query query = {.execution = id, .action = "execution-start"};
	json_t *found = NULL, *start;
	int status;

	if (!id || find_all(directory, &query, &found, &status) < 0)
		return NULL;
	start = json_incref(json_array_get(found, 0));
	json_decref(found);
	return start;
}

static void add_others_of(const struct judge *judge, json_t *entry)
{
	char error[QUESTION_ERROR_TEXT];
	struct policy_question question;
	struct policy_answer answer;
	struct why_question asked;

	if (!why_question(entry, &asked))
		return;
	if (question_read(judge->policy, asked.right, asked.object, judge->directories, &question,
			  error) == 0) {
		question.path.case_insensitive = asked.case_insensitive;
		if (question_judge(judge->policy, &question, &answer) == 0)
			json_object_set_new(entry, "runners_up",
					    judge_others(judge, &question,
							 answer.rule[question.right]));
		question_release(&question);
	}
	free(asked.object);
}

/* Which other rules speak of the same: from the policy as it was, if it is kept. */
static void add_others(const char *directory, const json_t *why)
{
	const char *digest = view_text(why, "policy.digest"), *id;
	json_t *list = json_object_get(why, "denials"), *entry, *start;
	struct compiled_policy *kept;
	struct judge judge;
	size_t i;

	json_array_foreach(list, i, entry)
		json_object_set_new(entry, "runners_up", json_null());
	if (!digest || policy_store_get(directory, digest, &kept, NULL) < 0)
		return;
	compiled_policy_free(kept);
	id = view_text(json_array_get(list, 0), "execution");
	start = find_start(directory, id);
	if (start && judge_open(directory, digest, start, &judge) == 0) {
		json_array_foreach(list, i, entry)
			add_others_of(&judge, entry);
		judge_close(&judge);
	}
	json_decref(start);
}

/* From all that the log has of the execution. Without one, or a policy, there is none. */
static bool propose(const char *directory, const json_t *why, struct amendment *ret_amendment)
{
	const char *id = view_text(json_array_get(json_object_get(why, "denials"), 0), "execution");
	char *words[] = {(char *)id};
	const struct recorded_choice choice = {
		.directory = directory, .words = words, .word_count = 1};
	_cleanup_(policy_search_freep) char **directories = policy_search_own_directories();
	const struct policy_search search = {.directories = (const char *const *)directories};
	const struct amend_options options = {.search = &search};
	_cleanup_(recording_freep) struct recording *recording = NULL;

	return id && directories && recorded_load(&choice, &recording) == 0 &&
	       amend_make(recording, &options, ret_amendment) == 0;
}

static int explain(const char *directory, json_t *found, bool json)
{
	_cleanup_(amendment_release) struct amendment amendment = {0};
	bool proposed;
	size_t count = json_array_size(found);
	json_t **records = calloc(count + 1, sizeof(*records));
	struct style style = terminal_style(stdout);
	json_t *why = NULL;

	for (size_t i = 0; records && i < count; i++)
		records[i] = json_array_get(found, i);
	if (records)
		why = why_build(records, count);
	free(records);
	if (!why) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	add_others(directory, why);
	proposed = propose(directory, why, &amendment);
	if (json) {
		json_object_set_new(why, "proposal",
				    proposed ? amendment_json(&amendment) : json_null());
		json_dumpf(why, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		why_write(stdout, &style, why);
		if (proposed)
			putchar('\n');
		if (proposed)
			amendment_write(stdout, &style, &amendment);
	}
	json_decref(why);
	return terminal_finish(stdout, EXIT_SUCCESS);
}

/* Denials, and the end with the limits that were reached. */
static bool matters(const json_t *record)
{
	return view_is_denial(record) || view_is(record, "execution-end");
}

static int find(const char *directory, const char *word, json_t **ret_found, int *ret_status)
{
	struct audit_query query = {0};
	const json_t *record;
	int r;

	if (!parse_sequence(word, &query.sequence))
		return find_execution(directory, word, matters, ret_found, ret_status);
	r = find_all(directory, &query, ret_found, ret_status);
	if (r < 0)
		return r;
	record = json_array_get(*ret_found, 0);
	if (record && view_is_denial(record))
		return 0;
	if (record)
		message("the record at seq %s is no denial, but \"%s\"", word,
			view_text(record, "event.action"));
	else
		message("the log in %s has no record with seq %s", directory, word);
	json_decref(*ret_found);
	*ret_found = NULL;
	return -ENOENT;
}

int cmd_why(int argc, char **argv)
{
	json_t *found = NULL;
	struct story_options o;
	int status = story_options_read(argc, argv, help,
					"why takes one id, `last`, or the seq of a record", &o);
	int shown;

	if (status >= 0)
		return status;
	status = EXIT_FAILURE;
	if (find(o.directory, o.word, &found, &status) < 0)
		return EXIT_USAGE;
	shown = explain(o.directory, found, o.json);
	json_decref(found);
	return shown != EXIT_SUCCESS ? shown : status;
}
