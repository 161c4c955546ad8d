/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the compiled policies in use, each once. */
#include "daemon/policy/policies.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/io.h"
#include "base/sha256.h"
#include "launch/seccomp.h"
#include "policy/ask/evaluate.h"
#include "policy/core/compiled_parcel.h"
#include "policy/source/inputs.h"

/* What was as it is a moment ago, in the same turn of the loop mostly, is not read again. */
#define CHECKED_NSEC NSEC_PER_MSEC
/* Unused policies that stay resident. */
#define MAX_IDLE 16

/* What was asked for, and all that the answer depended on. */
struct origin {
	char *name_or_path;
	bool observe;
	struct policy_inputs *inputs;
	uint64_t checked; /* monotonic clock, ns: when it last depended on what is there */
};

/*
 * Two policies may have the same tables (and so one digest) but differ in what userspace does with
 * them: limits, environment, names of files in diagnostics. They are two policies here.
 */
struct entry {
	struct policy_use use; /* first: policy_use pointers are entry pointers */
	TAILQ_ENTRY(entry) link;
	struct compiled_policy *compiled;
	struct origin *origin; /* NULL: to be compiled anew when it is asked for */
	unsigned int references;
};

struct policies {
	struct enforcement *enforcement;
	const char *const *directories;
	int notes_fd;
	bool never_wait;		    /* no file is opened that is not in the caches */
	LIST_HEAD(, policies_given) given;  /* latest first */
	TAILQ_HEAD(entries, entry) entries; /* least recently used first */
	size_t count;
	size_t idle;
};

int policies_new(struct enforcement *e, const char *const *directories, int notes_fd,
		 struct policies **ret_policies)
{
	struct policies *policies = calloc(1, sizeof(*policies));

	if (!policies)
		return -ENOMEM;
	policies->enforcement = e;
	policies->directories = directories;
	policies->notes_fd = notes_fd;
	TAILQ_INIT(&policies->entries);
	LIST_INIT(&policies->given);
	*ret_policies = policies;
	return 0;
}

void policies_never_wait(struct policies *policies)
{
	policies->never_wait = true;
}

/* --- notes for the next daemon ------------------------------------------------------------ */

#define NOTE_SIZE 24

static void note_name(uint64_t ref, char name[NOTE_SIZE])
{
	snprintf(name, NOTE_SIZE, "%016" PRIx64, ref);
}

static int note(struct policies *policies, uint64_t ref)
{
	char name[NOTE_SIZE];
	int fd;

	note_name(ref, name);
	fd = openat(policies->notes_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void forget(struct policies *policies, uint64_t ref)
{
	char name[NOTE_SIZE];

	note_name(ref, name);
	(void)unlinkat(policies->notes_fd, name, 0);
}

/* By an adopted execution, which outlives its daemon, or by one that stands ready to be. */
static bool in_use(const struct policies *policies, uint64_t ref)
{
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *view =
			enforcement_execution(policies->enforcement, slot);

		if (view->state != CORDON_EXECUTION_FREE && view->policy == ref)
			return true;
	}
	return false;
}

static struct entry *find_ref(struct policies *policies, uint64_t ref)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &policies->entries, link)
	if (entry->use.ref == ref)
		return entry;
	return NULL;
}

void policies_remove_stale(struct policies *policies)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *file;

	if (io_open_directory(policies->notes_fd, ".", &dir) < 0)
		return;
	while ((file = readdir(dir)) != NULL) {
		uint64_t ref;
		char *end;

		ref = strtoull(file->d_name, &end, 16);
		if (end == file->d_name || *end != '\0')
			continue;
		if (in_use(policies, ref) || find_ref(policies, ref))
			continue;
		/* Not resident any more is as good. */
		(void)enforcement_policy_remove(policies->enforcement, ref);
		(void)unlinkat(policies->notes_fd, file->d_name, 0);
	}
}

/* --- entries ------------------------------------------------------------------------------ */

static void origin_free(struct origin *origin)
{
	if (!origin)
		return;
	free(origin->name_or_path);
	policy_inputs_free(origin->inputs);
	free(origin);
}
DEFINE_CLEANUP(struct origin *, origin_free, origin_freep)

static void entry_free(struct entry *entry)
{
	origin_free(entry->origin);
	closep(&entry->use.filter_fd);
	compiled_policy_free(entry->compiled);
	free(entry);
}

