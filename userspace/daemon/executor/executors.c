/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the entries of cordon.yaml in force, and executions ready for each. */
#include "daemon/executor/executors.h"

#include <limits.h>
#include <pwd.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/executor/adopted.h"
#include "daemon/executor/executors_parts.h"
#include "control/protocol.h"
#include "daemon/host/turn.h"
#include "daemon/host/workdir.h"
#include "daemon/policy/comparing.h"
#include "daemon/policy/keeping.h"

/*
 * The daemon says every second that it is there. Its death is noticed at once; this is for one that
 * hangs.
 */
#define LEASE_NSEC (10 * NSEC_PER_SEC)
#define RENEW_USEC 1000000

void executors_look_after(struct executors *x)
{
	if (!x || !x->active)
		return;
	adoption_renew(x->adoption, clock_nsec(CLOCK_BOOTTIME) + LEASE_NSEC);
	if (x->daemon->leaving)
		return;
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if ((x->active >> i) & 1 && x->entries[i])
			standby_refill(x, x->entries[i]);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	TURN("executors");
	const struct timeval after = {.tv_sec = RENEW_USEC / 1000000};
	struct executors *x = context;

	(void)fd;
	(void)what;
	executors_look_after(x);
	/* An approval may have expired. */
	executors_check_approvals(x);
	adopted_scan(x->daemon);
	if (x->active)
		evtimer_add(x->timer, &after);
}

/* --- the configuration as a whole --------------------------------------------------------- */

static int note_directory(struct executors *x, const char *path)
{
	int r = strlen(path) > CONFIG_PATH_MAX
			? 0
			: adoption_add_name(x->adoption, CORDON_ADOPT_DIRECTORY, 0, path, true, 1);

	return r < 0 ? r : 0;
}

/* The kernel refuses these by name; the daemon looks again, by identity, before anything runs. */
static int refuse_directories(struct executors *x, struct failure *failure)
{
	_cleanup_(fclosep) FILE *users = fopen(DAEMON_PASSWD, "re");
	const struct passwd *user;
	char path[PATH_MAX];
	int r = 0;

	for (const char *const *at = workdir_system_directories(); r == 0 && *at; at++)
		r = note_directory(x, realpath(*at, path) ? path : *at);
	while (r == 0 && users && (user = fgetpwent(users)) != NULL)
		if (user->pw_dir[0] == '/' && realpath(user->pw_dir, path))
			r = note_directory(x, path);
	if (r < 0)
		return failure_set(failure, r, "directories cannot be put into the kernel: %m");
	return 0;
}

/* One name leads to all entries for that program, those that are to be in force included. */
static int add_executables(struct executors *x, struct executor_entry *const *fresh, size_t count,
			   struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const char *path = fresh[i]->program;
		uint64_t mask = 0;

		if (fresh[i]->is->is_itself)
			continue;
		for (size_t j = 0; j < count; j++)
			if (!fresh[j]->is->is_itself && strcmp(fresh[j]->program, path) == 0)
				mask |= 1ull << fresh[j]->index;
		mask |= adoption_whole_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, path) &
			x->active;
		r = adoption_add_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, path, true, mask);
		if (r < 0)
			return failure_set(failure, r,
					   "executor %s: cannot be put into the kernel: %m",
					   fresh[i]->is->name);
	}
	return r;
}

static void switch_to(struct executors *x, struct executor_entry **fresh, size_t count)
{
	struct executor_entry *old[CORDON_MAX_EXECUTORS];
	struct config *old_config = NULL;
	uint64_t active = 0, before = x->active;

	memcpy(old, x->entries, sizeof(old));
	memset(x->entries, 0, sizeof(x->entries));
	for (size_t i = 0; i < count; i++) {
		x->entries[fresh[i]->index] = fresh[i];
		active |= 1ull << fresh[i]->index;
		standby_refill(x, fresh[i]);
	}
	adoption_renew(x->adoption, clock_nsec(CLOCK_BOOTTIME) + LEASE_NSEC);
	adoption_switch(x->adoption, active);
	x->active = active;
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		if ((before >> i) & 1 && !((active >> i) & 1))
			standby_give_back(x, i);
		if (old[i])
			old_config = old[i]->config;
		executor_entry_free(x, old[i]);
	}
	if (old_config)
		config_free(old_config);
	on_timer(-1, 0, x);
}

static int read_file(const char *path, struct config **ret_config, char **ret_message,
		     struct failure *failure)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	int r;

	if (!diagnostics)
		return failure_set(failure, ENOMEM, "%m");
	r = config_load(path, diagnostics, ret_config);
	if (r == -ENOENT)
		return r;
	if (r < 0) {
		*ret_message = diagnostics_format(diagnostics, 0);
		return failure_set(failure, r, "%s: %m", path);
	}
	return 0;
}

