/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the learned policy as a file, with the evidence in comments. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "audit/record/names.h"
#include "audit/text/text.h"
#include "insight/learn/learn_names.h"
#include "insight/learn/learn_write_parts.h"
#include "insight/recording/replay.h"
#include "policy/core/vector.h"
#include "policy/source/words.h"

#define RUNS_SHOWN	20u
#define VARIABLES_SHOWN 40u
#define LEFT_OUT_SHOWN	100u

/* --- texts ---------------------------------------------------------------------------------- */

/*
 * Other users may choose the names of processes and files: the name must not end the comment or
 * hide the text after it.
 */
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
void learn_put_scalar(FILE *out, const char *text)
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

void learn_put_evidence(const struct writer *w, const struct evidence *e)
{
	FILE *out = w->out;

	if (w->l->amended) {
		fputc('\n', out);
		return;
	}
	fprintf(out, "  # %llu access%s, first in record %llu, by ", (unsigned long long)e->count,
		e->count == 1 ? "" : "es", (unsigned long long)e->record);
	put_comment(out, e->program && *e->program ? e->program : "?");
	fputs(e->others ? " and others\n" : "\n", out);
}

void learn_put_rights(FILE *out, uint32_t rights)
{
	const char *separator = "";

	putc('[', out);
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		/* It has a separate key, see learn_write_names.c. */
		if (!(rights & CORDON_RIGHT(right)) || right == CORDON_LINKS)
			continue;
		fprintf(out, "%s%s", separator, question_right_name(right));
		separator = ", ";
	}
	putc(']', out);
}

/* --- network -------------------------------------------------------------------------------- */

static void put_address(const struct writer *w, const struct learn_address *a)
{
	FILE *out = w->out;
	unsigned int whole = a->family == 4 ? 32 : 128;
	char text[INET6_ADDRSTRLEN];

	inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->address, text, sizeof(text));
	fputs("  - {allow: ", out);
	learn_put_rights(out, a->rights);
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
	learn_put_evidence(w, &a->evidence);
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
		put_address(w, a);
	for (const struct learn_socket *s = w->l->sockets; s; s = s->next) {
		fputs("  - {allow: [socket]", w->out);
		put_word(w->out, "families", words_socket_families, s->family);
		put_word(w->out, "types", words_socket_types, s->type);
		put_word(w->out, "protocols", NULL, s->protocol);
		putc('}', w->out);
		learn_put_evidence(w, &s->evidence);
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
		learn_put_evidence(w, &s->evidence);
	}
	if (capabilities)
		fputs("  capabilities:\n", w->out);
	for (const struct learn_setting *s = w->l->settings; s; s = s->next) {
		if (s->kind != ACCESS_CAPABILITY)
			continue;
		fprintf(w->out, "    - %s", words_name(words_capabilities, (uint32_t)s->number));
		learn_put_evidence(w, &s->evidence);
	}
}

/* A power of two with a reserve, so that a limit is a round number. */
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
	fputs("\n# Four times the highest usage of the runs, rounded up:\n# limits: {", w->out);
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

/* The log does not contain which variables were read. */
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
				fputs("\n# Further variables of the runs, which policies do not keep "
				      "by default.\n"
				      "# The log does not show which of them were read:\n"
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
		"# Learnt from %zu execution%s with %zu distinct logged accesses. This policy allows\n"
		"# %zu of them: each was checked with it again.\n",
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
	learn_put_scalar(w->out, w->l->options->name);
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
		learn_put_evidence(w, &f->evidence);
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
			learn_put_rights(w->out, a->rights);
		else
			put_comment(w->out, name_of_operation(a->operation));
		putc(' ', w->out);
		put_comment(w->out, a->text);
		learn_put_evidence(w, &e);
	}
	if (shown > LEFT_OUT_SHOWN)
		fprintf(w->out, "#   and %zu more\n", shown - LEFT_OUT_SHOWN);
}

/* A file that amends the policy: without limits, variables and notes. */
static void put_amendment(struct writer *w)
{
	bool any = w->l->temporary;

	fputs("version: 1\namends: ", w->out);
	learn_put_scalar(w->out, w->l->options->amends);
	fputs("\n", w->out);
	for (const struct learn_fragment *f = w->l->fragments; f; f = f->next)
		any |= f->chosen;
	if (any)
		fputs("include:\n", w->out);
	if (w->l->temporary)
		fputs("  - runtime/temporary\n", w->out);
	for (const struct learn_fragment *f = w->l->fragments; f; f = f->next) {
		if (!f->chosen)
			continue;
		fprintf(w->out, "  - %s", f->name);
		learn_put_evidence(w, &f->evidence);
	}
	if (w->l->temporary)
		fputs("process: {temporary: own}\n", w->out);
	learn_put_names(w);
	put_network(w);
}

char *learn_write(const struct learning *l, const struct learned *counts)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	struct writer w = {.out = open_memstream(&text, &size), .l = l};

	if (!w.out)
		return NULL;
	if (l->amended) {
		put_amendment(&w);
		free(w.lines);
		return fclose(w.out) == 0 && !w.failed ? TAKE_PTR(text) : NULL;
	}
	put_head(&w, counts);
	put_includes(&w);
	put_variables(&w);
	learn_put_names(&w);
	put_network(&w);
	put_process(&w);
	put_limits(&w);
	put_environment(&w);
	put_left_out(
		&w, LEARN_CREDENTIAL,
		"\n# Left out by choice: usual places of credentials. With --include-credentials they are\n"
		"# learnt like anything else.\n");
	put_left_out(&w, LEARN_IMPOSSIBLE, "\n# Left out because no policy can allow them:\n");
	put_left_out(&w, LEARN_REFUSED, "\n# Left out because the runs were denied them:\n");
	free(w.lines);
	if (fclose(w.out) != 0 || w.failed)
		return NULL;
	return TAKE_PTR(text);
}