static void evict(struct policies *policies, struct entry *entry)
{
	TAILQ_REMOVE(&policies->entries, entry, link);
	policies->count--;
	policies->idle--;
	if (enforcement_policy_remove(policies->enforcement, entry->use.ref) >= 0)
		forget(policies, entry->use.ref);
	entry_free(entry);
}

static bool evict_oldest(struct policies *policies)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &policies->entries, link)
	{
		if (entry->references == 0) {
			evict(policies, entry);
			return true;
		}
	}
	return false;
}

void policies_free(struct policies *policies)
{
	struct entry *entry;

	while (evict_oldest(policies))
		;
	while ((entry = TAILQ_FIRST(&policies->entries)) != NULL) {
		TAILQ_REMOVE(&policies->entries, entry, link);
		entry_free(entry);
	}
	free(policies);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_texts(char *const *a, char *const *b)
{
	if (!a || !b)
		return a == b;
	while (*a && *b && strcmp(*a, *b) == 0) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool same_rule(const struct policy_rule *a, const struct policy_rule *b)
{
	return a->line == b->line && same_text(a->file, b->file) && same_text(a->text, b->text) &&
	       same_text(a->severity, b->severity) && same_text(a->message, b->message) &&
	       same_texts(a->tags, b->tags);
}

static bool same_policy(const struct compiled_policy *a, const struct compiled_policy *b)
{
	if (memcmp(a->digest, b->digest, sizeof(a->digest)) != 0 ||
	    memcmp(&a->limits, &b->limits, sizeof(a->limits)) != 0 ||
	    a->arguments != b->arguments || a->observe != b->observe ||
	    a->rule_count != b->rule_count || !same_text(a->name, b->name) ||
	    !same_text(a->file, b->file) || !same_text(a->description, b->description) ||
	    a->environment.keep_all != b->environment.keep_all ||
	    !same_texts(a->environment.keep, b->environment.keep) ||
	    !same_texts(a->environment.set_names, b->environment.set_names) ||
	    !same_texts(a->environment.set_values, b->environment.set_values) ||
	    !same_texts(a->run_by, b->run_by))
		return false;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (!same_text(a->anchor_names[i], b->anchor_names[i]))
			return false;
	for (size_t i = 0; i < a->rule_count; i++)
		if (!same_rule(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

static struct entry *find(struct policies *policies, const struct compiled_policy *compiled)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &policies->entries, link)
	if (same_policy(entry->compiled, compiled))
		return entry;
	return NULL;
}

static bool is_origin(const struct entry *entry, const char *name_or_path, bool observe)
{
	return entry->origin && entry->origin->observe == observe &&
	       strcmp(entry->origin->name_or_path, name_or_path) == 0;
}

/* The entry that compiling this gave the last time; its files may have changed. */
static struct entry *find_origin(const struct policies *policies, const char *name_or_path,
				 bool observe)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &policies->entries, link)
	if (is_origin(entry, name_or_path, observe))
		return entry;
	return NULL;
}

static void forget_origin(struct entry *entry)
{
	origin_free(entry->origin);
	entry->origin = NULL;
}

/*
 * The entry that compiling this now would give, if the kernel's caches show it: the loop calls
 * this, and a policy's files may lie on a file system that does not answer.
 */
static struct entry *find_unchanged(struct policies *policies, const char *name_or_path,
				    bool observe)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	struct entry *entry = find_origin(policies, name_or_path, observe);
	int r;

	if (!entry || now - entry->origin->checked < CHECKED_NSEC)
		return entry;
	r = policy_inputs_unchanged_in_caches(entry->origin->inputs);
	if (r < 0 && !policies->never_wait)
		r = policy_inputs_unchanged(entry->origin->inputs);
	if (r > 0) {
		entry->origin->checked = now;
		return entry;
	}
	if (r == 0)
		forget_origin(entry);
	return NULL;
}

