/* SPDX-License-Identifier: Apache-2.0 */
/* Changes over from the entries that are in force to others, at once. */
#include <string.h>

#include "base/clock.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/executor/gathering.h"

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
	char *const *path = x->gathered ? gathering_closed(x->gathered) : NULL;
	int r = 0;

	for (; r == 0 && path && *path; path++)
		r = note_directory(x, *path);
	if (r < 0)
		return failure_set(failure, r, "directories cannot be put into the kernel: %m");
	return 0;
}

/* By what it is called or by what it is, as the kernel compares both. */
static bool has_name(const struct executor_entry *entry, const char *name)
{
	if (entry->is->is_itself)
		return false;
	for (char **target = entry->targets; target && *target; target++)
		if (strcmp(*target, name) == 0)
			return true;
	return !entry->pattern && strcmp(entry->is->executable, name) == 0;
}

/* One name leads to all entries for that program, those that are to be in force included. */
static int add_executable(struct executors *x, const char *name,
			  struct executor_entry *const *fresh, size_t count)
{
	uint64_t mask = adoption_whole_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, name) &
			x->active;

	for (size_t i = 0; i < count; i++)
		if (has_name(fresh[i], name))
			mask |= 1ull << fresh[i]->index;
	return adoption_add_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, name, true, mask);
}

/* Bits of the entries whose pattern begins with the beginning of `prefix`. */
static uint64_t begin_with(const struct executor_entry *entry, const char *prefix)
{
	if (!entry || !entry->pattern || entry->is->is_itself ||
	    strncmp(prefix, entry->pattern, entry->prefix) != 0)
		return 0;
	return 1ull << entry->index;
}

/* The kernel finds the longest prefix alone: it leads to the entries of shorter ones as well. */
static int add_prefix(struct executors *x, const struct executor_entry *entry,
		      struct executor_entry *const *fresh, size_t count)
{
	char prefix[CONFIG_PATH_MAX + 1];
	uint64_t mask = 0;

	if (!entry || !entry->pattern || entry->is->is_itself)
		return 0;
	snprintf(prefix, sizeof(prefix), "%.*s", (int)entry->prefix, entry->pattern);
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		mask |= begin_with(x->entries[i], prefix);
	for (size_t i = 0; i < count; i++)
		mask |= begin_with(fresh[i], prefix);
	mask |= adoption_prefix(x->adoption, CORDON_ADOPT_EXECUTOR_LIKE, 0, prefix) & x->active;
	return adoption_add_name(x->adoption, CORDON_ADOPT_EXECUTOR_LIKE, 0, prefix, false, mask);
}

static int add_executables(struct executors *x, struct executor_entry *const *fresh, size_t count,
			   struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (fresh[i]->is->is_itself)
			continue;
		if (!fresh[i]->pattern)
			r = add_executable(x, fresh[i]->is->executable, fresh, count);
		for (char **at = fresh[i]->targets; r == 0 && at && *at; at++)
			r = add_executable(x, *at, fresh, count);
		if (r == 0)
			r = add_prefix(x, fresh[i], fresh, count);
		if (r < 0)
			failure_set(failure, r, "executor %s: cannot be put into the kernel: %m",
				    fresh[i]->is->name);
	}
	for (size_t i = 0; r == 0 && i < CORDON_MAX_EXECUTORS; i++)
		if ((r = add_prefix(x, x->entries[i], fresh, count)) < 0)
			failure_set(failure, r, "executor %s: cannot be put into the kernel: %m",
				    x->entries[i]->is->name);
	return r;
}

/* --- what an entry cannot find ------------------------------------------------------------- */

static struct executor_entry *entry_named(struct executor_entry *const *entries, const char *name)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if (entries[i] && strcmp(entries[i]->is->name, name) == 0)
			return entries[i];
	return NULL;
}

/* `before`: why it refused until now, or NULL. Whoever loads the file says the rest. */
static void tell(const struct executors *x, const struct executor_entry *entry, const char *before)
{
	const struct config_executor *is = entry->is;

	if (entry->why) {
		daemon_alert(x->daemon, "executor-unresolved",
			     json_pack("{s:s,s:s,s:i,s:s}", "executor", is->name, "file", x->path,
				       "line", (int)is->line, "error", entry->why));
	} else if (before) {
		daemon_record(x->daemon, "executor-resolved",
			      json_pack("{s:s,s:s,s:i}", "executor", is->name, "file", x->path,
					"line", (int)is->line));
	}
}

