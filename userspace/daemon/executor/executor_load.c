/* SPDX-License-Identifier: Apache-2.0 */
/* Reads cordon.yaml, and has what it says put into force. */
#include <string.h>

#include "control/protocol.h"
#include "daemon/execution/approval_check.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/executor/gathering.h"
#include "daemon/policy/comparing.h"
#include "daemon/policy/keeping.h"

static void record_refusal(struct daemon *daemon, const char *path, int r, const char *message,
			   struct failure *failure)
{
	if (message && *message)
		failure_replace(failure, r, "%s", message);
	daemon_alert(daemon, "configuration-refused",
		     json_pack("{s:s,s:s}", "file", path, "error", failure->text));
}

static void record_result(struct daemon *daemon, const struct gathering *g, const char *path,
			  struct failure *failure)
{
	const char *message;
	int r = gathering_result(g, &message, failure);

	record_refusal(daemon, path, r, message, failure);
}

int executors_audit(struct daemon *daemon, const struct gathering *g, const char *path,
		    struct failure *failure)
{
	const struct config *config = gathering_config(g);
	const char *message;
	int r = gathering_result(g, &message, failure);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		record_result(daemon, g, path, failure);
		return r;
	}
	enforcement_set_audit(daemon->enforcement, config_audit(config));
	daemon->own_approvals = config_own_approvals(config);
	daemon->idle_nsec = config_idle_nsec(config);
	return approval_require(daemon, config_require_approval(config), failure);
}

int executors_check(struct daemon *daemon, const struct gathering *g, const char *path,
		    struct failure *failure)
{
	const struct config *config = gathering_config(g);
	const char *message;
	int r = gathering_result(g, &message, failure);

	if (r == -ENOENT)
		return 0;
	if (!config) {
		record_result(daemon, g, path, failure);
		return r;
	}
	/* Executions of an earlier daemon are taken up before the executors are. */
	*failure = (struct failure){};
	return approval_require(daemon, config_require_approval(config), failure);
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

/* Takes what was gathered of the file; without it, the last good one if none is active yet. */
static int take_config(struct executors *x, struct gathering *g, struct config **ret_config,
		       bool *ret_kept, struct failure *failure)
{
	const char *message;
	int r = gathering_result(g, &message, failure);

	x->unanswered = r == -ETIMEDOUT;
	if (r < 0 && (r == -ENOENT || x->loaded || !gathering_config(g)))
		return r;
	*ret_config = gathering_take_config(g, ret_kept);
	if (!*ret_kept)
		return 0;
	record_refusal(x->daemon, x->path, r, message, failure);
	daemon_say(x->daemon, "the last good %s is in force: %s", x->path, failure->text);
	free(x->trouble);
	x->trouble = strdup(failure->text);
	*failure = (struct failure){};
	return x->trouble ? 0 : failure_set(failure, ENOMEM, "%m");
}

static int reload(struct executors *x, struct gathering *g, size_t *ret_count,
		  struct failure *failure)
{
	struct config *config = NULL;
	bool kept = false;
	int r = take_config(x, g, &config, &kept, failure);

	if (r == -ENOENT)
		return no_file(x, ret_count, failure);
	if (r == 0) {
		x->gathered = g;
		r = take(x, config, failure);
		x->gathered = NULL;
	}
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
	executor_kept_save(x);
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

int executors_load(struct executors *x, struct gathering *g, size_t *ret_count,
		   struct failure *failure)
{
	uint64_t before = x->active;
	const char *message;
	int r = reload(x, g, ret_count, failure);

	if (r < 0) {
		(void)gathering_result(g, &message, &(struct failure){});
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

int executors_load_first(struct executors *x, struct gathering *g, struct failure *failure)
{
	size_t count;
	int r = gathering_look_up(g, NULL, NULL, NULL, failure);

	if (r > 0)
		r = gathering_wait(g);
	return r < 0 ? failure_set(failure, r, "%m") : executors_load(x, g, &count, failure);
}

void executors_refuse(struct executors *x, int r, const char *message, struct failure *failure)
{
	record_refusal(x->daemon, x->path, r, message, failure);
}

/* --- beside the loop ------------------------------------------------------------------------ */

static void load(struct executors *x)
{
	struct failure failure = {};
	size_t count;
	int r;

	if (x->again) {
		x->gathered = x->reading;
		r = executors_put_into_force(x, x->config, &failure);
		x->gathered = NULL;
	} else {
		r = executors_load(x, x->reading, &count, &failure);
	}
	if (r < 0)
		daemon_say(x->daemon, "%s", failure.text);
}

void executors_forget_reload(struct executors *x)
{
	keeping_free(TAKE_PTR(x->keeping));
	comparing_free(TAKE_PTR(x->comparing));
	/* Before the policies that its entries use. */
	gathering_free(TAKE_PTR(x->reading));
	compiling_free(TAKE_PTR(x->reloading));
}

static void on_looked_up(void *context)
{
	struct executors *x = context;

	load(x);
	executors_forget_reload(x);
}

/* What could not be kept is when a child is the first to need it. */
static void on_kept(void *context, int result, const struct failure *why)
{
	struct executors *x = context;
	struct failure failure = {};

	(void)result;
	(void)why;
	if (gathering_look_up(x->reading, x->reloading, on_looked_up, x, &failure) <= 0)
		on_looked_up(x);
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

/* Has the policies compiled of what was read. */
static void compile(struct executors *x)
{
	const struct compiling_job job = {
		.base = x->daemon->base,
		.policies = x->daemon->policies,
		.done = on_compiled,
		.context = x,
	};
	struct compiling_wishes wishes = {};
	struct failure failure = {};
	int r = gathering_wish(x->reading, &wishes);

	if (r == 0)
		r = compiling_start(&job, &wishes, &x->reloading, &failure);
	else
		failure_set(&failure, r, "%m");
	compiling_wishes_release(&wishes);
	if (r != 1)
		on_compiled(x, r, NULL, &failure);
}

static void on_read(void *context)
{
	compile(context);
}

int executors_gather(struct executors *x, gathering_done *done, void *context,
		     struct gathering **ret_gathering, struct failure *failure)
{
	return gathering_read(x->daemon, x->path, !x->loaded, done, context, ret_gathering,
			      failure);
}

/* What the file says by now is what counts. */
void executors_reload(struct executors *x)
{
	struct failure failure = {};
	int r;

	executors_forget_reload(x);
	x->again = false;
	r = executors_gather(x, on_read, x, &x->reading, &failure);
	if (r < 0)
		give_up(x, r, NULL, &failure);
}

void executors_renew(struct executors *x)
{
	int r;

	executors_forget_reload(x);
	x->again = true;
	r = gathering_of(x, x->config, &x->reading);
	if (r == 0)
		compile(x);
}
