/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of cordon.yaml as the kernel needs it: names looked up, policy compiled, limits lowered.
 */
#include <string.h>

#include "adopt/lookup.h"
#include "daemon/executor/adopted.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/executor/gathering.h"
#include "daemon/privsep/errand.h"
#include "launch/environment.h"
#include "policy/core/variables.h"
#include "policy/ask/evaluate.h"

/* Paths of one entry's program: those of its pattern, and as many earlier ones. */
#define TARGETS_MAX (2 * LOOKUP_TARGETS_MAX)
/* Several entries are told of in one packet. */
#define WHY_MAX 480

void executor_entry_forget_found(struct executor_entry *entry)
{
	if (!entry->found)
		return;
	lookup_release(entry->found);
	free(TAKE_PTR(entry->found));
}

void executor_entry_free(struct executors *x, struct executor_entry *entry)
{
	if (!entry)
		return;
	errand_cancel(entry->following);
	executor_entry_forget_found(entry);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		closep(&entry->directories[i]);
	if (entry->policy)
		policies_put(x->daemon->policies, entry->policy);
	compiled_strings_free(entry->targets);
	free(entry->pattern);
	free(entry->names);
	free(entry->why);
	free(entry);
}

static bool is_in(char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

bool executor_entry_runs(const struct executor_entry *entry, const char *path)
{
	return is_in(entry->targets, path) ||
	       (entry->pattern && name_walk_is_like(entry->pattern, path));
}

/* Appends a copy, unless the list has it. */
static int add_path(char ***list, const char *path)
{
	char **larger, *copy;
	size_t count = 0;

	if (is_in(*list, path))
		return 0;
	while (*list && (*list)[count])
		count++;
	larger = reallocarray(*list, count + 2, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	*list = larger;
	larger[count] = NULL;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	larger[count] = copy;
	larger[count + 1] = NULL;
	return 0;
}

/* What the list has more than it may have, from its beginning. */
static void drop_oldest(struct executor_entry *entry)
{
	struct adoption *a = entry->executors->adoption;
	size_t count = 0;

	while (entry->targets && entry->targets[count])
		count++;
	for (; count > TARGETS_MAX; count--) {
		char *oldest = entry->targets[0];
		uint64_t mask = adoption_whole_name(a, CORDON_ADOPT_EXECUTOR, 0, oldest);

		(void)adoption_add_name(a, CORDON_ADOPT_EXECUTOR, 0, oldest, true,
					mask & ~(1ull << entry->index));
		memmove(entry->targets, entry->targets + 1, count * sizeof(*entry->targets));
		free(oldest);
	}
}

int executor_add_target(struct executor_entry *entry, const char *path, struct failure *failure)
{
	struct executors *x = entry->executors;
	uint64_t mask = adoption_whole_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, path) &
			x->active;
	int r = adoption_add_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, path, true,
				  mask | 1ull << entry->index);

	if (r == 0)
		r = add_path(&entry->targets, path);
	if (r < 0)
		return failure_set(failure, r,
				   "executor %s: \"%s\" cannot be put into the kernel: %m",
				   entry->is->name, path);
	drop_oldest(entry);
	return 0;
}

static void set_glob(struct cordon_glob *glob, const char *text)
{
	*glob = (struct cordon_glob){};
	if (!text)
		return;
	glob->length = (uint32_t)strlen(text);
	memcpy(glob->text, text, glob->length);
}