/* Makes the tables resident, at the cost of unused ones if there is no room. */
static int make_resident(struct policies *policies, const struct compiled_policy *compiled,
			 uint64_t *ret_ref, struct failure *failure)
{
	uint64_t ref;
	int r;

	do {
		r = enforcement_policy_add(policies->enforcement, compiled->tables,
					   compiled->tables_size, &ref);
	} while ((r == -ENOSPC || r == -ENOMEM) && evict_oldest(policies));
	if (r < 0)
		return failure_set(failure, r,
				   "cannot put policy %s into the kernel (%u are "
				   "there, %u at most): %m",
				   compiled->name, (unsigned int)policies->count,
				   CORDON_MAX_POLICIES);
	r = note(policies, ref);
	if (r < 0) {
		(void)enforcement_policy_remove(policies->enforcement, ref);
		return failure_set(failure, r, "cannot note policy %s below /run/cordon: %m",
				   compiled->name);
	}
	*ret_ref = ref;
	return 0;
}

static int build_filter(const struct compiled_policy *compiled, int *ret_fd,
			struct failure *failure)
{
	struct policy_system_calls calls;
	int r = policy_system_calls(compiled, &calls);

	if (r < 0)
		return failure_set(failure, r, "the compiled tables of policy %s are damaged: %m",
				   compiled->name);
	return seccomp_filter_build(&calls, ret_fd, failure);
}

static int add(struct policies *policies, struct compiled_policy *compiled,
	       struct entry **ret_entry, struct failure *failure)
{
	_cleanup_(closep) int filter = -1;
	struct entry *entry;
	uint64_t ref = 0;
	int r;

	r = policy_tables_check(compiled->tables, compiled->tables_size);
	if (r < 0)
		return failure_set(failure, r, "the compiled tables of policy %s are damaged: %m",
				   compiled->name);
	r = build_filter(compiled, &filter, failure);
	if (r == 0)
		r = enforcement_provide(policies->enforcement, compiled->tables, failure);
	if (r == 0)
		r = make_resident(policies, compiled, &ref, failure);
	if (r < 0)
		return r;
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		if (enforcement_policy_remove(policies->enforcement, ref) >= 0)
			forget(policies, ref);
		return failure_set(failure, ENOMEM, "%m");
	}
	entry->compiled = compiled;
	entry->use =
		(struct policy_use){.policy = compiled, .ref = ref, .filter_fd = TAKE_FD(filter)};
	TAILQ_INSERT_TAIL(&policies->entries, entry, link);
	policies->count++;
	policies->idle++;
	*ret_entry = entry;
	return 0;
}

/* --- the interface ------------------------------------------------------------------------ */

static int origin_new(const char *name_or_path, bool observe, struct origin **ret_origin)
{
	_cleanup_(origin_freep) struct origin *origin = calloc(1, sizeof(*origin));

	if (!origin)
		return -ENOMEM;
	origin->observe = observe;
	origin->name_or_path = strdup(name_or_path);
	origin->inputs = policy_inputs_new();
	if (!origin->name_or_path || !origin->inputs)
		return -ENOMEM;
	*ret_origin = TAKE_PTR(origin);
	return 0;
}

static int compile(struct policies *policies, const char *name_or_path, bool observe,
		   struct policy_inputs *inputs, struct compiled_policy **ret_compiled,
		   char **ret_message)
{
	const struct policy_search search = {.directories = policies->directories,
					     .inputs = inputs};
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *compiled = NULL;
	int r;

	if (!diagnostics)
		return -ENOMEM;
	r = policy_compile(name_or_path, &search, diagnostics, &compiled);
	if (r < 0 && ret_message)
		*ret_message = diagnostics_format(diagnostics, 0);
	if (r >= 0 && observe && !compiled->observe)
		r = compiled_policy_observe(compiled);
	if (r < 0)
		return r;
	*ret_compiled = TAKE_PTR(compiled);
	return 0;
}

int policies_compile(struct policies *policies, const char *name_or_path, bool observe,
		     struct compiled_policy **ret_policy)
{
	return compile(policies, name_or_path, observe, NULL, ret_policy, NULL);
}

/* Takes both over, also on failure. */
static int add_compiled(struct policies *policies, struct compiled_policy *policy,
			struct origin *from, struct entry **ret_entry, struct failure *failure)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *compiled = policy;
	_cleanup_(origin_freep) struct origin *origin = from;
	struct entry *entry = find(policies, compiled), *before;

	if (!entry) {
		int r = add(policies, compiled, &entry, failure);

		if (r < 0)
			return r;
		TAKE_PTR(compiled);
	}
	/* What it was until now is not what compiling it gives any more. */
	if ((before = find_origin(policies, origin->name_or_path, origin->observe)) != NULL)
		forget_origin(before);
	origin_free(entry->origin);
	entry->origin = TAKE_PTR(origin);
	*ret_entry = entry;
	return 0;
}

