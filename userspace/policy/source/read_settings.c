/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sections limits, environment, audit, on_denial and ask. */
#include <string.h>

#include "base/clock.h"
#include "policy/core/variables.h"
#include "policy/source/reader.h"
#include "policy/source/units.h"

/* ---- limits ---- */

/* A quantity with a unit, or `none`. */
static int read_quantity(struct reader *r, const struct node *n, const char *what,
			 const char *example, int (*parse)(const char *, uint64_t *),
			 uint64_t *ret_value)
{
	uint64_t value;
	int e = n->type == NODE_SCALAR && !node_is_null(n) ? parse(n->text, &value) : -EBADMSG;

	if (e == -EBADMSG) {
		report_error(r->diagnostics, &n->place, example, "%s must be a quantity, not %s",
			     what, node_describe(n));
	} else if (strcmp(n->text, "none") == 0) {
		*ret_value = 0;
	} else if (e == -ENODATA) {
		report_error(r->diagnostics, &n->place, example, "%s needs a unit", what);
	} else if (e == -ERANGE) {
		report_error(r->diagnostics, &n->place, "write none for no limit",
			     "%s is too large", what);
	} else if (e < 0) {
		report_error(r->diagnostics, &n->place, example, "\"%s\" is no value for %s",
			     n->text, what);
	} else if (value == 0) {
		report_error(r->diagnostics, &n->place, "write none for no limit",
			     "%s must be more than zero", what);
	} else {
		*ret_value = value;
	}
	return 0;
}

#define DURATION_EXAMPLE "write a duration: 500ms, 60s, 5m, 1h"
#define SIZE_EXAMPLE	 "write a size: 64K, 512M, 1G"

static int read_wall(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "wall", DURATION_EXAMPLE, units_duration,
			     &((struct policy_limits *)target)->wall_nsec);
}

static int read_cpu_time(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "cpu_time", DURATION_EXAMPLE, units_duration,
			     &((struct policy_limits *)target)->cpu_time_nsec);
}

static int read_memory(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "memory", SIZE_EXAMPLE, units_size,
			     &((struct policy_limits *)target)->memory_bytes);
}

static int read_address_space(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "address_space", SIZE_EXAMPLE, units_size,
			     &((struct policy_limits *)target)->address_space_bytes);
}

static int read_file_size(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "file_size", SIZE_EXAMPLE, units_size,
			     &((struct policy_limits *)target)->file_size_bytes);
}

static int read_cpu(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "cpu", "write a share of one CPU: 100%, 150%, or 2 cpus",
			     units_cpu, &((struct policy_limits *)target)->cpu_percent);
}

static int read_pids(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "pids", "write a number of tasks: 64", units_number,
			     &((struct policy_limits *)target)->pids);
}

static int read_open_files(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "open_files", "write a number of descriptors: 256", units_number,
			     &((struct policy_limits *)target)->open_files);
}

#define RATE_EXAMPLE "write bytes a second: 512K/s, 50M/s"

static int read_io_read(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "read", RATE_EXAMPLE, units_rate,
			     &((struct policy_limits *)target)->io_read_bytes);
}

static int read_io_write(struct reader *r, const struct node *n, void *target)
{
	return read_quantity(r, n, "write", RATE_EXAMPLE, units_rate,
			     &((struct policy_limits *)target)->io_write_bytes);
}

static int read_io(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"read", read_io_read},
		{"write", read_io_write},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "io", keys, target);
}

int read_limits(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"wall", read_wall},
		{"memory", read_memory},
		{"pids", read_pids},
		{"cpu", read_cpu},
		{"cpu_time", read_cpu_time},
		{"address_space", read_address_space},
		{"file_size", read_file_size},
		{"open_files", read_open_files},
		{"io", read_io},
		{NULL, NULL},
	};

	(void)target;
	return reader_mapping(r, n, "limits", keys, &r->model->limits);
}

/* ---- environment ---- */

