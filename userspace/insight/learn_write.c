/* SPDX-License-Identifier: Apache-2.0 */
/* What was learnt, as a policy file with the evidence in comments. */
#include <arpa/inet.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <string.h>

#include "audit/names.h"
#include "audit/text.h"
#include "insight/learn_names.h"
#include "insight/learn_state.h"
#include "insight/replay.h"
#include "policy/vector.h"
#include "policy/words.h"

#define RUNS_SHOWN	20u
#define VARIABLES_SHOWN 40u
#define LEFT_OUT_SHOWN	100u

#define FILE_RIGHTS (CORDON_FILE_RIGHTS & ~CORDON_RIGHT(CORDON_METADATA))

/* One line of a rule. */
struct line {
	char *pattern;
	uint32_t rights;
	const struct evidence *evidence;
};

struct writer {
	FILE *out;
	const struct learning *l;
	struct line *lines;
	size_t count, capacity;
	bool failed;
};

/* --- texts ---------------------------------------------------------------------------------- */

/* Names of processes and files are others' choice: none ends the comment or hides what follows. */
static void put_comment(FILE *out, const char *text)
{
	for (size_t i = 0, n, size = strlen(text); i < size; i += n) {
		uint32_t character = text_character(text + i, size - i, &n);

		if (n && text_is_harmless(character)) {
			fwrite(text + i, 1, n, out);
		} else {
			putc('?', out);
			n = n ? n : 1;
		}
	}
}

/* A double-quoted scalar. */
static void put_scalar(FILE *out, const char *text)
{
	putc('"', out);
	for (size_t i = 0, n, size = strlen(text); i < size; i += n) {
		uint32_t character = text_character(text + i, size - i, &n);

		if (character == '"' || character == '\\')
			fprintf(out, "\\%c", (int)character);
		else if (n && text_is_harmless(character))
			fwrite(text + i, 1, n, out);
		else if (character < 0x100)
			fprintf(out, "\\x%02X", character);
		else if (character < 0x10000)
			fprintf(out, "\\u%04X", character);
		else
			fprintf(out, "\\U%08X", character);
		n = n ? n : 1;
	}
	putc('"', out);
}

static void put_evidence(FILE *out, const struct evidence *e)
{
	fprintf(out, "  # %llu access%s, first in record %llu, by ", (unsigned long long)e->count,
		e->count == 1 ? "" : "es", (unsigned long long)e->record);
	put_comment(out, e->program && *e->program ? e->program : "?");
	fputs(e->others ? " and others\n" : "\n", out);
}

static void put_rights(FILE *out, uint32_t rights)
{
	const char *separator = "";

	putc('[', out);
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		if (!(rights & CORDON_RIGHT(right)))
			continue;
		fprintf(out, "%s%s", separator, question_right_name(right));
		separator = ", ";
	}
	putc(']', out);
}

/* --- names ---------------------------------------------------------------------------------- */

static void add_line(struct writer *w, const char *prefix, const char *suffix, uint32_t rights,
		     const struct evidence *evidence)
{
	char *pattern = NULL;

	if (!rights || w->failed)
		return;
	if (asprintf(&pattern, "%s%s", prefix, suffix) < 0 ||
	    vector_reserve(&w->lines, &w->capacity, w->count + 1) < 0) {
		free(pattern);
		w->failed = true;
		return;
	}
	w->lines[w->count++] = (struct line){pattern, rights, evidence};
}

static void collect(struct writer *w, const struct learn_node *node, const char *path)
{
	bool root = !*path;

	add_line(w, root ? "/" : path, "", node->rights, &node->evidence);
	/* "/x" is also the listing of a directory of that name for whoever may read it. */
	if (node->listing && !(node->rights & CORDON_RIGHT(CORDON_READ)))
		add_line(w, path, "/", CORDON_RIGHT(CORDON_READ), &node->evidence);
	for (const struct learn_node *c = node->children; c; c = c->next) {
		_cleanup_(freep) char *below = NULL;

		if (asprintf(&below, "%s/%s", path, c->pattern) < 0)
			w->failed = true;
		else
			collect(w, c, below);
	}
}

static void collect_scope(struct writer *w, const struct learn_scope *s)
{
	_cleanup_(freep) char *variable = NULL;

	if (strcmp(s->variable, "@") == 0) {
		for (const struct learn_node *c = s->tree->children; c; c = c->next)
			add_line(w, c->pattern, "", c->rights, &c->evidence);
	} else if (!*s->variable) {
		collect(w, s->tree, "");
	} else if (asprintf(&variable, "${%s}", s->variable) < 0) {
		w->failed = true;
	} else {
		collect(w, s->tree, variable);
	}
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->pattern, y->pattern);
}