static void fill_kernel(struct executors *x, const struct executor_entry *entry,
			const struct executor_entry *itself, const struct lookup *found)
{
	struct cordon_executor *kernel = adoption_entry(x->adoption, entry->index);
	const struct config_executor *is = entry->is;

	memset(kernel, 0, sizeof(*kernel));
	snprintf(kernel->name, sizeof(kernel->name), "%s", is->name);
	if (is->away == CONFIG_AWAY_DENY)
		kernel->flags |= CORDON_EXECUTOR_DENY_AWAY;
	if (is->hold)
		kernel->flags |= CORDON_EXECUTOR_HOLD;
	if (is->no_input)
		kernel->flags |= CORDON_EXECUTOR_NO_INPUT;
	if (is->gate[0])
		kernel->flags |= CORDON_EXECUTOR_GATE;
	if (is->kind == CONFIG_CONTAINER)
		kernel->flags |= CORDON_EXECUTOR_CONTAINER;
	/* One of them may be known by another name once it is there: till then, all are meant. */
	if (is->programs[0] && found->all_programs)
		kernel->flags |= CORDON_EXECUTOR_ONLY;
	if (is->except[0])
		kernel->flags |= CORDON_EXECUTOR_EXCEPT;
	if (entry->policy && entry->policy->policy->environment.keep_all)
		kernel->flags |= CORDON_EXECUTOR_KEEP_ALL;
	if (is->is_itself)
		kernel->flags |= CORDON_EXECUTOR_ITSELF;
	if (is->kind == CONFIG_SESSION)
		kernel->flags |= CORDON_EXECUTOR_SESSION;
	kernel->grace_msec = is->grace_msec;
	kernel->itself = itself ? itself->index + 1 : 0;
	set_glob(&kernel->arguments, is->arguments);
	set_glob(&kernel->child_arguments, is->child_arguments);
	if (found->has_user) {
		kernel->flags |= CORDON_EXECUTOR_UID;
		kernel->uid = found->user;
	}
	if (found->cgroup)
		kernel->flags |= CORDON_EXECUTOR_CGROUP;
	if (entry->pattern) {
		set_glob(&kernel->program, entry->pattern + entry->prefix);
		kernel->program_from = (uint32_t)entry->prefix;
	}
}

static int add_name(struct executors *x, const struct executor_entry *entry,
		    enum cordon_adopt_question question, const char *text, bool whole,
		    uint64_t value, struct failure *failure)
{
	int r = adoption_add_name(x->adoption, question, entry->index, text, whole, value);

	if (r < 0)
		return failure_set(failure, r,
				   "executor %s: \"%s\" cannot be put into the kernel: %m",
				   entry->is->name, text);
	return 0;
}

static int add_paths(struct executors *x, const struct executor_entry *entry, char *const *paths,
		     struct failure *failure)
{
	int r = 0;

	for (; r == 0 && paths && *paths; paths++) {
		r = add_name(x, entry, CORDON_ADOPT_PROGRAM, *paths, true, 1, failure);
		/* Of what may run on the host for a container, the runtime is known by its file. */
		if (entry->is->kind == CONFIG_CONTAINER && executor_entry_runs(entry, *paths))
			adoption_entry(x->adoption, entry->index)->flags |= CORDON_EXECUTOR_RUNTIME;
	}
	return r;
}

static int add_directories(struct executors *x, const struct executor_entry *entry,
			   char *const *paths, struct failure *failure)
{
	char path[CONFIG_PATH_MAX + 2];
	int r = 0;

	for (; r == 0 && paths && *paths; paths++) {
		snprintf(path, sizeof(path), "%s%s", *paths, strcmp(*paths, "/") != 0 ? "/" : "");
		r = add_name(x, entry, CORDON_ADOPT_UNDER, path, false, 1, failure);
	}
	return r;
}

/* Those that a pattern would keep, and that make a loader or an interpreter load something. */
static int except_loading(struct executors *x, const struct executor_entry *entry,
			  struct failure *failure)
{
	char text[CORDON_ADOPT_TEXT];
	int r = 0;

	for (const char *const *name = environment_loading(); r == 0 && *name; name++) {
		size_t length = strlen(*name);
		bool pattern = (*name)[length - 1] == '*';

		snprintf(text, sizeof(text),
			 pattern ? "%.*s" : "%.*s=", (int)(pattern ? length - 1 : length), *name);
		r = add_name(x, entry, CORDON_ADOPT_KEEP, text, false, 0, failure);
	}
	return r;
}

/* In the form that lookup_policy() found them to have. */
static int add_variables(struct executors *x, const struct executor_entry *entry,
			 struct failure *failure)
{
	const struct policy_environment *environment = &entry->policy->policy->environment;
	char text[CORDON_ADOPT_TEXT];
	int r;