static bool is_variable_name(const char *name, const char *besides)
{
	if (!*name || strchr(name, '='))
		return false;
	for (; *name; name++)
		if (!strchr(besides, *name) && *name != '_' && !(*name >= '0' && *name <= '9') &&
		    !((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z'))
			return false;
	return true;
}

static int read_keep(struct reader *r, const struct node *n, void *target)
{
	struct model *m = r->model;
	size_t first = m->keep_count;
	int e = reader_strings(r, n, "a variable name", "keep: [PATH, LANG, \"LC_*\"]", &m->keep,
			       &m->keep_count);

	(void)target;
	for (size_t i = first; i < m->keep_count; i++)
		if (!is_variable_name(m->keep[i], "*?[]!-."))
			report_error(
				r->diagnostics, reader_place_of(n, m->keep[i]),
				"names may hold letters, digits, _ and the wildcards * ? [a-z]",
				"\"%s\" is no variable name", m->keep[i]);
		else if (policy_keeps_nothing(m->keep[i]))
			report_warning(r->diagnostics, reader_place_of(n, m->keep[i]),
				       "name each variable that is meant, without wildcards",
				       "\"%s\" keeps nothing: a pattern does not keep variables "
				       "that make programs load code",
				       m->keep[i]);
	if (!m->fragment) {
		m->keep_given = true;
		m->keep_place = n->place;
	}
	return e;
}

static int set_variable(struct reader *r, const char *name, const char *value)
{
	struct model *m = r->model;
	const char **names, **values;

	for (size_t i = 0; i < m->set_count; i++) {
		if (strcmp(m->set_names[i], name) == 0) {
			m->set_values[i] = value;
			return 0;
		}
	}
	names = arena_grow(r->arena, m->set_names, m->set_count, sizeof(*names));
	values = arena_grow(r->arena, m->set_values, m->set_count, sizeof(*values));
	if (!names || !values)
		return -ENOMEM;
	names[m->set_count] = name;
	values[m->set_count++] = value;
	m->set_names = names;
	m->set_values = values;
	return 0;
}

/* ${git:NAME} is a reference to a git setting of the user; other references are not allowed. */
static void check_git_reference(struct reader *r, const struct node *value, const char *name,
				const char *text)
{
	const char *setting;
	int found = policy_git_reference(text, &setting);

	if (found < 0)
		report_error(r->diagnostics, &value->place,
			     "one of user.name, user.email, author.*, committer.*, safe.directory, "
			     "init.defaultBranch",
			     "\"%s\" is no setting of git's that is handed over", text);
	else if (found > 0 && strncmp(name, "GIT_CONFIG_VALUE_", 17) != 0)
		report_error(r->diagnostics, &value->place,
			     "set GIT_CONFIG_COUNT, GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n",
			     "\"%s\" can only be the value of a variable GIT_CONFIG_VALUE_n", text);
}

static int read_set(struct reader *r, const struct node *n, void *target)
{
	(void)target;
	if (!reader_expect(r, n, NODE_MAPPING, "a mapping", "write set: {NAME: \"value\"}"))
		return 0;
	for (size_t i = 0; i < n->count; i += 2) {
		const struct node *name = n->items[i], *value = n->items[i + 1];
		int e;

		if (!is_variable_name(name->text, "")) {
			report_error(r->diagnostics, &name->place,
				     "names may hold letters, digits and _",
				     "\"%s\" is no variable name", name->text);
			continue;
		}
		if (value->type == NODE_SCALAR && !value->plain && value->size == 0) {
			e = set_variable(r, name->text, "");
		} else {
			const char *text;

			if (!reader_string(r, value, "a variable's value", &text))
				continue;
			check_git_reference(r, value, name->text, text);
			e = set_variable(r, name->text, text);
		}
		if (e < 0)
			return e;
	}
	return 0;
}

int read_environment(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"keep", read_keep},
		{"set", read_set},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "environment", keys, target);
}

/* ---- audit, on_denial ---- */

/*
 * A lower rate does not suffice for a denial with a long name; a higher rate exceeds the speed of
 * disks.
 */
#define LOG_RATE_MIN (16ull << 10)
#define LOG_RATE_MAX (1ull << 30)

static void set_level(struct model *m, unsigned int shift, uint32_t level)
{
	m->audit = (m->audit & ~(3u << shift)) | level << shift;
}

bool reader_opens_level(struct reader *r, const struct node *n, uint32_t *ret_level)
{
	static const struct word words[] = {
		{"denied", CORDON_AUDIT_NONE},
		{"writes", CORDON_AUDIT_WRITES},
		{"all", CORDON_AUDIT_ALL},
		{NULL, 0},
	};

	return reader_word(r, n, "audit level", words, ret_level);
}

bool reader_access_level(struct reader *r, const struct node *n, uint32_t *ret_level)
{
	static const struct word words[] = {
		{"denied", CORDON_AUDIT_NONE},
		{"all", CORDON_AUDIT_ALL},
		{NULL, 0},
	};

	return reader_word(r, n, "audit level", words, ret_level);
}

static int read_opens(struct reader *r, const struct node *n, void *target)
{
	uint32_t level;

	(void)target;
	if (reader_opens_level(r, n, &level))
		set_level(r->model, CORDON_AUDIT_OPENS_SHIFT, level);
	return 0;
}

static int read_connects(struct reader *r, const struct node *n, void *target)
{
	uint32_t level;

	(void)target;
	if (reader_access_level(r, n, &level))
		set_level(r->model, CORDON_AUDIT_CONNECTS_SHIFT, level);
	return 0;
}

static int read_execs(struct reader *r, const struct node *n, void *target)
{
	uint32_t level;

	(void)target;
	if (reader_access_level(r, n, &level))
		set_level(r->model, CORDON_AUDIT_EXECS_SHIFT, level);
	return 0;
}

static int read_refused_calls(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"none", CORDON_AUDIT_NONE},
		{"denied", CORDON_AUDIT_ALL},
		{NULL, 0},
	};
	uint32_t level;

	(void)target;
	if (reader_word(r, n, "audit level", words, &level))
		set_level(r->model, CORDON_AUDIT_CALLS_SHIFT, level);
	return 0;
}

