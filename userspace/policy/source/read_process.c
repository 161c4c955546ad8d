/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the section process, and coverage. */
#include <string.h>

#include "policy/source/read_rules.h"
#include "policy/source/units.h"

static void set_flag(struct model *m, uint32_t flag, bool on)
{
	m->flags = on ? m->flags | flag : m->flags & ~flag;
}

/* Reads one of two words; the word's value is the value of the flag. */
static void read_flag(struct reader *r, const struct node *n, const char *what,
		      const struct word *words, uint32_t flag)
{
	uint32_t value;

	if (reader_word(r, n, what, words, &value))
		set_flag(r->model, flag, value);
}

static int read_signal(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"execution", 0}, {"any", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "signal scope", words, CORDON_POLICY_SIGNAL_ANY);
	return 0;
}

static int read_trace(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"none", 0}, {"own", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "trace scope", words, CORDON_POLICY_TRACE_OWN);
	return 0;
}

static int read_namespaces(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"deny", 0},
		{"allow", CORDON_POLICY_NAMESPACES},
		{"own", CORDON_POLICY_NAMESPACES | CORDON_POLICY_OWN_NAMESPACES},
		{NULL, 0},
	};
	uint32_t flags;

	(void)target;
	if (!reader_word(r, n, "value for namespaces", words, &flags))
		return 0;
	set_flag(r->model, CORDON_POLICY_NAMESPACES | CORDON_POLICY_OWN_NAMESPACES, false);
	set_flag(r->model, flags, true);
	return 0;
}

static int read_system_calls(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"strict", CORDON_POLICY_STRICT_CALLS},
		{"restricted", 0},
		{"all", CORDON_POLICY_ALL_SYSTEM_CALLS},
		{NULL, 0},
	};
	uint32_t flag;

	(void)target;
	if (!reader_word(r, n, "value for system_calls", words, &flag))
		return 0;
	set_flag(r->model, CORDON_POLICY_STRICT_CALLS | CORDON_POLICY_ALL_SYSTEM_CALLS, false);
	set_flag(r->model, flag, true);
	return 0;
}

static int read_io_uring(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"deny", 0}, {"allow", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "value for io_uring", words, CORDON_POLICY_IO_URING);
	return 0;
}

static int read_metadata(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"allow", 0}, {"deny", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "value for metadata", words, CORDON_POLICY_METADATA);
	return 0;
}

static int read_temporary(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"deny", 0}, {"own", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "value for temporary", words, CORDON_POLICY_OWN_TEMPORARY);
	return 0;
}

/* Adds the rule for /dev/ptmx. The terminals are known by their maker, and have no rule. */
static int add_multiplexer(struct reader *r, const struct node *n)
{
	static const char *const paths[] = {"/dev/ptmx", "/dev/pts/ptmx"};
	struct rule *rule = arena_alloc(r->arena, sizeof(*rule));
	struct rule_name *names =
		arena_alloc(r->arena, sizeof(paths) / sizeof(*paths) * sizeof(*names));

	if (!rule || !names)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		names[i] = (struct rule_name){
			.text = paths[i], .size = strlen(paths[i]), .place = n->place};
	*rule = (struct rule){
		.kind = RULE_FILES,
		.rights = CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE),
		.has_rights = true,
		.place = n->place,
		.names = names,
		.name_count = sizeof(paths) / sizeof(*paths),
	};
	return add_rule(r, rule);
}

static int read_terminals(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"deny", 0}, {"own", 1}, {NULL, 0}};
	uint32_t own;

	(void)target;
	if (!reader_word(r, n, "value for terminals", words, &own))
		return 0;
	set_flag(r->model, CORDON_POLICY_OWN_TERMINALS, own);
	return own ? add_multiplexer(r, n) : 0;
}

static int read_special(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"allow", 0}, {"deny", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "value for special", words, CORDON_POLICY_SPECIAL);
	return 0;
}

static int read_code(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"recorded", 0}, {"pinned", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "value for code", words, CORDON_POLICY_PINNED);
	return 0;
}

static int read_descriptors(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"close", CORDON_DESCRIPTORS_CLOSE},
		{"deny", CORDON_DESCRIPTORS_DENY},
		{"record", CORDON_DESCRIPTORS_RECORD},
		{NULL, 0},
	};
	uint32_t value;

	(void)target;
	if (!reader_word(r, n, "value for descriptors", words, &value))
		return 0;
	set_flag(r->model, CORDON_POLICY_DESCRIPTORS_MASK, false);
	set_flag(r->model, value << CORDON_POLICY_DESCRIPTORS_SHIFT, true);
	return 0;
}

static void add_capability(struct reader *r, const struct node *n)
{
	char name[32] = "";
	const struct word *w;
	const char *text = n->text;

	if (n->type != NODE_SCALAR || node_is_null(n)) {
		report_error(r->diagnostics, &n->place, "write capabilities: [net_bind_service]",
			     "a capability must be a word, not %s", node_describe(n));
		return;
	}
	if (strncasecmp(text, "cap_", 4) == 0)
		text += 4;
	for (size_t i = 0; text[i] && i < sizeof(name) - 1; i++)
		name[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
	w = words_find(words_capabilities, name);
	if (!w || strlen(text) >= sizeof(name)) {
		report_error(r->diagnostics, &n->place,
			     reader_word_hint(r, words_capabilities, name),
			     "unknown capability \"%s\"", n->text);
		return;
	}
	r->model->capabilities |= 1ull << w->value;
}

static int read_capabilities(struct reader *r, const struct node *n, void *target)
{
	(void)target;
	if (n->type == NODE_SCALAR && strcmp(n->text, "all") == 0) {
		for (const struct word *w = words_capabilities; w->text; w++)
			r->model->capabilities |= 1ull << w->value;
		return 0;
	}
	if (!reader_expect(r, n, NODE_SEQUENCE, "a list of capabilities or \"all\"",
			   "write capabilities: [] or capabilities: [net_bind_service]"))
		return 0;
	for (size_t i = 0; i < n->count; i++)
		add_capability(r, n->items[i]);
	return 0;
}

int read_process(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"signal", read_signal},
		{"trace", read_trace},
		{"capabilities", read_capabilities},
		{"namespaces", read_namespaces},
		{"system_calls", read_system_calls},
		{"io_uring", read_io_uring},
		{"metadata", read_metadata},
		{"descriptors", read_descriptors},
		{"code", read_code},
		{"special", read_special},
		{"temporary", read_temporary},
		{"terminals", read_terminals},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "process", keys, target);
}

/* The capabilities that a host must have before the policy can be launched. */
int read_coverage(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"available", 0}, {"full", 1}, {NULL, 0}};

	(void)target;
	read_flag(r, n, "coverage", words, CORDON_POLICY_FULL_COVERAGE);
	return 0;
}