static int put_into_force(struct executors *x, struct config *config, char **ret_message,
			  struct failure *failure)
{
	struct executor_entry *fresh[CONFIG_EXECUTORS_MAX] = {};
	size_t count = config_executor_count(config), made = 0;
	int r = refuse_directories(x, failure);

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct config_executor *is = config_executor_at(config, i);
		struct executor_entry *itself = NULL;

		if (is->itself)
			r = executor_entry_make(x, config, is->itself, NULL, &itself, ret_message,
						failure);
		if (r == 0 && itself)
			fresh[made++] = itself;
		if (r == 0)
			r = executor_entry_make(x, config, is, itself, &fresh[made], ret_message,
						failure);
		made += r == 0;
	}
	if (r == 0)
		r = add_executables(x, fresh, made, failure);
	if (r < 0) {
		for (size_t i = 0; i < made; i++)
			executor_entry_free(x, fresh[i]);
		return r;
	}
	switch_to(x, fresh, made);
	return 0;
}

static int reload(struct executors *x, size_t *ret_count, char **ret_message,
		  struct failure *failure)
{
	struct config *config = NULL;
	int r;

	r = read_file(x->path, &config, ret_message, failure);
	if (r == -ENOENT) {
		executors_clear(x);
		enforcement_set_audit(x->daemon->enforcement, 0);
		*ret_count = 0;
		return 0;
	}
	if (r == 0)
		r = put_into_force(x, config, ret_message, failure);
	if (r < 0) {
		if (config)
			config_free(config);
		return r;
	}
	enforcement_set_audit(x->daemon->enforcement, config_audit(config));
	*ret_count = config_executor_count(config);
	if (*ret_count == 0)
		config_free(config);
	return 0;
}

static void record_refusal(struct daemon *daemon, const char *path, int r, const char *message,
			   struct failure *failure)
{
	if (message && *message)
		failure_replace(failure, r, "%s", message);
	daemon_record(daemon, "configuration-refused",
		      json_pack("{s:s,s:s}", "file", path, "error", failure->text));
}

int executors_audit(struct daemon *daemon, const char *path, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	struct config *config = NULL;
	int r = read_file(path, &config, &message, failure);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		record_refusal(daemon, path, r, message, failure);
		return r;
	}
	enforcement_set_audit(daemon->enforcement, config_audit(config));
	config_free(config);
	return 0;
}

int executors_check(struct daemon *daemon, const char *path, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	struct config *config = NULL;
	int r = read_file(path, &config, &message, failure);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		record_refusal(daemon, path, r, message, failure);
	else
		config_free(config);
	return r;
}

int executors_load(struct executors *x, size_t *ret_count, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	uint64_t before = x->active;
	int r = reload(x, ret_count, &message, failure);

	if (r < 0) {
		record_refusal(x->daemon, x->path, r, message, failure);
		return r;
	}
	if (*ret_count == 0 && !before)
		return 0;
	daemon_record(x->daemon, "configuration",
		      json_pack("{s:s,s:o}", "file", x->path, "executors", executors_json(x)));
	daemon_say(x->daemon, "%s: %zu executors", x->path, *ret_count);
	return 0;
}

void executors_refuse(struct executors *x, int r, const char *message, struct failure *failure)
{
	record_refusal(x->daemon, x->path, r, message, failure);
}

static int wish(struct compiling_wishes *wishes, const struct config_executor *is)
{
	_cleanup_(freep) char *purpose = executor_purpose(is);

	return purpose ? compiling_wish(wishes, is->policy, purpose, false) : -ENOMEM;
}

int executors_wish(const struct executors *x, struct compiling_wishes *wishes)
{
	_cleanup_(freep) char *message = NULL;
	struct failure ignored = {};
	struct config *config = NULL;
	int r = 0;

	if (read_file(x->path, &config, &message, &ignored) < 0)
		return 0;
	for (size_t i = 0; r == 0 && i < config_executor_count(config); i++) {
		const struct config_executor *is = config_executor_at(config, i);

		r = wish(wishes, is);
		if (r == 0 && is->itself)
			r = wish(wishes, is->itself);
	}
	config_free(config);
	return r;
}

static void load(struct executors *x)
{
	struct failure failure = {};
	size_t count;

	if (executors_load(x, &count, &failure) < 0)
		daemon_say(x->daemon, "%s", failure.text);
}

static void forget_reload(struct executors *x)
{
	keeping_free(TAKE_PTR(x->keeping));
	comparing_free(TAKE_PTR(x->comparing));
	compiling_free(TAKE_PTR(x->reloading));
}

