/* SPDX-License-Identifier: Apache-2.0 */
/* Reads cordon.yaml, and has what it says put into force. */
#include <string.h>

#include "control/protocol.h"
#include "daemon/execution/approval_check.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/policy/comparing.h"
#include "daemon/policy/keeping.h"

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

static void record_refusal(struct daemon *daemon, const char *path, int r, const char *message,
			   struct failure *failure)
{
	if (message && *message)
		failure_replace(failure, r, "%s", message);
	daemon_alert(daemon, "configuration-refused",
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
	daemon->own_approvals = config_own_approvals(config);
	daemon->idle_nsec = config_idle_nsec(config);
	r = approval_require(daemon, config_require_approval(config), failure);
	config_free(config);
	return r;
}

/* Where nothing else is in force, what was good the last time is. */
static int take_kept(const struct daemon *daemon, const char *path, int error,
		     struct config **ret_config)
{
	return error == -ENOMEM ? error : executor_kept_load(daemon, path, ret_config);
}

int executors_check(struct daemon *daemon, const char *path, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	struct config *config = NULL;
	int r = read_file(path, &config, &message, failure);

	if (r == -ENOENT)
		return 0;
	if (r < 0 && take_kept(daemon, path, r, &config) < 0) {
		record_refusal(daemon, path, r, message, failure);
		return r;
	}
	/* Executions of an earlier daemon are taken up before the executors are. */
	*failure = (struct failure){};
	r = approval_require(daemon, config_require_approval(config), failure);
	config_free(config);
	return r;
}

static int no_file(struct executors *x, size_t *ret_count, struct failure *failure)
{
	executors_clear(x);
	enforcement_set_audit(x->daemon->enforcement, 0);
	x->daemon->own_approvals = false;
	x->loaded = true;
	free(TAKE_PTR(x->trouble));
	*ret_count = 0;
	return approval_require(x->daemon, false, failure);
}

static int take(struct executors *x, struct config *config, struct failure *failure)
{
	bool required = x->config ? config_require_approval(x->config) : false;
	struct failure ignored = {};
	int r = approval_require(x->daemon, config_require_approval(config), failure);

	if (r == 0)
		r = executors_put_into_force(x, config, failure);
	if (r < 0) {
		(void)approval_require(x->daemon, required, &ignored);
		return r;
	}
	enforcement_set_audit(x->daemon->enforcement, config_audit(config));
	x->daemon->own_approvals = config_own_approvals(config);
	return 0;
}

/* What cannot be kept is not there when it is needed; that is no reason to do without it now. */
static void keep(const struct executors *x)
{
	int r = executor_kept_save(x->daemon, x->path, x->config);

	if (r < 0)
		daemon_say(x->daemon, "%s cannot be kept for a start when it has mistakes: %s",
			   x->path, strerror(-r));
}

static int reload(struct executors *x, size_t *ret_count, char **ret_message,
		  struct failure *failure)
{
	struct config *config = NULL;
	bool kept = false;
	int r = read_file(x->path, &config, ret_message, failure);

	if (r == -ENOENT)
		return no_file(x, ret_count, failure);
	if (r < 0 && !x->loaded && take_kept(x->daemon, x->path, r, &config) == 0) {
		kept = true;
		record_refusal(x->daemon, x->path, r, *ret_message, failure);
		daemon_say(x->daemon, "the last good %s is in force: %s", x->path, failure->text);
		free(x->trouble);
		x->trouble = strdup(failure->text);
		*failure = (struct failure){};
		r = x->trouble ? 0 : failure_set(failure, ENOMEM, "%m");
	}
	if (r == 0)
		r = take(x, config, failure);
	if (r < 0) {
		if (config)
			config_free(config);
		return r;
	}
	x->loaded = true;
	*ret_count = config_executor_count(config);
	if (kept)
		return 0;
	free(TAKE_PTR(x->trouble));
	keep(x);
	return 0;
}

/* All in one go: somebody may wait for the first line. */
static void say_loaded(const struct executors *x, size_t count)
{
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = x->entries[i];

		if (entry && entry->why)
			fprintf(out, "%s:%u: executor %s refuses all that it starts: %s\n", x->path,
				entry->is->line, entry->is->name, entry->why);
	}
	fprintf(out, "%s: %zu executors", x->path, count);
	if (fclose(out) == 0)
		x->daemon->say(text);
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
		      json_pack("{s:s,s:o,s:b}", "file", x->path, "executors", executors_json(x),
				"require_approval", approvals_required(x->daemon) != NULL));
	say_loaded(x, *ret_count);
	return 0;
}

void executors_refuse(struct executors *x, int r, const char *message, struct failure *failure)
{
	record_refusal(x->daemon, x->path, r, message, failure);
}

/* --- beside the loop ------------------------------------------------------------------------ */

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

/* Of those that seem to be in order by now. */
static int wish_again(const struct executors *x, struct compiling_wishes *wishes)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < CORDON_MAX_EXECUTORS; i++)
		if (x->entries[i] && (x->found >> i) & 1)
			r = wish(wishes, x->entries[i]->is);
	return r;
}

static void load(struct executors *x)
{
	struct failure failure = {};
	size_t count;
	int r = x->again ? executors_put_into_force(x, x->config, &failure)
			 : executors_load(x, &count, &failure);

	if (r < 0)
		daemon_say(x->daemon, "%s", failure.text);
}

void executors_forget_reload(struct executors *x)
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
	executors_forget_reload(x);
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

static void give_up(struct executors *x, int result, const char *message, struct failure *failure)
{
	if (!x->again) {
		executors_refuse(x, result, message, failure);
		daemon_say(x->daemon, "%s", failure->text);
	}
	executors_forget_reload(x);
}

static void on_compiled(void *context, int result, const char *message, const struct failure *why)
{
	struct executors *x = context;
	const struct comparing_job job = {
		.base = x->daemon->base,
		.approvals = approvals_required(x->daemon),
		.compiling = x->reloading,
		.done = on_compared,
		.context = x,
	};
	struct failure failure = *why;

	if (result < 0)
		give_up(x, result, message, &failure);
	else if (comparing_start(&job, &x->comparing, &failure) <= 0)
		on_compared(x, 0, &failure);
}

/* Of executors_wish() or the like, whose result is `r`. */
static void begin(struct executors *x, int r, struct compiling_wishes *wishes, bool again)
{
	const struct compiling_job job = {
		.base = x->daemon->base,
		.policies = x->daemon->policies,
		.done = on_compiled,
		.context = x,
	};
	struct failure failure = {};

	executors_forget_reload(x);
	x->again = again;
	if (r == 0)
		r = compiling_start(&job, wishes, &x->reloading, &failure);
	else
		failure_set(&failure, r, "%m");
	compiling_wishes_release(wishes);
	if (r != 1)
		on_compiled(x, r, NULL, &failure);
}

/* What the file says by now is what counts. */
void executors_reload(struct executors *x)
{
	struct compiling_wishes wishes = {};
	int r = executors_wish(x, &wishes);

	begin(x, r, &wishes, false);
}

void executors_renew(struct executors *x)
{
	struct compiling_wishes wishes = {};
	int r = wish_again(x, &wishes);

	begin(x, r, &wishes, true);
}