static int compile_entry(struct policies *policies, const char *name_or_path, bool observe,
			 struct entry **ret_entry, char **ret_message, struct failure *failure)
{
	_cleanup_(origin_freep) struct origin *origin = NULL;
	struct compiled_policy *compiled = NULL;
	int r = origin_new(name_or_path, observe, &origin);

	if (r == 0)
		r = compile(policies, name_or_path, observe, origin->inputs, &compiled,
			    ret_message);
	if (r < 0)
		return failure_set(failure, r, "policy %s: %m", name_or_path);
	return add_compiled(policies, compiled, TAKE_PTR(origin), ret_entry, failure);
}

static const struct policy_use *use_of(struct policies *policies, struct entry *entry)
{
	TAILQ_REMOVE(&policies->entries, entry, link);
	TAILQ_INSERT_TAIL(&policies->entries, entry, link);
	if (entry->references++ == 0)
		policies->idle--;
	return &entry->use;
}

const struct policy_use *policies_find(struct policies *policies, const char *name_or_path,
				       bool observe)
{
	struct entry *entry = find_unchanged(policies, name_or_path, observe);

	return entry ? use_of(policies, entry) : NULL;
}

int policies_prepare(struct policies *policies, const char *name_or_path, bool observe, FILE *to,
		     struct failure *failure)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *compiled = NULL;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = policy_inputs_new();
	_cleanup_(freep) char *message = NULL;
	int r = inputs ? compile(policies, name_or_path, observe, inputs, &compiled, &message)
		       : -ENOMEM;

	if (r == 0)
		r = enforcement_provide_hooks(compiled->tables, failure);
	if (r < 0) {
		parcel_put_text(to, message);
		return failure_set(failure, r, "policy %s: %m", name_or_path);
	}
	policy_inputs_put(inputs, to);
	compiled_policy_put(to, compiled);
	return 0;
}

int policies_take(struct policies *policies, const char *name_or_path, bool observe,
		  struct parcel *from, const struct policy_use **ret_use, struct failure *failure)
{
	_cleanup_(origin_freep) struct origin *origin = NULL;
	struct compiled_policy *compiled = NULL;
	struct policy_inputs *inputs = NULL;
	struct entry *entry = NULL;
	int r = origin_new(name_or_path, observe, &origin);

	if (r == 0)
		r = policy_inputs_take(from, &inputs);
	if (r == 0) {
		policy_inputs_free(origin->inputs);
		origin->inputs = inputs;
		origin->checked = clock_nsec(CLOCK_MONOTONIC);
		r = compiled_policy_take(from, &compiled);
	}
	if (r < 0)
		return failure_set(failure, r, "policy %s, as it was compiled: %m", name_or_path);
	r = add_compiled(policies, compiled, TAKE_PTR(origin), &entry, failure);
	if (r == 0)
		*ret_use = use_of(policies, entry);
	return r;
}

static const struct policies_given *find_given(const struct policies *policies,
					       const char *name_or_path, bool observe)
{
	const struct policies_given *given;

	LIST_FOREACH(given, &policies->given, link)
	if (given->observe == observe && strcmp(given->name_or_path, name_or_path) == 0)
		return given;
	return NULL;
}

static int get(struct policies *policies, const char *name_or_path, bool observe, bool may_wait,
	       const struct policy_use **ret_use, char **ret_message, struct failure *failure)
{
	const struct policies_given *given = find_given(policies, name_or_path, observe);
	struct entry *entry = (struct entry *)(uintptr_t)(given ? given->use : NULL);
	int r;

	*ret_message = NULL;
	if (!entry)
		entry = find_unchanged(policies, name_or_path, observe);
	if (!entry && !may_wait)
		return failure_set(failure, ETIMEDOUT,
				   "policy %s: its files have not been read; try again",
				   name_or_path);
	if (!entry) {
		r = compile_entry(policies, name_or_path, observe, &entry, ret_message, failure);
		if (r < 0)
			return r;
	}
	*ret_use = use_of(policies, entry);
	return 0;
}