static int read_arguments(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"digest", POLICY_ARGUMENTS_DIGEST},
		{"full", POLICY_ARGUMENTS_FULL},
		{NULL, 0},
	};
	uint32_t value;

	(void)target;
	if (reader_word(r, n, "value for arguments", words, &value))
		r->model->arguments = value;
	return 0;
}

/* The header contains the rate in KiB. */
static int read_rate(struct reader *r, const struct node *n, void *target)
{
	size_t errors = diagnostics_errors(r->diagnostics);
	uint64_t bytes = 0;
	int e = read_quantity(r, n, "rate", "write bytes a second: 256K/s, 1M/s, or none",
			      units_rate, &bytes);

	(void)target;
	if (e < 0 || errors != diagnostics_errors(r->diagnostics))
		return e;
	if (bytes != 0 && (bytes < LOG_RATE_MIN || bytes > LOG_RATE_MAX))
		report_error(r->diagnostics, &n->place, "write rate: 1M/s",
			     "rate must be between 16K/s and 1G/s, or none");
	r->model->log_rate = bytes ? (uint32_t)(bytes >> 10) : CORDON_LOG_RATE_NONE;
	return 0;
}

int read_audit(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"opens", read_opens},
		{"connects", read_connects},
		{"execs", read_execs},
		{"system_calls", read_refused_calls},
		{"arguments", read_arguments},
		{"rate", read_rate},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "audit", keys, target);
}

struct on_denial {
	uint64_t limit;
	uint32_t kill;
	bool limit_given, action_given;
};

static int read_limit(struct reader *r, const struct node *n, void *target)
{
	struct on_denial *o = target;

	o->limit_given = reader_number(r, n, "limit", UINT32_MAX, &o->limit);
	return 0;
}

static int read_action(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"none", 0}, {"kill", 1}, {NULL, 0}};
	struct on_denial *o = target;

	o->action_given = reader_word(r, n, "action", words, &o->kill);
	return 0;
}

int read_on_denial(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"limit", read_limit},
		{"action", read_action},
		{NULL, NULL},
	};
	struct on_denial o = {0};
	size_t errors = diagnostics_errors(r->diagnostics);
	int e = reader_mapping(r, n, "on_denial", keys, &o);

	(void)target;
	if (e < 0 || errors != diagnostics_errors(r->diagnostics))
		return e;
	if (o.kill && (!o.limit_given || o.limit == 0))
		report_error(r->diagnostics, &n->place, "add limit: 20",
			     "action kill needs a limit of at least 1");
	if (o.limit_given && !o.action_given)
		report_error(r->diagnostics, &n->place, "add action: kill",
			     "a limit needs an action");
	r->model->denial_limit = o.kill ? (uint32_t)o.limit : 0;
	return 0;
}

/* A person needs time to react, but the caller that waits for the program needs an end, too. */
#define ASK_MIN_NSEC NSEC_PER_SEC
#define ASK_MAX_NSEC (3600 * NSEC_PER_SEC)

int read_ask(struct reader *r, const struct node *n, void *target)
{
	uint64_t nsec = 0;
	size_t errors = diagnostics_errors(r->diagnostics);
	int e = read_quantity(r, n, "ask", DURATION_EXAMPLE, units_duration, &nsec);

	(void)target;
	if (e < 0 || errors != diagnostics_errors(r->diagnostics))
		return e;
	if (nsec != 0 && (nsec < ASK_MIN_NSEC || nsec > ASK_MAX_NSEC))
		report_error(r->diagnostics, &n->place, "write ask: 30s",
			     "ask must be between 1s and 1h, or none");
	r->model->ask_msec = (uint32_t)(nsec / NSEC_PER_MSEC);
	return 0;
}