static void drop_lines(struct writer *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->lines[i].pattern);
	w->count = 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Does a pattern of the kind that is written here match the name? */
static bool pattern_matches(const char *pattern, const char *name)
{
	_cleanup_(freep) char *above = NULL;
	const char *slash = name;
	bool found = false;

	if (!ends_with(pattern, "/**"))
		return fnmatch(pattern, name, FNM_PATHNAME) == 0;
	above = strndup(pattern, strlen(pattern) - strlen("/**"));
	while (above && !found && (slash = strchr(slash + 1, '/'))) {
		_cleanup_(freep) char *head = strndup(name, (size_t)(slash - name));

		found = head && fnmatch(above, head, FNM_PATHNAME) == 0;
	}
	return found;
}

/* What a line says that one with wildcards says, too. */
static uint32_t covered_rights(const struct line *line, const struct line *by)
{
	_cleanup_(freep) char *name = NULL;
	char *to;

	if (!(line->rights & by->rights) || !learn_is_wild(by->pattern) ||
	    learn_is_wild(line->pattern))
		return 0;
	to = name = strdup(line->pattern);
	/* The name itself: no wildcard is left once its escapes are gone. */
	for (const char *from = line->pattern; name && *from; from++) {
		from += *from == '\\' && from[1];
		*to++ = *from;
	}
	if (!name)
		return 0;
	*to = '\0';
	if (!pattern_matches(by->pattern, name) && to > name + 1 && to[-1] == '/')
		to[-1] = '\0';
	return pattern_matches(by->pattern, name) ? line->rights & by->rights : 0;
}

static void drop_covered(struct writer *w)
{
	for (size_t i = 0; i < w->count; i++)
		for (size_t j = 0; j < w->count; j++)
			w->lines[i].rights &= ~covered_rights(&w->lines[i], &w->lines[j]);
}

/* A rule for each set of rights, of those in `section`. */
static void put_rules(struct writer *w, uint32_t section, const char *key)
{
	for (size_t i = 0; i < w->count; i++) {
		uint32_t rights = w->lines[i].rights & section;
		bool first = rights != 0;

		for (size_t j = 0; j < i && first; j++)
			first = (w->lines[j].rights & section) != rights;
		if (!first)
			continue;
		fputs("  - allow: ", w->out);
		put_rights(w->out, rights);
		fprintf(w->out, "\n    %s:\n", key);
		for (size_t j = i; j < w->count; j++) {
			if ((w->lines[j].rights & section) != rights)
				continue;
			fputs("      - ", w->out);
			put_scalar(w->out, w->lines[j].pattern);
			put_evidence(w->out, w->lines[j].evidence);
		}
	}
}

static bool has_rights(const struct writer *w, uint32_t section)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->lines[i].rights & section)
			return true;
	return false;
}

static void put_names(struct writer *w)
{
	for (const struct learn_scope *s = w->l->scopes; s; s = s->next)
		collect_scope(w, s);
	if (w->count)
		qsort(w->lines, w->count, sizeof(*w->lines), compare_lines);
	drop_covered(w);
	if (has_rights(w, FILE_RIGHTS)) {
		fputs("\nfiles:\n", w->out);
		put_rules(w, FILE_RIGHTS, "paths");
	}
	if (has_rights(w, CORDON_EXEC_RIGHTS)) {
		fputs("\nexec:\n", w->out);
		put_rules(w, CORDON_EXEC_RIGHTS, "paths");
	}
	if (has_rights(w, CORDON_UNIX_RIGHTS) || w->l->abstract->children)
		fputs("\nunix:\n", w->out);
	put_rules(w, CORDON_UNIX_RIGHTS, "paths");
	drop_lines(w);
	for (const struct learn_node *c = w->l->abstract->children; c; c = c->next)
		add_line(w, c->pattern, "", c->rights, &c->evidence);
	put_rules(w, CORDON_UNIX_RIGHTS, "abstract");
	drop_lines(w);
}

/* --- network -------------------------------------------------------------------------------- */

static void put_address(FILE *out, const struct learn_address *a)
{
	unsigned int whole = a->family == 4 ? 32 : 128;
	char text[INET6_ADDRSTRLEN];

	inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->address, text, sizeof(text));
	fputs("  - {allow: ", out);
	put_rights(out, a->rights);
	if (a->host)
		fprintf(out, ", to: [\"%s\"]", a->host);
	else if (a->prefix == whole)
		fprintf(out, ", to: [\"%s\"]", text);
	else
		fprintf(out, ", to: [\"%s/%u\"]", text, a->prefix);
	if (a->protocol != IPPROTO_ICMP && a->low == a->high)
		fprintf(out, ", ports: [%u]", a->low);
	else if (a->protocol != IPPROTO_ICMP)
		fprintf(out, ", ports: [%u-%u]", a->low, a->high);
	fprintf(out, ", protocols: [%s]}", words_name(words_net_protocols, a->protocol));
	put_evidence(out, &a->evidence);
}