	if (environment->keep_all)
		return 0;
	r = except_loading(x, entry, failure);
	for (char **keep = environment->keep; r == 0 && *keep; keep++) {
		size_t plain = strcspn(*keep, "*?[\\");
		bool pattern = (*keep)[plain] != '\0';

		if (policy_keeps_nothing(*keep))
			continue;

		snprintf(text, sizeof(text), pattern ? "%.*s" : "%.*s=", (int)plain, *keep);
		r = add_name(x, entry, CORDON_ADOPT_KEEP, text, false, 1, failure);
	}
	return r;
}

/* Limits that a cgroup holds, and packets that only a cgroup's programs see. */
static bool needs_cgroup(const struct executor_entry *entry)
{
	const struct policy_limits *limits = &entry->limits;
	struct cordon_policy_header header;
	const struct cordon_final *final;
	uint32_t state;

	if (limits->memory_bytes || limits->pids || limits->cpu_percent)
		return true;
	memcpy(&header, entry->policy->policy->tables, sizeof(header));
	state = header.start[CORDON_START_NET] & CORDON_STATE_MASK;
	if (state >= header.finals_count)
		return true;
	final = (const void *)(entry->policy->policy->tables + header.finals_offset +
			       (size_t)state * sizeof(*final));
	return (final->may_allow & CORDON_NET_RIGHTS) != 0;
}

/* Of its diagnostics the first line. */
static int lack_policy(struct lookup *found, const struct config_executor *is, int error,
		       const char *message, const struct failure *failure)
{
	if (message && *message)
		return lookup_add_problem(found, error, "policy %s: %.*s", is->policy,
					  (int)strcspn(message, "\n"), message);
	return lookup_add_problem(found, error, "policy %s: %s", is->policy,
				  failure->text[0] ? failure->text : strerror(abs(error)));
}

static void take_limits(struct executor_entry *entry, const struct lookup *found)
{
	entry->limits = found->limits;
	/*
	 * What an executor that is confined starts must not stay in the cgroup that dies with it.
	 */
	entry->cgroup = needs_cgroup(entry) || entry->is->itself;
}

/* A worker has looked it up, with the policy that it has now. */
static int take_gathered(struct executors *x, struct executor_entry *entry, struct lookup *found)
{
	struct gathered *gathered = gathering_find(x->gathered, entry->is);
	int r = 0;

	if (!gathered) {
		r = lookup_unresolved(found, entry->is);
		return r < 0 ? r
			     : lookup_add_problem(found, ETIMEDOUT,
						  "its names are not looked up yet");
	}
	entry->policy = gathered->use;
	if (entry->policy)
		policies_share(x->daemon->policies, entry->policy);
	else
		r = lack_policy(found, entry->is, gathered->error, gathered->message,
				&gathered->failure);
	if (r == 0)
		r = lookup_join(found, &gathered->found);
	if (r == 0 && entry->policy)
		take_limits(entry, found);
	return r;
}

static int take_directories(struct executors *x, struct executor_entry *entry, struct lookup *found)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < CORDON_MAX_ANCHORS; i++) {
		int error;

		if (found->directories[i] < 0)
			continue;
		error = enforcement_identify(x->daemon->enforcement, found->directories[i],
					     &entry->anchors[i]);
		if (error < 0)
			r = lookup_add_problem(found, error, "${%s} cannot be identified: %m",
					       entry->policy->policy->anchor_names[i]);
		else
			entry->directories[i] = TAKE_FD(found->directories[i]);
	}
	return r;
}

/* One line. */
static int say_why(struct executor_entry *entry, const struct lookup *found)
{
	char text[WHY_MAX];
	size_t used = 0;

	if (found->problem_count == 0)
		return 0;
	for (size_t i = 0; i < found->problem_count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "; " : "",
					 found->problems[i].text);
	entry->why = strdup(text);
	return entry->why ? 0 : -ENOMEM;
}

/* The other number of its pair, or the first pair that is free. -ENOSPC. */
static int choose_index(struct executors *x, const char *name, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i += 2) {
		const struct cordon_executor *pair[] = {adoption_entry(x->adoption, i),
							adoption_entry(x->adoption, i + 1)};

		if (strcmp(pair[0]->name, name) != 0 && strcmp(pair[1]->name, name) != 0)
			continue;
		*ret_index = (x->active >> i) & 1 ? i + 1 : i;
		return 0;
	}
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i += 2) {
		if (adoption_entry(x->adoption, i)->name[0] ||
		    adoption_entry(x->adoption, i + 1)->name[0])
			continue;
		*ret_index = i;
		return 0;
	}
	return -ENOSPC;
}

