/* SPDX-License-Identifier: Apache-2.0 */
/* Formats rules in one line, as they appear in denials: "allow read, write /tmp/x". */
#include "policy/automaton/describe.h"

#include <string.h>

#include "policy/source/units.h"
#include "policy/source/words.h"

static void put_rights(FILE *out, const struct rule *rule)
{
	const struct word *table = words_rights(rule->kind);
	uint32_t rights = rule->rights & ~CORDON_RIGHT(CORDON_LINKS);
	const char *separator = " ";

	fputs(rule->deny ? "deny" : "allow", out);
	/* A rule with every right is shown as "all", to keep the line short. */
	for (const struct word *w = table; w->text; w++)
		if (strcmp(w->text, "all") == 0 && rights == w->value) {
			fputs(" all", out);
			return;
		}
	for (const struct word *w = table; w->text; w++) {
		if (strcmp(w->text, "all") == 0 || !(rights & w->value))
			continue;
		fprintf(out, "%s%s", separator, w->text);
		separator = ", ";
	}
}

static void put_names(FILE *out, const struct rule *rule)
{
	for (size_t i = 0; i < rule->name_count; i++)
		fprintf(out, "%s%s%s", i ? ", " : " ", rule->names[i].abstract ? "abstract " : "",
			rule->names[i].text);
	if (rule->rights & CORDON_RIGHT(CORDON_LINKS) && !rule->except)
		fputs(" with shared links", out);
}

static void put_numbers(FILE *out, const char *what, const struct word *table,
			const uint16_t *numbers, size_t count)
{
	if (count)
		fprintf(out, " %s", what);
	for (size_t i = 0; i < count; i++) {
		const char *name = words_name(table, numbers[i]);

		fputs(i ? "," : " ", out);
		if (name)
			fputs(name, out);
		else
			fprintf(out, "%u", numbers[i]);
	}
}

static void put_network(FILE *out, const struct rule *rule)
{
	char text[UNITS_BLOCK_TEXT];

	put_numbers(out, "over", words_net_protocols, rule->protocols, rule->protocol_count);
	fputs(rule->block_count || rule->host_count ? " to" : " to any", out);
	for (size_t i = 0; i < rule->block_count; i++) {
		units_block_format(&rule->blocks[i], text);
		fprintf(out, "%s%s", i ? ", " : " ", text);
	}
	for (size_t i = 0; i < rule->host_count; i++)
		fprintf(out, "%s%s", i || rule->block_count ? ", " : " ", rule->hosts[i]);
	if (rule->port_count)
		fputs(" ports", out);
	for (size_t i = 0; i < rule->port_count; i++) {
		const struct number_range *p = &rule->ports[i];

		fprintf(out, "%s%u", i ? "," : " ", p->low);
		if (p->high != p->low)
			fprintf(out, "-%u", p->high);
	}
}

char *describe_rule(const struct rule *rule)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (rule->except)
		fputs("except", out);
	else
		put_rights(out, rule);
	switch (rule->kind) {
	case RULE_FILES:
	case RULE_EXEC:
	case RULE_UNIX:
		put_names(out, rule);
		if (rule->except)
			fprintf(out, " from %s", rule->except_from);
		break;
	case RULE_NETWORK:
		put_network(out, rule);
		break;
	case RULE_SOCKET:
		put_numbers(out, "families", words_socket_families, rule->families,
			    rule->family_count);
		put_numbers(out, "types", words_socket_types, rule->types, rule->type_count);
		put_numbers(out, "protocols", words_socket_protocols, rule->protocols,
			    rule->protocol_count);
		break;
	}
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}