static void put_word(FILE *out, const char *key, const struct word *words, uint32_t number)
{
	const char *name = words ? words_name(words, number) : NULL;

	if (name)
		fprintf(out, ", %s: [%s]", key, name);
	else
		fprintf(out, ", %s: [%u]", key, number);
}

static void put_network(struct writer *w)
{
	if (w->l->addresses || w->l->sockets)
		fputs("\nnetwork:\n", w->out);
	for (const struct learn_address *a = w->l->addresses; a; a = a->next)
		put_address(w->out, a);
	for (const struct learn_socket *s = w->l->sockets; s; s = s->next) {
		fputs("  - {allow: [socket]", w->out);
		put_word(w->out, "families", words_socket_families, s->family);
		put_word(w->out, "types", words_socket_types, s->type);
		put_word(w->out, "protocols", NULL, s->protocol);
		putc('}', w->out);
		put_evidence(w->out, &s->evidence);
	}
}

/* --- settings ------------------------------------------------------------------------------- */

static void put_process(struct writer *w)
{
	bool capabilities = false;

	if (!w->l->settings)
		return;
	fputs("\nprocess:\n", w->out);
	for (const struct learn_setting *s = w->l->settings; s; s = s->next) {
		if (s->kind == ACCESS_CAPABILITY) {
			capabilities = true;
			continue;
		}
		fputs(s->kind == ACCESS_SIGNAL	? "  signal: any"
		      : s->kind == ACCESS_TRACE ? "  trace: own"
						: "  namespaces: allow",
		      w->out);
		put_evidence(w->out, &s->evidence);
	}
	if (capabilities)
		fputs("  capabilities:\n", w->out);
	for (const struct learn_setting *s = w->l->settings; s; s = s->next) {
		if (s->kind != ACCESS_CAPABILITY)
			continue;
		fprintf(w->out, "    - %s", words_name(words_capabilities, (uint32_t)s->number));
		put_evidence(w->out, &s->evidence);
	}
}

/* The next power of two, so that a limit is a round number with room. */
static uint64_t roomy(uint64_t used, uint64_t least)
{
	uint64_t limit = least;

	while (limit < used * 4 && limit < UINT64_MAX / 2)
		limit *= 2;
	return limit;
}

static void put_limits(struct writer *w)
{
	uint64_t nsec = 0, memory = 0, pids = 0;

	for (size_t i = 0; i < w->l->run_count; i++) {
		const struct recorded_run *run = &w->l->runs[i];

		nsec = run->duration_nsec > nsec ? run->duration_nsec : nsec;
		memory = run->memory_peak_bytes > memory ? run->memory_peak_bytes : memory;
		pids = run->pids_peak > pids ? run->pids_peak : pids;
	}
	if (!nsec)
		return;
	fputs("\n# Four times what the runs used, rounded up:\n# limits: {", w->out);
	fprintf(w->out, "wall: %llus", (unsigned long long)roomy(nsec / 1000000000u, 4));
	if (memory)
		fprintf(w->out, ", memory: %lluM", (unsigned long long)roomy(memory >> 20, 16));
	if (pids)
		fprintf(w->out, ", pids: %llu", (unsigned long long)roomy(pids, 16));
	fputs("}\n", w->out);
}