/* Takes over the names of the program that were found, and those that it has had before. */
static int take_targets(struct executor_entry *entry, const struct executor_entry *before,
			struct lookup *found)
{
	const char *pattern = entry->is->executable;
	int r = 0;

	entry->targets = TAKE_PTR(found->targets);
	if (before && strcmp(before->is->executable, pattern) == 0)
		for (char **old = before->targets; r == 0 && old && *old; old++)
			r = add_path(&entry->targets, *old);
	if (r < 0 || !found->prefix)
		return r;
	entry->prefix = strlen(found->prefix);
	if (asprintf(&entry->pattern, "%s%s", found->prefix, pattern + name_walk_fixed(pattern)) <
	    0) {
		entry->pattern = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Everything that it names. What is wrong is in entry->why. -ENOMEM. */
static int look_up(struct executors *x, struct executor_entry *entry, struct executor_entry *before,
		   struct lookup *found)
{
	int r;

	if (before && before->found) {
		/* Looked up by a worker; what has changed in its policy waits for a reload. */
		*found = *before->found;
		free(TAKE_PTR(before->found));
		entry->policy = before->policy;
		policies_share(x->daemon->policies, entry->policy);
		take_limits(entry, found);
		entry->since = before->since;
		r = 0;
	} else {
		r = take_gathered(x, entry, found);
	}
	if (r == 0 && found->problem_count == 0) {
		entry->names = lookup_text(found, entry->is);
		r = entry->names ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = take_directories(x, entry, found);
	if (r == 0)
		r = say_why(entry, found);
	return r < 0 ? r : take_targets(entry, before, found);
}

/* Where it may work makes no difference to one for which nothing stands ready. */
static int add_anywhere(struct executors *x, const struct executor_entry *entry,
			struct failure *failure)
{
	return add_name(x, entry, CORDON_ADOPT_UNDER, "/", false, 1, failure);
}

static int put_into_kernel(struct executors *x, struct executor_entry *entry,
			   const struct executor_entry *itself, const struct lookup *found,
			   struct failure *failure)
{
	int r = 0;

	standby_give_back(x, entry->index);
	adoption_remove_names(x->adoption, entry->index);
	fill_kernel(x, entry, itself, found);
	entry->uid = found->has_user ? found->user : (uid_t)-1;
	(void)((found->cgroup && (r = add_name(x, entry, CORDON_ADOPT_CGROUP, found->cgroup, false,
					       1, failure)) < 0) ||
	       (r = add_paths(x, entry, found->programs, failure)) < 0 ||
	       (r = add_paths(x, entry, found->except, failure)) < 0 ||
	       (r = entry->why ? add_anywhere(x, entry, failure)
			       : add_directories(x, entry, found->under, failure)) < 0 ||
	       (!entry->why && (r = add_variables(x, entry, failure)) < 0));
	return r;
}

int executor_entry_make(struct executors *x, const struct config_executor *is,
			const struct executor_entry *itself, struct executor_entry *before,
			struct executor_entry **ret_entry, struct failure *failure)
{
	_cleanup_(lookup_release) struct lookup found;
	struct executor_entry *entry = calloc(1, sizeof(*entry));
	int r;

	lookup_begin(&found);
	if (!entry)
		return failure_set(failure, ENOMEM, "%m");
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		entry->directories[i] = -1;
	entry->is = is;
	entry->executors = x;
	r = choose_index(x, is->name, &entry->index);
	if (r < 0)
		failure_set(failure, r,
			    "executor %s: too many names since cordon was loaded; `cordon disable` "
			    "forgets them",
			    is->name);
	if (r == 0 && (r = look_up(x, entry, before, &found)) < 0)
		failure_set(failure, r, "executor %s: %m", is->name);
	if (r == 0)
		r = put_into_kernel(x, entry, itself, &found, failure);
	if (r < 0) {
		executor_entry_free(x, entry);
		return r;
	}
	if (!entry->why)
		executor_check_approval(x, entry);
	*ret_entry = entry;
	return 0;
}
