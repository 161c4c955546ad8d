/* SPDX-License-Identifier: Apache-2.0 */
/* Parses options with getopt_long(3), and describes errors. */
#include "base/next_option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

#define OPTIONS_MAX 64

static void unknown(const char *word, const struct option *options, struct failure *failure)
{
	size_t length = strcspn(word + 2, "="), count = 0, alike = 0;
	const char *names[OPTIONS_MAX], *first = NULL, *second = NULL, *near;
	char name[OPTIONS_MAX];

	for (; options[count].name && count < OPTIONS_MAX; count++) {
		names[count] = options[count].name;
		if (length == 0 || strncmp(names[count], word + 2, length) != 0)
			continue;
		alike++;
		second = first ? names[count] : NULL;
		first = first ? first : names[count];
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
	if (alike > 1) {
		failure_set(failure, EINVAL, "'--%s' can be '--%s' or '--%s'", name, first, second);
		return;
	}
	near = suggest(name, names, count);
	if (near)
		failure_set(failure, EINVAL, "'--%s' is not an option; did you mean '--%s'?", name,
			    near);
	else
		failure_set(failure, EINVAL, "'--%s' is not an option", name);
}

int next_option(int argc, char **argv, const char *letters, const struct option *options,
		struct failure *failure)
{
	bool in_order = letters[0] == '+', is_long;
	char quiet[OPTIONS_MAX];
	const char *word;
	int option;

	/* With the colon, getopt_long(3) prints nothing and distinguishes errors by its result. */
	snprintf(quiet, sizeof(quiet), "%s:%s", in_order ? "+" : "", letters + in_order);
	option = getopt_long(argc, argv, quiet, options, NULL);
	if (option != ':' && option != '?')
		return option;
	word = argv[optind - 1];
	is_long = strncmp(word, "--", 2) == 0;
	if (option == ':' && is_long)
		failure_set(failure, EINVAL, "'%s' needs a value", word);
	else if (option == ':')
		failure_set(failure, EINVAL, "'-%c' needs a value", optopt);
	else if (is_long && optopt == 0)
		unknown(word, options, failure);
	else if (is_long)
		failure_set(failure, EINVAL, "'%.*s' takes no value", (int)strcspn(word, "="),
			    word);
	else
		failure_set(failure, EINVAL, "'-%c' is not an option", optopt);
	return '?';
}