static bool is_kept_anyway(const char *name)
{
	static const char *const names[] = {"PATH", "HOME", "LANG",   "TERM",
					    "TZ",   "USER", "LOGNAME"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strncmp(name, "LC_", 3) == 0;
}

/* Which variables were read is on no record. */
static void put_environment(struct writer *w)
{
	_cleanup_(freep) char *key = NULL;
	json_t *seen = json_object();
	const json_t *name;
	size_t i, shown = 0;

	for (size_t run = 0; seen && run < w->l->run_count; run++)
		json_array_foreach(w->l->runs[run].kept, i, name) {
			const char *text = json_string_value(name);

			if (!text || is_kept_anyway(text) || json_object_get(seen, text))
				continue;
			json_object_set_new(seen, text, json_true());
			if (shown == 0)
				fputs("\n# Variables that the runs had besides those that policies keep "
				      "unless told.\n# Which of them they read is on no record:\n"
				      "#  ",
				      w->out);
			if (++shown > VARIABLES_SHOWN)
				continue;
			putc(' ', w->out);
			put_comment(w->out, text);
		}
	if (shown > VARIABLES_SHOWN)
		fprintf(w->out, " and %zu more", shown - VARIABLES_SHOWN);
	if (shown)
		putc('\n', w->out);
	json_decref(seen);
}

/* --- comments about the whole --------------------------------------------------------------- */

static void put_head(struct writer *w, const struct learned *counts)
{
	fprintf(w->out,
		"# Learnt from %zu execution%s with %zu distinct accesses on record, of which this policy\n"
		"# allows %zu: each was asked of it again.\n",
		w->l->run_count, w->l->run_count == 1 ? "" : "s", counts->accesses,
		counts->allowed);
	for (size_t i = 0; i < w->l->run_count && i < RUNS_SHOWN; i++) {
		const struct recorded_run *run = &w->l->runs[i];

		fprintf(w->out, "#   %s  ", run->id);
		put_comment(w->out, run->program);
		fputs(" under ", w->out);
		put_comment(w->out, run->policy);
		fprintf(w->out, ", records %llu to %llu\n", (unsigned long long)run->first,
			(unsigned long long)run->last);
	}
	if (w->l->run_count > RUNS_SHOWN)
		fprintf(w->out, "#   and %zu more\n", w->l->run_count - RUNS_SHOWN);
	for (const char *line = counts->cautions; *line;) {
		size_t n = strcspn(line, "\n");

		fprintf(w->out, "# Caution: %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	fputs("version: 1\nname: ", w->out);
	put_scalar(w->out, w->l->options->name);
	fputs("\nmode: enforce\n", w->out);
}

static void put_includes(struct writer *w)
{
	bool any = !w->l->options->include_credentials;

	for (const struct learn_fragment *f = w->l->fragments; f; f = f->next)
		any |= f->chosen;
	if (any)
		fputs("include:\n", w->out);
	for (const struct learn_fragment *f = w->l->fragments; f; f = f->next) {
		if (!f->chosen || strcmp(f->name, LEARN_CREDENTIALS) == 0)
			continue;
		fprintf(w->out, "  - %s", f->name);
		put_evidence(w->out, &f->evidence);
	}
	if (!w->l->options->include_credentials)
		fputs("  - " LEARN_CREDENTIALS "  # only denies\n", w->out);
}

static void put_variables(struct writer *w)
{
	const char *separator = "variables: [";
	bool any = false;

	for (const struct learn_scope *s = w->l->scopes; s; s = s->next) {
		if (!*s->variable || *s->variable == '@' || strcmp(s->variable, "workdir") == 0 ||
		    strcmp(s->variable, "tmp") == 0 || strcmp(s->variable, "home") == 0)
			continue;
		fputs(separator, w->out);
		put_comment(w->out, s->variable);
		separator = ", ";
		any = true;
	}
	if (any)
		fputs("]\n", w->out);
}

static void put_left_out(struct writer *w, enum learn_fate fate, const char *head)
{
	size_t shown = 0;

	for (size_t i = 0; i < w->l->access_count; i++) {
		const struct recorded_access *a = &w->l->accesses[i];
		struct evidence e = learn_evidence(a);

		if (w->l->fates[i] != fate)
			continue;
		if (shown++ == 0)
			fputs(head, w->out);
		if (shown > LEFT_OUT_SHOWN)
			continue;
		fputs("#   ", w->out);
		if (a->rights)
			put_rights(w->out, a->rights);
		else
			put_comment(w->out, name_of_operation(a->operation));
		putc(' ', w->out);
		put_comment(w->out, a->text);
		put_evidence(w->out, &e);
	}
	if (shown > LEFT_OUT_SHOWN)
		fprintf(w->out, "#   and %zu more\n", shown - LEFT_OUT_SHOWN);
}

char *learn_write(const struct learning *l, const struct learned *counts)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	struct writer w = {.out = open_memstream(&text, &size), .l = l};

	if (!w.out)
		return NULL;
	put_head(&w, counts);
	put_includes(&w);
	put_variables(&w);
	put_names(&w);
	put_network(&w);
	put_process(&w);
	put_limits(&w);
	put_environment(&w);
	put_left_out(
		&w, LEARN_CREDENTIAL,
		"\n# Left out by choice: where credentials usually lie. With --include-credentials they are\n"
		"# learnt like anything else.\n");
	put_left_out(&w, LEARN_IMPOSSIBLE, "\n# Left out because no policy can allow them:\n");
	put_left_out(&w, LEARN_REFUSED, "\n# Left out because the runs were refused them:\n");
	free(w.lines);
	if (fclose(w.out) != 0 || w.failed)
		return NULL;
	return TAKE_PTR(text);
}