/* What could not be kept is when a child is the first to need it. */
static void on_kept(void *context, int result, const struct failure *why)
{
	struct executors *x = context;

	(void)result;
	(void)why;
	load(x);
	forget_reload(x);
}

/* What could not be compared is looked at when it is loaded. */
static void on_compared(void *context, int result, const struct failure *why)
{
	struct executors *x = context;
	const struct keeping_job job = {
		.base = x->daemon->base,
		.compiling = x->reloading,
		.log = x->daemon->log,
		.done = on_kept,
		.context = x,
	};
	struct failure failure = *why;

	(void)result;
	if (keeping_start(&job, &x->keeping, &failure) <= 0)
		on_kept(x, 0, &failure);
}

static void on_compiled(void *context, int result, const char *message, const struct failure *why)
{
	struct executors *x = context;
	const struct comparing_job job = {
		.base = x->daemon->base,
		.approvals = x->daemon->approvals,
		.compiling = x->reloading,
		.done = on_compared,
		.context = x,
	};
	struct failure failure = *why;

	if (result < 0) {
		executors_refuse(x, result, message, &failure);
		daemon_say(x->daemon, "%s", failure.text);
		forget_reload(x);
	} else if (comparing_start(&job, &x->comparing, &failure) <= 0) {
		on_compared(x, 0, &failure);
	}
}

void executors_reload(struct executors *x)
{
	const struct compiling_job job = {
		.base = x->daemon->base,
		.policies = x->daemon->policies,
		.done = on_compiled,
		.context = x,
	};
	struct compiling_wishes wishes = {};
	struct failure failure = {};
	int r = executors_wish(x, &wishes);

	/* What the file says by now is what counts. */
	forget_reload(x);
	if (r == 0)
		r = compiling_start(&job, &wishes, &x->reloading, &failure);
	else
		failure_set(&failure, r, "%m");
	compiling_wishes_release(&wishes);
	if (r != 1)
		on_compiled(x, r, NULL, &failure);
}

int executors_start(struct daemon *daemon, const char *path, struct executors **ret_executors,
		    struct failure *failure)
{
	struct executors *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return failure_set(failure, ENOMEM, "%m");
	x->daemon = daemon;
	x->path = path;
	x->timer = evtimer_new(daemon->base, on_timer, x);
	r = x->timer ? adoption_open(&x->adoption, failure) : -ENOMEM;
	if (r < 0) {
		executors_free(x);
		return r;
	}
	/* What an earlier daemon put into force. */
	x->active = adoption_state(x->adoption)->active;
	*ret_executors = x;
	return 0;
}

void executors_clear(struct executors *x)
{
	forget_reload(x);
	switch_to(x, NULL, 0);
}

void executors_free(struct executors *x)
{
	struct config *config = NULL;

	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		if (x->entries[i])
			config = x->entries[i]->config;
		executor_entry_free(x, x->entries[i]);
	}
	if (config)
		config_free(config);
	forget_reload(x);
	if (x->timer)
		event_free(x->timer);
	if (x->adoption)
		adoption_close(x->adoption);
	free(x);
}

const struct executor_entry *executors_entry(const struct executors *x, uint32_t index)
{
	if (!x || index >= CORDON_MAX_EXECUTORS)
		return NULL;
	return x->entries[index] ? x->entries[index] : x->entries[index ^ 1];
}

size_t executors_count(const struct executors *x)
{
	size_t count = 0;

	for (size_t i = 0; x && i < CORDON_MAX_EXECUTORS; i++)
		count += x->entries[i] && !x->entries[i]->is->is_itself;
	return count;
}

json_t *executors_json(const struct executors *x)
{
	json_t *list = json_array();

	for (size_t i = 0; x && i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = x->entries[i];
		const struct config_executor *is = entry ? entry->is : NULL;

		if (!is || is->is_itself)
			continue;
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:s*}", "name", is->name,
						"kind", config_kind_name(is->kind), "stage",
						config_stage_name(is->stage), "executable",
						is->executable, "policy",
						entry->policy->policy->name, "waits", entry->waits,
						"itself", is->itself ? is->itself->policy : NULL));
	}
	return list;
}

json_t *executors_status_json(const struct executors *x)
{
	const struct cordon_adoption none = {};
	const struct cordon_adoption *state = x ? adoption_state(x->adoption) : &none;

	return json_pack("{s:I,s:I,s:I,s:I}", "entries", (json_int_t)executors_count(x), "adopted",
			 (json_int_t)state->adopted, "refused", (json_int_t)state->refused,
			 "cleaned_late", (json_int_t)state->unclean);
}
