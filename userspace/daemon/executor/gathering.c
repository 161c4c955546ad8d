/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, in worker processes, what loading cordon.yaml needs. */
#include "daemon/executor/gathering.h"

#include <limits.h>
#include <pwd.h>
#include <string.h>

#include "base/clock.h"
#include "base/parcel.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/host/turn.h"
#include "daemon/host/workdir.h"
#include "daemon/privsep/errand.h"

/* A worker that is silent for so long waits for an unresponsive file system. */
#define READ_SECONDS   10
#define CLOSED_SECONDS 2
#define LOOK_SECONDS   20
/* For gathering_wait(). */
#define SILENCE_NSEC (1500 * NSEC_PER_MSEC)
#define LOOK_MSEC    100
/* Between two looks; less than that is no progress. */
#define BUSY_NSEC (2 * NSEC_PER_MSEC)
/* A queue for each entry, so that one unresponsive path delays no other entry. */
#define UID_FILE    ((uid_t) - 128)
#define UID_KEPT    ((uid_t) - 129)
#define UID_CLOSED  ((uid_t) - 130)
#define UID_ENTRIES ((uid_t) - 131)

#define CLOSED_MAX 4096u

/* An entry and the entry for the executor itself, if there is one. */
struct pair {
	struct gathering *g;
	uint32_t index;
	struct gathered of[2];
	struct errand *errand;
};

struct gathering {
	struct daemon *daemon;
	const char *path;
	gathering_done *done;
	void *context;
	struct event *soon;
	size_t pending; /* workers that the step waits for */
	uint64_t heard; /* monotonic clock: of the last reply, or use of the processor */
	uint64_t processor;
	/* The file. */
	struct errand *file, *keeper, *closer;
	int result;
	char *message;
	struct failure failure;
	struct config *config, *kept;
	const struct config *active; /* not owned */
	bool wants_kept;
	char **closed, **closed_names;
	struct pair *pairs;
	size_t pair_count;
};

/* --- steps --------------------------------------------------------------------------------- */

static void on_soon(evutil_socket_t fd, short what, void *context)
{
	TURN("executors");
	const struct gathering *g = context;

	(void)fd;
	(void)what;
	if (g->done)
		g->done(g->context);
}

static void begin(struct gathering *g)
{
	g->pending++;
	g->heard = clock_nsec(CLOCK_MONOTONIC);
}

static void end(struct gathering *g)
{
	g->heard = clock_nsec(CLOCK_MONOTONIC);
	if (--g->pending == 0)
		turn_of_its_own(g->soon);
}

