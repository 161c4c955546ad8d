/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /etc/cordon/cordon.yaml. */
#include "config/config.h"

#include <string.h>

#include "base/clock.h"
#include "bpf/abi.h"
#include "config/read_executor.h"
#include "config/read_root.h"
#include "policy/source/units.h"

struct config {
	struct arena *arena;
	struct config_executor *executors;
	size_t count;
	size_t entries; /* in the kernel */
	uint32_t audit;
	bool require_approval;
	bool own_approvals;
	uint64_t idle_nsec;
	const struct source *source;
};

#define EXECUTOR_EXAMPLE                                                                           \
	"write - {name: autogen, match: {executable: /opt/agent/bin/python}, policy: "             \
	"autogen-local, workdir_under: [/srv/agent]}"

static int read_executor(struct reader *r, const struct node *n, struct config *config)
{
	struct config_executor *grown, executor = config_executor_empty(n);
	size_t errors = diagnostics_errors(r->diagnostics);
	int e = reader_mapping(r, n, "an executor", config_executor_keys, &executor);

	if (e < 0)
		return e;
	if (errors == diagnostics_errors(r->diagnostics))
		e = config_finish_executor(r, n, &executor);
	if (e < 0)
		return e;
	for (size_t i = 0; executor.name && i < config->count; i++)
		if (strcmp(config->executors[i].name, executor.name) == 0)
			report_error(r->diagnostics, &n->place, "give it another name",
				     "there is an executor \"%s\" already, in line %u",
				     executor.name, config->executors[i].line);
	if (errors != diagnostics_errors(r->diagnostics))
		return 0;
	grown = arena_grow(r->arena, config->executors, config->count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[config->count++] = executor;
	config->executors = grown;
	config->entries += executor.itself ? 2 : 1;
	if (config->entries > CONFIG_EXECUTORS_MAX)
		report_error(r->diagnostics, &n->place, "join some of them",
			     "more than %u executors, each with a policy for itself counted twice",
			     CONFIG_EXECUTORS_MAX);
	return 0;
}

/*
 * --- minimum of logging ------------------------------------------------------------------------
 */

static void set_level(struct config *config, unsigned int shift, uint32_t level)
{
	config->audit = (config->audit & ~(3u << shift)) | level << shift;
}

static int read_opens(struct reader *r, const struct node *n, void *target)
{
	uint32_t level;

	if (reader_opens_level(r, n, &level))
		set_level(target, CORDON_AUDIT_OPENS_SHIFT, level);
	return 0;
}

static int read_connects(struct reader *r, const struct node *n, void *target)
{
	uint32_t level;

	if (reader_access_level(r, n, &level))
		set_level(target, CORDON_AUDIT_CONNECTS_SHIFT, level);
	return 0;
}

static int read_least(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"opens", read_opens},
		{"connects", read_connects},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "audit", keys, target);
}

/* --- the file ----------------------------------------------------------------------------- */

static int read_executors(struct reader *r, const struct node *n, void *target)
{
	struct config *config = target;
	int e = 0;

	if (!reader_expect(r, n, NODE_SEQUENCE, "a list", EXECUTOR_EXAMPLE))
		return 0;
	for (size_t i = 0; e == 0 && i < n->count && config->entries <= CONFIG_EXECUTORS_MAX; i++)
		e = read_executor(r, n->items[i], config);
	return e;
}

static int read_require_approval(struct reader *r, const struct node *n, void *target)
{
	(void)reader_boolean(r, n, "require_approval", "write true or false",
			     &((struct config *)target)->require_approval);
	return 0;
}

static int read_idle(struct reader *r, const struct node *n, void *target)
{
	static const char hint[] = "write a duration: 60s, 5m, 1h";
	uint64_t nsec = 0;

	if (n->type != NODE_SCALAR || units_duration(n->text, &nsec) < 0 || nsec < NSEC_PER_SEC)
		report_error(r->diagnostics, &n->place, hint,
			     "idle is no duration of a second or more");
	else
		((struct config *)target)->idle_nsec = nsec;
	return 0;
}

static int read_own(struct reader *r, const struct node *n, void *target)
{
	(void)reader_boolean(r, n, "own", "write true or false",
			     &((struct config *)target)->own_approvals);
	return 0;
}

static int read_approvals(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"own", read_own},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "approvals", keys, target);
}

static int read_source(struct arena *arena, const struct source *s, struct diagnostics *d,
		       void *ret)
{
	struct config **ret_config = ret;
	struct reader r = {.arena = arena, .diagnostics = d};
	static const struct key keys[] = {
		{"version", config_read_version},
		{"executors", read_executors},
		{"audit", read_least},
		{"require_approval", read_require_approval},
		{"approvals", read_approvals},
		{"idle", read_idle},
		{NULL, NULL},
	};
	struct config *config = calloc(1, sizeof(*config));
	int e;

	if (!config)
		return -ENOMEM;
	e = config_read_root(&r, s, keys, config);
	if (e < 0) {
		free(config);
		return e;
	}
	config->arena = arena;
	config->source = s;
	*ret_config = config;
	return 0;
}

int config_parse(const char *text, size_t size, const char *name, struct diagnostics *diagnostics,
		 struct config **ret_config)
{
	struct arena *arena = arena_new();
	struct source source = {.name = name, .path = name, .size = size};
	struct source *kept;
	int r = -ENOMEM;

	if (!arena)
		return -ENOMEM;
	source.text = arena_copy(arena, text, size);
	kept = arena_alloc(arena, sizeof(*kept));
	if (source.text && kept) {
		*kept = source;
		r = read_source(arena, kept, diagnostics, ret_config);
	}
	if (r < 0)
		arena_free(arena);
	return r;
}

int config_load(const char *path, struct diagnostics *diagnostics, struct config **ret_config)
{
	return config_read_file(path, diagnostics, read_source, ret_config);
}

void config_free(struct config *config)
{
	arena_free(config->arena);
	free(config);
}

size_t config_executor_count(const struct config *config)
{
	return config->count;
}

uint32_t config_audit(const struct config *config)
{
	return config->audit;
}

bool config_require_approval(const struct config *config)
{
	return config->require_approval;
}

uint64_t config_idle_nsec(const struct config *config)
{
	return config->idle_nsec;
}

bool config_own_approvals(const struct config *config)
{
	return config->own_approvals;
}

const char *config_text(const struct config *config, size_t *ret_size)
{
	*ret_size = config->source->size;
	return config->source->text;
}

const struct config_executor *config_executor_at(const struct config *config, size_t index)
{
	return index < config->count ? &config->executors[index] : NULL;
}