int policies_get(struct policies *policies, const char *name_or_path, bool observe,
		 const struct policy_use **ret_use, char **ret_message, struct failure *failure)
{
	return get(policies, name_or_path, observe, !policies->never_wait, ret_use, ret_message,
		   failure);
}

int policies_get_own(struct policies *policies, const char *path, const struct policy_use **ret_use,
		     char **ret_message, struct failure *failure)
{
	return get(policies, path, false, true, ret_use, ret_message, failure);
}

void policies_give(struct policies *policies, struct policies_given *given)
{
	LIST_INSERT_HEAD(&policies->given, given, link);
}

void policies_withdraw(struct policies_given *given)
{
	LIST_REMOVE(given, link);
}

const struct policy_use *policies_last(struct policies *policies, const char *name_or_path,
				       bool observe)
{
	struct entry *entry = find_origin(policies, name_or_path, observe);

	return entry ? use_of(policies, entry) : NULL;
}

/* Another compilation may have taken its origin meanwhile. */
bool policies_is_unchanged(const struct policy_use *use, const char *name_or_path, bool observe)
{
	const struct entry *entry = (const struct entry *)use;

	return is_origin(entry, name_or_path, observe) &&
	       policy_inputs_unchanged(entry->origin->inputs);
}

void policies_note_unchanged(const struct policy_use *use, const char *name_or_path, bool observe)
{
	struct entry *entry = (struct entry *)(uintptr_t)use;

	if (is_origin(entry, name_or_path, observe))
		entry->origin->checked = clock_nsec(CLOCK_MONOTONIC);
}

int policies_resume(struct policies *policies, struct compiled_policy *compiled, uint64_t ref,
		    const struct policy_use **ret_use)
{
	struct entry *entry = find_ref(policies, ref);
	struct failure ignored = {};
	int filter = -1, r;

	if (entry) {
		compiled_policy_free(compiled);
	} else {
		/* For executions that share it later. */
		r = build_filter(compiled, &filter, &ignored);
		entry = r == 0 ? calloc(1, sizeof(*entry)) : NULL;
		if (!entry) {
			closep(&filter);
			return r < 0 ? r : -ENOMEM;
		}
		entry->compiled = compiled;
		entry->use =
			(struct policy_use){.policy = compiled, .ref = ref, .filter_fd = filter};
		TAILQ_INSERT_TAIL(&policies->entries, entry, link);
		policies->count++;
		policies->idle++;
	}
	if (entry->references++ == 0)
		policies->idle--;
	*ret_use = &entry->use;
	return 0;
}

const struct policy_use *policies_resumed(struct policies *policies, uint64_t ref,
					  const unsigned char digest[32], const char *name,
					  const char *file)
{
	struct entry *entry = find_ref(policies, ref);

	if (!entry ||
	    memcmp(entry->compiled->digest, digest, sizeof(entry->compiled->digest)) != 0 ||
	    !same_text(entry->compiled->name, name) || !same_text(entry->compiled->file, file))
		return NULL;
	policies_share(policies, &entry->use);
	return &entry->use;
}

void policies_share(struct policies *policies, const struct policy_use *use)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &policies->entries, link)
	if (&entry->use == use && entry->references++ == 0)
		policies->idle--;
}

void policies_put(struct policies *policies, const struct policy_use *use)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &policies->entries, link)
	if (&entry->use == use)
		break;
	if (!entry || --entry->references > 0)
		return;
	if (++policies->idle > MAX_IDLE)
		evict_oldest(policies);
}

json_t *policies_in_use(const struct policies *policies, size_t max, size_t *ret_omitted)
{
	char digest[SHA256_TEXT_SIZE];
	json_t *list = json_array();
	const struct entry *entry;

	*ret_omitted = 0;
	TAILQ_FOREACH_REVERSE(entry, &policies->entries, entries, link)
	{
		if (entry->references == 0)
			continue;
		if (json_array_size(list) >= max) {
			++*ret_omitted;
			continue;
		}
		hex_encode(entry->compiled->digest, sizeof(entry->compiled->digest), digest);
		json_array_append_new(list, json_pack("{s:s,s:s}", "name", entry->compiled->name,
						      "digest", digest));
	}
	return list;
}

const char *const *policies_directories(const struct policies *policies)
{
	return policies->directories;
}

size_t policies_count(const struct policies *policies)
{
	return policies->count;
}