static int gathering_new(struct daemon *daemon, struct gathering **ret)
{
	struct gathering *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->daemon = daemon;
	g->soon = evtimer_new(daemon->base, on_soon, g);
	if (!g->soon) {
		free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

static void release(struct gathered *gathered)
{
	compiling_free(TAKE_PTR(gathered->compiling));
	free(gathered->message);
	lookup_release(&gathered->found);
}

void gathering_free(struct gathering *g)
{
	if (!g)
		return;
	errand_cancel(g->file);
	errand_cancel(g->keeper);
	errand_cancel(g->closer);
	for (size_t i = 0; i < g->pair_count; i++) {
		errand_cancel(g->pairs[i].errand);
		release(&g->pairs[i].of[0]);
		release(&g->pairs[i].of[1]);
	}
	free(g->pairs);
	if (g->config)
		config_free(g->config);
	if (g->kept)
		config_free(g->kept);
	compiled_strings_free(g->closed);
	compiled_strings_free(g->closed_names);
	free(g->message);
	event_free(g->soon);
	free(g);
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_config(FILE *to, const struct config *config)
{
	_cleanup_(freep) char *copy = NULL;
	size_t size = 0;
	const char *text = config ? config_text(config, &size) : NULL;

	copy = text ? strndup(text, size) : NULL;
	parcel_put_text(to, copy);
}

/* In a worker. */
static int read_file(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	const struct gathering *g = context;
	_cleanup_(freep) char *message = NULL;
	struct config *config = NULL;
	int r = diagnostics ? config_load(g->path, diagnostics, &config) : -ENOMEM;

	(void)fds;
	if (r < 0 && r != -ENOENT && diagnostics)
		message = diagnostics_format(diagnostics, 0);
	parcel_put_text(to, message);
	put_config(to, config);
	if (config)
		config_free(config);
	return r < 0 ? failure_set(failure, r, "%s: %m", g->path) : 0;
}

/* Parses the text that the worker read. */
static int parse(const struct gathering *g, struct parcel *from, struct config **ret_config)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	int r = diagnostics ? parcel_take_text(from, &text) : -ENOMEM;

	if (r == 0 && !text)
		r = -EPROTO;
	return r < 0 ? r : config_parse(text, strlen(text), g->path, diagnostics, ret_config);
}

static void on_file(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *why)
{
	struct gathering *g = context;
	struct parcel from = {data, size};

	(void)fds;
	g->file = NULL;
	g->result = result;
	g->failure = *why;
	if (size > 0)
		(void)parcel_take_text(&from, &g->message);
	if (result == 0)
		g->result = parse(g, &from, &g->config);
	if (result == 0 && g->result < 0)
		failure_replace(&g->failure, g->result, "%s: %m", g->path);
	if (result == -ETIMEDOUT)
		failure_replace(&g->failure, result, "%s: its file system is unresponsive",
				g->path);
	end(g);
}

/* --- closed directories, and the last good file ------------------------------------------------ */

/*
 * System directories, and homes of users. `real`: with links resolved, which waits for the file
 * system of each home.
 */
static void put_closed(FILE *to, bool real)
{
	_cleanup_(fclosep) FILE *users = fopen(DAEMON_PASSWD, "re");
	char *list[CLOSED_MAX], path[PATH_MAX];
	const struct passwd *user;
	bool complete = true;
	size_t count = 0;

	for (const char *const *at = workdir_system_directories(); *at; at++)
		list[count++] = strdup(real && realpath(*at, path) ? path : *at);
	while (users && count < CLOSED_MAX && (user = fgetpwent(users)) != NULL)
		if (user->pw_dir[0] == '/' && (!real || realpath(user->pw_dir, path)))
			list[count++] = strdup(real ? path : user->pw_dir);
	for (size_t i = 0; i < count; i++)
		complete = complete && list[i];
	if (complete)
		parcel_put_list(to, list, count);
	while (count > 0)
		free(list[--count]);
}

static int read_closed(const void *context, FILE *to, struct errand_fds *fds,
		       struct failure *failure)
{
	(void)context;
	(void)fds;
	(void)failure;
	put_closed(to, true);
	return 0;
}

static int read_kept(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct gathering *g = context;
	struct config *config = NULL;

	(void)fds;
	(void)failure;
	if (g->wants_kept)
		(void)executor_kept_load(g->daemon, g->path, &config);
	put_closed(to, false);
	put_config(to, config);
	if (config)
		config_free(config);
	return 0;
}

static void on_kept(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *why)
{
	struct gathering *g = context;
	struct parcel from = {data, size};
	size_t count;

	(void)fds;
	(void)why;
	g->keeper = NULL;
	if (result == 0 && parcel_take_list(&from, &g->closed_names, &count) == 0)
		(void)parse(g, &from, &g->kept);
	end(g);
}

/* The kernel compares names; the daemon checks each directory's identity before code runs in it. */
static void on_closed(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *why)
{
	struct gathering *g = context;
	struct parcel from = {data, size};
	size_t count;

	(void)fds;
	(void)why;
	g->closer = NULL;
	if (result == 0)
		(void)parcel_take_list(&from, &g->closed, &count);
	end(g);
}

char *const *gathering_closed(const struct gathering *g)
{
	return g->closed ? g->closed : g->closed_names;
}

/* ------------------------------------------------------------------------------------------ */

static int start(struct gathering *g, const char *what, uid_t uid, time_t seconds,
		 errand_work *work, errand_done *done, void *context, struct errand **ret,
		 struct failure *failure)
{
	const struct errand_job job = {
		.what = what,
		.uid = uid,
		.seconds = seconds,
		.work = work,
		.done = done,
		.context = context,
	};
	int r = errand_start(g->daemon->base, &job, ret, failure);

	if (r == 0)
		begin(g);
	return r;
}

int gathering_read(struct daemon *daemon, const char *path, bool kept, gathering_done *done,
		   void *context, struct gathering **ret_gathering, struct failure *failure)
{
	_cleanup_(gathering_freep) struct gathering *g = NULL;
	int r = gathering_new(daemon, &g);

	if (r < 0)
		return failure_set(failure, r, "%m");
	g->path = path;
	g->wants_kept = kept;
	g->done = done;
	g->context = context;
	r = start(g, "the worker that reads the configuration", UID_FILE, READ_SECONDS, read_file,
		  on_file, g, &g->file, failure);
	if (r == 0)
		r = start(g, "the worker that reads the last good configuration", UID_KEPT,
			  READ_SECONDS, read_kept, on_kept, g, &g->keeper, failure);
	if (r == 0)
		r = start(g, "the worker that resolves closed directories", UID_CLOSED,
			  CLOSED_SECONDS, read_closed, on_closed, g, &g->closer, failure);
	if (r == 0)
		*ret_gathering = TAKE_PTR(g);
	return r;
}

int gathering_result(const struct gathering *g, const char **ret_message, struct failure *failure)
{
	*ret_message = g->message;
	if (g->result < 0)
		*failure = g->failure;
	return g->result;
}

const struct config *gathering_config(const struct gathering *g)
{
	if (g->active)
		return g->active;
	return g->config || g->result == -ENOENT ? g->config : g->kept;
}

struct config *gathering_take_config(struct gathering *g, bool *ret_kept)
{
	*ret_kept = !g->config;
	return g->config ? TAKE_PTR(g->config) : TAKE_PTR(g->kept);
}

/* --- names in the entries --------------------------------------------------------------------- */

static void begin_pair(struct gathering *g, const struct config_executor *is)
{
	struct pair *pair = &g->pairs[g->pair_count++];

	*pair = (struct pair){.g = g, .index = (uint32_t)g->pair_count};
	for (size_t i = 0; i < 2; i++) {
		lookup_begin(&pair->of[i].found);
		pair->of[i].gathering = g;
		pair->of[i].error = -ETIMEDOUT;
	}
	pair->of[0].is = is;
	pair->of[1].is = is->itself;
}

/* All entries of a file; of the active configuration, entries that may be complete now. */
static int list_pairs(struct gathering *g)
{
	const struct config *config = gathering_config(g);
	const struct executors *x = g->active ? g->daemon->executors : NULL;
	size_t count = config ? config_executor_count(config) : 0;

	if (g->pairs)
		return 0;
	g->pair_count = 0;
	g->pairs = calloc(count + 1, sizeof(*g->pairs));
	if (!g->pairs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct config_executor *is = config_executor_at(config, i);

		if (!x || executors_is_found(x, is))
			begin_pair(g, is);
	}
	return 0;
}

int gathering_of(struct executors *x, const struct config *config, struct gathering **ret_gathering)
{
	int r = gathering_new(x->daemon, ret_gathering);

	if (r == 0) {
		(*ret_gathering)->active = config;
		(*ret_gathering)->path = x->path;
	}
	return r;
}

int gathering_wish(struct gathering *g, struct compiling_wishes *wishes)
{
	int r = list_pairs(g);

	for (size_t i = 0; r == 0 && i < 2 * g->pair_count; i++) {
		const struct config_executor *is = g->pairs[i / 2].of[i % 2].is;
		_cleanup_(freep) char *purpose = is ? executor_purpose(is) : NULL;

		if (is)
			r = purpose ? compiling_wish(wishes, is->policy, purpose, false) : -ENOMEM;
	}
	return r;
}

static void put_lookup(FILE *to, const struct gathered *gathered, char *const *gaps, int *fds)
{
	struct lookup found;
	int r = 0;

	lookup_begin(&found);
	if (gathered->use)
		r = lookup_policy(&found, gathered->is, gathered->use->policy, gaps);
	if (r == 0)
		r = lookup_names(&found, gathered->is);
	(void)fwrite(&r, sizeof(r), 1, to);
	lookup_put_problems(&found, to);
	lookup_put(&found, to);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		fds[i] = TAKE_FD(found.directories[i]);
	lookup_release(&found);
}

_Static_assert(ERRAND_FDS == 2 * CORDON_MAX_ANCHORS, "an entry's directories, and its other one's");

static int look(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct pair *pair = context;

	(void)failure;
	for (size_t i = 0; i < 2 && pair->of[i].is; i++)
		put_lookup(to, &pair->of[i], pair->g->daemon->gaps,
			   fds->fd + i * CORDON_MAX_ANCHORS);
	return 0;
}

static int take_lookup(struct gathered *gathered, struct parcel *from, int *fds)
{
	int r = 0;
	const void *at = parcel_take(from, sizeof(r));

	if (!at)
		r = -EPROTO;
	else
		memcpy(&r, at, sizeof(r));
	if (r == 0)
		r = lookup_take_problems(&gathered->found, from);
	if (r == 0)
		r = lookup_take(&gathered->found, from);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		gathered->found.directories[i] = TAKE_FD(fds[i]);
	return r;
}

/* Matches by the name as written, so that no program of the entry is overlooked. */
static void note_unanswered(struct gathered *gathered, int error)
{
	lookup_release(&gathered->found);
	if (lookup_unresolved(&gathered->found, gathered->is) == 0)
		(void)lookup_add_problem(&gathered->found, error,
					 "the file system of a path that it names is unresponsive");
}

static void take_result(struct pair *pair, int result, struct parcel *from, struct errand_fds *fds)
{
	for (size_t i = 0; i < 2 && pair->of[i].is; i++) {
		struct gathered *gathered = &pair->of[i];

		if (result == 0)
			result = take_lookup(gathered, from, fds->fd + i * CORDON_MAX_ANCHORS);
		if (result < 0)
			note_unanswered(gathered, result);
		gathered->looked_up = true;
	}
}

static void on_looked(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *why)
{
	struct pair *pair = context;
	struct parcel from = {data, size};

	(void)why;
	pair->errand = NULL;
	take_result(pair, result, &from, fds);
	end(pair->g);
}

static void look_up_pair(struct pair *pair)
{
	struct errand_fds none = errand_no_fds();
	struct failure ignored = {};
	struct parcel nothing = {};
	int r = start(pair->g, "the worker that looks up an entry's names",
		      UID_ENTRIES - pair->index, LOOK_SECONDS, look, on_looked, pair, &pair->errand,
		      &ignored);

	if (r < 0)
		take_result(pair, r, &nothing, &none);
}

/* --- with their policies ---------------------------------------------------------------------- */

static bool is_compiling(const struct pair *pair)
{
	for (size_t i = 0; i < 2; i++)
		if (pair->of[i].is && !pair->of[i].use && pair->of[i].error == -EINPROGRESS)
			return true;
	return false;
}

static void note_compiled(struct gathered *gathered, int result, const char *message,
			  const struct failure *failure)
{
	gathered->error = result;
	gathered->use = result == 0 ? compiling_use(gathered->compiling, 0) : NULL;
	gathered->message = message ? strdup(message) : NULL;
	gathered->failure = *failure;
}

static struct pair *pair_of(struct gathering *g, const struct gathered *gathered)
{
	for (size_t i = 0; i < g->pair_count; i++)
		if (gathered == &g->pairs[i].of[0] || gathered == &g->pairs[i].of[1])
			return &g->pairs[i];
	return NULL;
}

static void on_compiled(void *context, int result, const char *message,
			const struct failure *failure)
{
	struct gathered *gathered = context;
	struct gathering *g = gathered->gathering;
	struct pair *pair = pair_of(g, gathered);

	note_compiled(gathered, result, message, failure);
	if (!is_compiling(pair))
		look_up_pair(pair);
	end(g);
}

static void compile(struct pair *pair, struct gathered *gathered)
{
	const struct compiling_job job = {
		.base = pair->g->daemon->base,
		.policies = pair->g->daemon->policies,
		.uid = UID_ENTRIES - pair->index,
		.done = on_compiled,
		.context = gathered,
	};
	struct compiling_wishes wishes = {};
	struct failure failure = {};
	int r = compiling_wish(&wishes, gathered->is->policy, NULL, false);

	gathered->error = -EINPROGRESS;
	if (r == 0)
		r = compiling_start(&job, &wishes, &gathered->compiling, &failure);
	compiling_wishes_release(&wishes);
	if (r == 1)
		begin(pair->g);
	else
		note_compiled(gathered, r, NULL, &failure);
}

static void compile_pair(struct pair *pair)
{
	for (size_t i = 0; i < 2 && pair->of[i].is; i++)
		compile(pair, &pair->of[i]);
	if (!is_compiling(pair))
		look_up_pair(pair);
}

int gathering_look_up(struct gathering *g, struct compiling *compiling, gathering_done *done,
		      void *context, struct failure *failure)
{
	size_t at = 0;
	int r = list_pairs(g);

	if (r < 0)
		return failure_set(failure, r, "%m");
	g->done = done;
	g->context = context;
	for (size_t i = 0; i < g->pair_count; i++) {
		struct pair *pair = &g->pairs[i];

		for (size_t k = 0; compiling && k < 2 && pair->of[k].is; k++)
			pair->of[k].use = compiling_use(compiling, at++);
		if (compiling)
			look_up_pair(pair);
		else
			compile_pair(pair);
	}
	return g->pending > 0;
}

struct gathered *gathering_find(struct gathering *g, const struct config_executor *is)
{
	for (size_t i = 0; g && i < 2 * g->pair_count; i++)
		if (g->pairs[i / 2].of[i % 2].is == is && g->pairs[i / 2].of[i % 2].looked_up)
			return &g->pairs[i / 2].of[i % 2];
	return NULL;
}

/* --- with a bound ----------------------------------------------------------------------------- */

static void give_up_pair(struct pair *pair)
{
	struct errand_fds none = errand_no_fds();
	struct parcel nothing = {};
	struct failure failure = {};
	size_t over = pair->errand != NULL;

	errand_cancel(TAKE_PTR(pair->errand));
	for (size_t i = 0; i < 2; i++) {
		struct gathered *gathered = &pair->of[i];

		if (!gathered->is || gathered->use || gathered->error != -EINPROGRESS)
			continue;
		compiling_free(TAKE_PTR(gathered->compiling));
		failure_replace(&failure, -ETIMEDOUT, "its file system is unresponsive");
		note_compiled(gathered, -ETIMEDOUT, NULL, &failure);
		over++;
	}
	if (over > 0)
		take_result(pair, -ETIMEDOUT, &nothing, &none);
	for (; over > 0; over--)
		end(pair->g);
}

static void give_up(struct gathering *g)
{
	struct errand_fds none = errand_no_fds();
	struct failure failure = {};
	struct {
		struct errand **errand;
		errand_done *done;
	} readers[] = {
		{&g->file, on_file},
		{&g->keeper, on_kept},
		{&g->closer, on_closed},
	};

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (!*readers[i].errand)
			continue;
		errand_cancel(*readers[i].errand);
		readers[i].done(g, -ETIMEDOUT, NULL, 0, &none, &failure);
	}
	for (size_t i = 0; i < g->pair_count; i++)
		give_up_pair(&g->pairs[i]);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct gathering *g = context;
	uint64_t processor = errands_processor_nsec(), now = clock_nsec(CLOCK_MONOTONIC);

	(void)fd;
	(void)what;
	/* A worker that computes needs no file system. */
	if (processor > g->processor + BUSY_NSEC)
		g->heard = now;
	g->processor = processor;
	if (g->pending > 0 && now - g->heard > SILENCE_NSEC)
		give_up(g);
}

int gathering_wait(struct gathering *g)
{
	const struct timeval each = {.tv_usec = LOOK_MSEC * 1000};
	struct event *tick = event_new(g->daemon->base, -1, EV_PERSIST, on_tick, g);

	if (!tick || event_add(tick, &each) < 0) {
		if (tick)
			event_free(tick);
		return -ENOMEM;
	}
	while (g->pending > 0)
		(void)event_base_loop(g->daemon->base, EVLOOP_ONCE);
	event_free(tick);
	return 0;
}