/* What is as it was, and was not asked for, is not told again. */
static void tell_changes(const struct executors *x, struct executor_entry *const *old, bool again)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = x->entries[i],
					    *was = entry ? entry_named(old, entry->is->name) : NULL;
		const char *before = was ? was->why : NULL;

		if (entry && !(again && before && entry->why && strcmp(before, entry->why) == 0))
			tell(x, entry, before);
		if (again && before && !entry->why)
			daemon_say(x->daemon, "executor %s has all that it names, and is in force",
				   entry->is->name);
	}
}

/* ------------------------------------------------------------------------------------------ */

/* It is in force as it is, with what the same configuration says. */
static bool stays(const struct executors *x, const struct executor_entry *entry)
{
	return entry && x->entries[entry->index] == entry;
}

static void switch_to(struct executors *x, struct config *config, struct executor_entry **fresh,
		      size_t count)
{
	struct executor_entry *old[CORDON_MAX_EXECUTORS];
	struct config *old_config = x->config;
	uint64_t active = 0, before = x->active;

	memcpy(old, x->entries, sizeof(old));
	memset(x->entries, 0, sizeof(x->entries));
	for (size_t i = 0; i < count; i++) {
		x->entries[fresh[i]->index] = fresh[i];
		active |= 1ull << fresh[i]->index;
		if (!fresh[i]->since)
			fresh[i]->since = clock_nsec(CLOCK_BOOTTIME);
		standby_refill(x, fresh[i]);
	}
	adoption_renew(x->adoption, clock_nsec(CLOCK_BOOTTIME) + EXECUTORS_LEASE_NSEC);
	adoption_switch(x->adoption, active);
	x->active = active;
	x->config = config;
	/* A number that is used again must not be found by what it was called before. */
	adoption_keep_executables(x->adoption, active);
	tell_changes(x, old, config == old_config);
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		if ((before >> i) & 1 && !((active >> i) & 1))
			standby_give_back(x, i);
		if (!stays(x, old[i]))
			executor_entry_free(x, old[i]);
	}
	if (old_config && old_config != config)
		config_free(old_config);
	executor_retry_later(x);
	executors_turn(x);
	if (active)
		executor_before_look(x);
	else
		executor_before_clear(x);
}

/* All that it names seems to be there by now: its policy is compiled. */
static bool is_found(const struct executors *x, const struct executor_entry *entry)
{
	return entry && x->entries[entry->index] == entry && (x->found >> entry->index) & 1;
}

bool executors_is_found(const struct executors *x, const struct config_executor *is)
{
	return is_found(x, entry_named(x->entries, is->name)) ||
	       (is->itself && is_found(x, entry_named(x->entries, is->itself->name)));
}

/*
 * Of the configuration that is in force already, what misses nothing stays as it is: a policy that
 * was changed meanwhile is not to come into force by the way. So does what still misses something.
 */
static bool carry_over(const struct executors *x, const struct config *config,
		       const struct config_executor *is, struct executor_entry **fresh,
		       size_t *made)
{
	struct executor_entry *entry = entry_named(x->entries, is->name),
			      *itself = is->itself ? entry_named(x->entries, is->itself->name)
						   : NULL;

	if (config != x->config || !entry || entry->found ||
	    (executor_refuses(x, entry) && (is_found(x, entry) || is_found(x, itself))))
		return false;
	if (itself)
		fresh[(*made)++] = itself;
	fresh[(*made)++] = entry;
	return true;
}

static int make_entries(struct executors *x, const struct config *config,
			struct executor_entry **fresh, size_t *made, struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < config_executor_count(config); i++) {
		const struct config_executor *is = config_executor_at(config, i);
		struct executor_entry *before = entry_named(x->entries, is->name), *itself = NULL;

		if (carry_over(x, config, is, fresh, made))
			continue;
		if (is->itself)
			r = executor_entry_make(x, is->itself, NULL,
						entry_named(x->entries, is->itself->name), &itself,
						failure);
		if (r == 0 && itself)
			fresh[(*made)++] = itself;
		if (r == 0)
			r = executor_entry_make(x, is, itself, before, &fresh[*made], failure);
		*made += r == 0;
	}
	return r;
}

int executors_put_into_force(struct executors *x, struct config *config, struct failure *failure)
{
	struct executor_entry *fresh[CONFIG_EXECUTORS_MAX] = {};
	size_t made = 0;
	int r = config == x->config ? 0 : refuse_directories(x, failure);

	if (r == 0)
		r = make_entries(x, config, fresh, &made, failure);
	if (r == 0)
		r = add_executables(x, fresh, made, failure);
	if (r < 0) {
		for (size_t i = 0; i < made; i++)
			if (!stays(x, fresh[i]))
				executor_entry_free(x, fresh[i]);
		return r;
	}
	switch_to(x, config, fresh, made);
	return 0;
}

void executors_clear(struct executors *x)
{
	executors_forget_reload(x);
	switch_to(x, NULL, NULL, 0);
}
