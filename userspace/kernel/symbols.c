/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the addresses of kernel variables, and checks that they are not hidden as zeros. */
#include "kernel/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Calls `look` for each line, "ADDRESS TYPE NAME", until it returns false. */
static int each_symbol(const char *path,
		       bool (*look)(unsigned long long address, const char *name, void *context),
		       void *context, struct failure *failure)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (!file)
		return failure_set(failure, errno, "cannot read %s: %m", path);
	while ((length = getline(&line, &size, file)) > 0) {
		char *end;
		unsigned long long address = strtoull(line, &end, 16);

		if (end == line || end[0] != ' ' || end[1] == '\0' || end[2] != ' ')
			continue;
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!look(address, end + 3, context))
			break;
	}
	return 0;
}

static int hidden(struct failure *failure)
{
	return failure_set(failure, EPERM,
			   "the kernel does not tell the addresses of its variables, which "
			   "programs read: set kernel.kptr_restrict to 1 or 0");
}

/* Per-CPU variables come first in the list, and the first of them is at address 0. */
static bool is_zero(unsigned long long address, const char *name, void *context)
{
	bool *shown = context;

	(void)name;
	*shown = address != 0;
	return !*shown;
}

int symbols_check(const char *path, struct failure *failure)
{
	bool shown = false;
	int r = each_symbol(path, is_zero, &shown, failure);

	return r < 0 || shown ? r : hidden(failure);
}

struct search {
	struct symbol *symbols;
	size_t count;
	size_t found;
};

static bool note_address(unsigned long long address, const char *name, void *context)
{
	struct search *search = context;

	for (size_t i = 0; i < search->count; i++) {
		struct symbol *symbol = &search->symbols[i];

		if (symbol->found || strcmp(symbol->name, name) != 0)
			continue;
		symbol->found = true;
		symbol->address = address;
		search->found++;
	}
	return search->found < search->count;
}

int symbols_find(const char *path, struct symbol *symbols, size_t count, struct failure *failure)
{
	struct search search = {.symbols = symbols, .count = count};
	int r;

	for (size_t i = 0; i < count; i++)
		symbols[i].found = false;
	r = each_symbol(path, note_address, &search, failure);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		if (!symbols[i].found)
			return failure_set(failure, ENOENT, "the kernel has no variable %s",
					   symbols[i].name);
		if (symbols[i].address == 0)
			return hidden(failure);
	}
	return 0;
}
