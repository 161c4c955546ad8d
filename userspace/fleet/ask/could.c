/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the stored policies of a host again. */
#include "fleet/ask/could.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "audit/storage/policy_store.h"
#include "base/io.h"
#include "fleet/ask/fleet_search.h"
#include "fleet/store/host_log.h"
#include "insight/text/view.h"
#include "policy/ask/question.h"

struct asking {
	const struct could_question *question;
	const struct compiled_policy *policy;
	struct could_answer *answer;
	struct failure *failure;
};

/*
 * Searches the policy beside every log of the host: its digest proves that it is the right one.
 * *ret_policy is NULL if it is not stored.
 */
static int load_policy(const char *store, const char *host, const char *digest,
		       struct compiled_policy **ret_policy)
{
	_cleanup_(closedirp) DIR *folder = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	int r;

	*ret_policy = NULL;
	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s", store, host) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	r = io_open_directory(AT_FDCWD, path, &folder);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	while (!*ret_policy && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s/%s", store, host,
			     entry->d_name) >= (int)sizeof(path))
			continue;
		r = policy_store_get(path, digest, ret_policy, NULL);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			*ret_policy = NULL;
	}
	return 0;
}

static void note_rule(struct could_answer *answer, const struct compiled_policy *policy,
		      uint32_t number)
{
	const struct policy_rule *rule = &policy->rules[number];

	if (number >= policy->rule_count || answer->file)
		return;
	answer->file = strdup(rule->file);
	answer->text = strdup(rule->text);
	answer->line = rule->line;
}

/*
 * Evaluates the request with the variables bound to `directories`, or unbound where they are NULL.
 */
static int judge(const struct asking *a, const char *const directories[CORDON_MAX_ANCHORS],
		 struct policy_answer *ret_answer, struct policy_question *ret_question)
{
	char error[QUESTION_ERROR_TEXT];
	int r = question_read(a->policy, a->question->right, a->question->object, directories,
			      ret_question, error);

	if (r < 0)
		return failure_set(a->failure, r, "%s", r == -EINVAL ? error : strerror(-r));
	r = question_judge(a->policy, ret_question, ret_answer);
	if (r == 0 && ret_answer->missing)
		a->answer->if_own |= question_allowed_if_own(a->policy, ret_question, ret_answer);
	return r < 0 ? failure_set(a->failure, EIO, "the tables of %s are damaged", a->policy->name)
		     : 0;
}

static bool lies_below(const char *object, const char *directory)
{
	size_t size = strlen(directory);

	while (size > 0 && directory[size - 1] == '/')
		size--;
	return strncmp(object, directory, size) == 0 &&
	       (object[size] == '/' || object[size] == '\0');
}

/*
 * Binds the variables as the execution did. Returns false if the object is below none of their
 * directories.
 */
static bool bind_variables(const struct asking *a, const json_t *start,
			   const char *directories[CORDON_MAX_ANCHORS])
{
	const json_t *named = view_field(start, "cordon.execution.directories");
	bool any = false;

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++) {
		const char *name = a->policy->anchor_names[i], *directory;

		directories[i] = NULL;
		if (!name)
			continue;
		directory = json_string_value(json_object_get(named, name));
		if (!directory && strcmp(name, "workdir") == 0)
			directory = view_workdir(start);
		directories[i] = directory;
		any |= directory && lies_below(a->question->object, directory);
	}
	return any;
}

static int ask_execution(void *data, const struct fleet_found *found)
{
	const char *directories[CORDON_MAX_ANCHORS], *id;
	_cleanup_(question_release) struct policy_question question = {0};
	struct policy_answer judged;
	struct asking *a = data;
	int r;

	if (!bind_variables(a, found->record, directories))
		return 0;
	r = judge(a, directories, &judged, &question);
	if (r < 0 || judged.missing)
		return r;
	id = view_text(found->record, "cordon.execution.id");
	if (a->answer->executions++ == 0) {
		(void)snprintf(a->answer->execution, sizeof(a->answer->execution), "%s",
			       id ? id : "?");
		note_rule(a->answer, a->policy, judged.rule[question.right]);
	}
	return 0;
}

static bool has_variables(const struct compiled_policy *policy)
{
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (policy->anchor_names[i])
			return true;
	return false;
}

/* Counts the executions that have access because of their variables. */
static int ask_executions(struct asking *a, const struct could_use *use)
{
	const struct audit_query query = {.action = "execution-start", .policy = use->digest};
	const struct fleet_search search = {
		.directory = a->question->store, .host = use->host, .query = &query};
	struct fleet_search_result result;
	int r = fleet_search_run(a->question->rows, a->question->clickhouse, &search, ask_execution,
				 a, &result, a->failure);

	if (r == 0 && a->answer->executions > 0)
		a->answer->verdict = COULD_SOME;
	return r;
}

static int ask_policy(struct asking *a, const struct could_use *use)
{
	static const char *const unbound[CORDON_MAX_ANCHORS];
	_cleanup_(question_release) struct policy_question question = {0};
	struct policy_answer judged;
	int r = judge(a, unbound, &judged, &question);

	if (r < 0)
		return r;
	a->answer->observe = a->policy->observe;
	a->answer->verdict = judged.missing ? COULD_NOT : COULD;
	a->answer->but_for_own =
		!judged.missing && question.start == CORDON_START_NET &&
		question.right == CORDON_NET_CONNECT &&
		!(judged.verdict.allow & ~judged.verdict.deny & CORDON_RIGHT(CORDON_NET_HOST));
	if (judged.missing && question.start == CORDON_START_PATH &&
	    a->question->object[0] == '/' && has_variables(a->policy))
		r = ask_executions(a, use);
	if (r == 0 && a->answer->verdict != COULD_SOME)
		note_rule(a->answer, a->policy, judged.rule[question.right]);
	return r;
}

int could_ask(const struct could_question *question, const struct could_use *use,
	      struct could_answer *ret_answer, struct failure *failure)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	struct could_answer answer = {.verdict = COULD_UNKNOWN};
	struct asking asking = {.question = question, .answer = &answer, .failure = failure};
	int r = load_policy(question->store, use->host, use->digest, &policy);

	if (r < 0)
		return failure_set(failure, r, "cannot read the policies of %s: %m", use->host);
	asking.policy = policy;
	if (policy)
		r = ask_policy(&asking, use);
	if (r < 0) {
		could_answer_release(&answer);
		return r;
	}
	*ret_answer = answer;
	return 0;
}

void could_answer_release(struct could_answer *answer)
{
	free(answer->file);
	free(answer->text);
	*answer = (struct could_answer){};
}
