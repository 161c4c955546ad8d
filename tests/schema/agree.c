/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what answers people agree with what was decided?   agree DIRECTORY...
 *
 * Asks of each access on record the policy that it was judged by, kept beside the log, as `could`,
 * `why`, `policy explain --record`, `policy try` and `policy learn` do, and compares the answer
 * with the verdict on record.
 */
#include "insight/recording/replay.h"
#include "insight/story/why.h"
#include "insight/text/view.h"
#include "audit/storage/policy_store.h"
#include "tests/schema/segments.h"

#define SHOWN 10

static const char *directory;
static json_t *starts; /* by execution */
static unsigned long judged, undecided, unkept, wrong;

/* Policies by digest; few are in one log, and each of many records in a row is by the same. */
static struct {
	char digest[65];
	struct compiled_policy *policy; /* NULL: it is not kept */
} kept[64];

static const struct compiled_policy *policy_of(const char *digest)
{
	static size_t next;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (strcmp(kept[i].digest, digest) == 0)
			return kept[i].policy;
	i = next++ % ARRAY_SIZE(kept);
	compiled_policy_free(kept[i].policy);
	kept[i].policy = NULL;
	snprintf(kept[i].digest, sizeof(kept[i].digest), "%s", digest);
	if (policy_store_get(directory, digest, &kept[i].policy, NULL) < 0)
		kept[i].policy = NULL;
	return kept[i].policy;
}

/* What one log lacks another may have. */
static void forget_policies(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		compiled_policy_free(kept[i].policy);
		kept[i].policy = NULL;
		kept[i].digest[0] = 0;
	}
}

static void take_start(const char *file, const char *line, size_t size)
{
	json_t *record = json_loadb(line, size, 0, NULL);
	const char *id = view_text(record, "cordon.execution.id");

	(void)file;
	if (id && view_is(record, "execution-start"))
		json_object_set(starts, id, record);
	json_decref(record);
}

static void disagree(const char *line, size_t size, const char *who, bool allowed)
{
	if (wrong++ < SHOWN)
		printf("%s: it %s; on record:\n  %.*s\n", who, allowed ? "could" : "could not",
		       (int)(size < 1500 ? size : 1500), line);
}

/* As `could` and `why` ask: by the words on record. */
static void judge_words(const struct compiled_policy *policy, const struct recorded_run *run,
			json_t *record, const char *line, size_t size)
{
	_cleanup_(question_release) struct policy_question question = {0};
	const char *directories[CORDON_MAX_ANCHORS] = {0};
	_cleanup_(freep) char *object = NULL;
	char error[QUESTION_ERROR_TEXT];
	struct policy_answer answer;
	_cleanup_(json_decrefp) json_t *why = why_build(&record, 1);
	const json_t *entry = json_array_get(json_object_get(why, "denials"), 0);
	struct why_question asked = {0};

	if (!why_question(entry, &asked))
		return;
	object = asked.object;
	/* Refused as an address of the host's own, which a right of its own is about. */
	if (strcmp(view_text(record, "cordon.reason"), "host") == 0)
		asked.right = "host";
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (policy->anchor_names[i])
			directories[i] = recorded_directory(run, policy->anchor_names[i]);
	if (question_read(policy, asked.right, object, directories, &question, error) < 0)
		return;
	question.path.case_insensitive = asked.case_insensitive;
	if (question_judge(policy, &question, &answer) < 0)
		return;
	if (!answer.missing)
		disagree(line, size, "could", true);
}

static void judge_access(const struct recording *recording, json_t *record, const char *line,
			 size_t size)
{
	const char *digest = view_text(record, "cordon.policy.digest");
	const struct compiled_policy *policy = digest ? policy_of(digest) : NULL;
	const struct recorded_access *accesses;
	const struct recorded_run *runs;
	struct replay_answer answer;
	size_t count, run_count;
	bool allowed;

	accesses = recording_accesses(recording, &count);
	runs = recording_runs(recording, &run_count);
	if (count == 0)
		return;
	if (!policy) {
		unkept++;
		return;
	}
	allowed = accesses[0].outcome == ACCESS_ALLOWED;
	if (replay_judge(policy, &runs[accesses[0].run], &accesses[0], &answer) < 0) {
		disagree(line, size, "no answer", !allowed);
		return;
	}
	judged += answer.decided;
	undecided += !answer.decided;
	if (answer.decided && answer.allowed != allowed)
		disagree(line, size, "explain --record", !allowed);
	else if (answer.decided && !allowed)
		judge_words(policy, &runs[accesses[0].run], record, line, size);
}

/* What permissions refused is on record since a rule marks it: the policy still says so. */
static void judge_attempt(const struct recording *recording, const json_t *record, const char *line,
			  size_t size)
{
	static const char *const rights[] = {"read", "list"};
	const char *digest = view_text(record, "cordon.policy.digest");
	const char *object = view_text(record, "cordon.object.text");
	const struct compiled_policy *policy = digest ? policy_of(digest) : NULL;
	const char *directories[CORDON_MAX_ANCHORS] = {0};
	const struct recorded_run *runs;
	size_t count;

	runs = recording_runs(recording, &count);
	if (!policy || !object || count == 0) {
		unkept += !policy;
		return;
	}
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (policy->anchor_names[i])
			directories[i] = recorded_directory(&runs[0], policy->anchor_names[i]);
	judged++;
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		_cleanup_(question_release) struct policy_question question = {0};
		char error[QUESTION_ERROR_TEXT];
		struct policy_answer answer;

		if (question_read(policy, rights[i], object, directories, &question, error) < 0 ||
		    question_judge(policy, &question, &answer) < 0)
			continue;
		for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
			if (answer.verdict.deny & CORDON_RIGHT(right) &&
			    answer.rule[right] == view_number(record, "cordon.rule.number"))
				return;
	}
	disagree(line, size, "no rule marks it", true);
}

static void take_line(const char *file, const char *line, size_t size)
{
	_cleanup_(recording_freep) struct recording *recording = recording_new();
	json_t *record = json_loadb(line, size, 0, NULL), *start;
	const char *id = view_text(record, "cordon.execution.id");

	(void)file;
	start = id ? json_object_get(starts, id) : NULL;
	/* That a program runs is no verdict. */
	if (recording && start && view_text(record, "cordon.operation") &&
	    recording_add(recording, start) == 0 && recording_add(recording, record) == 0) {
		if (view_is(record, "attempt"))
			judge_attempt(recording, record, line, size);
		else
			judge_access(recording, record, line, size);
	}
	json_decref(record);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: agree DIRECTORY...\n");
		return 2;
	}
	starts = json_object();
	for (int i = 1; i < argc; i++) {
		directory = argv[i];
		if (segments_read(directory, take_start) < 0 ||
		    segments_read(directory, take_line) < 0)
			return 2;
		forget_policies();
	}
	printf("%lu accesses agree with what answers, %lu do not, %lu no policy decides, of %lu the policy is not kept\n",
	       judged - wrong, wrong, undecided, unkept);
	json_decref(starts);
	return wrong > 0;
}
