/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the arguments of a command that carry code, and replaces them by digests. */
#include "audit/record/arguments.h"

#include <string.h>
#include <strings.h>

#include "audit/record/interpreter.h"
#include "base/cleanup.h"
#include "base/sha256.h"

/* One run over the arguments of one interpreter, argv[0] included. */
struct scan {
	size_t argc;
	const char *const *argv;
	size_t base; /* index of this argv[0] in the whole command */
	struct arguments_code code;
	void (*visit)(void *data, size_t index, const char *text); /* or NULL: each piece of code */
	void *data;
};

static void found_code(struct scan *scan, size_t index, size_t offset)
{
	if (index >= scan->argc)
		return;
	if (scan->code.kind != ARGUMENTS_CODE_ARGUMENT) {
		scan->code.kind = ARGUMENTS_CODE_ARGUMENT;
		scan->code.index = scan->base + index;
		scan->code.offset = offset;
	}
	if (scan->visit)
		scan->visit(scan->data, scan->base + index, scan->argv[index] + offset);
}

/* A script's name counts unless code was found before it: then it is an argument of that code. */
static void found_file(struct scan *scan, size_t index, size_t offset)
{
	if (index >= scan->argc || scan->code.kind != ARGUMENTS_CODE_NONE)
		return;
	if (strcmp(scan->argv[index] + offset, "-") == 0) {
		scan->code.kind = ARGUMENTS_CODE_STDIN;
		return;
	}
	scan->code.kind = ARGUMENTS_CODE_FILE;
	scan->code.index = scan->base + index;
	scan->code.offset = offset;
}

static bool has(const char *letters, char letter)
{
	return letters && letter && strchr(letters, letter);
}

/* Is `name` (up to '=' or its end) in the list? */
static bool list_has(const char *const *list, const char *name)
{
	size_t length = strcspn(name, "=");

	for (; list && *list; list++)
		if (strlen(*list) == length && strncmp(*list, name, length) == 0)
			return true;
	return false;
}

/* A module given as data: URL is code (node --import data:text/javascript,...). */
static void found_value(struct scan *scan, size_t index, size_t offset)
{
	if (index < scan->argc && strncasecmp(scan->argv[index] + offset, "data:", 5) == 0)
		found_code(scan, index, offset);
}

enum outcome {
	OUTCOME_NEXT, /* go on behind what was consumed */
	OUTCOME_END,  /* the rest is not the interpreter's */
	OUTCOME_NONE, /* the interpreter runs no code of the caller's */
};

static enum outcome long_option(struct scan *scan, const struct interpreter *in, size_t *index)
{
	const char *name = scan->argv[*index] + 2;
	const char *equals = strchr(name, '=');
	size_t at = *index, offset = 0;
	bool code = list_has(in->long_code, name), file = list_has(in->long_file, name);

	if (list_has(in->long_none, name))
		return OUTCOME_NONE;
	if (!code && !file && !list_has(in->long_value, name))
		return OUTCOME_NEXT;
	if (equals)
		offset = (size_t)(equals + 1 - scan->argv[at]);
	else
		at = ++*index;
	if (code)
		found_code(scan, at, offset);
	else if (file)
		found_file(scan, at, offset);
	else
		found_value(scan, at, offset);
	return code && in->code_ends_options ? OUTCOME_END : OUTCOME_NEXT;
}

static enum outcome short_options(struct scan *scan, const struct interpreter *in, size_t *index)
{
	const char *argument = scan->argv[*index];

	for (size_t i = 1; argument[i]; i++) {
		char letter = argument[i];
		bool last = argument[i + 1] == '\0';
		size_t at = *index, offset = i + 1;

		if (has(in->rest, letter))
			return OUTCOME_NEXT;
		if (has(in->none, letter))
			return OUTCOME_NONE;
		if (has(in->optional, letter)) {
			if (!last || at + 1 >= scan->argc || scan->argv[at + 1][0] == '-')
				continue;
			found_code(scan, ++*index, 0);
			return OUTCOME_NEXT;
		}
		if (!has(in->code, letter) && !has(in->value, letter) && !has(in->file, letter))
			continue;
		if (last) {
			at = ++*index;
			offset = 0;
		}
		if (has(in->file, letter)) {
			found_file(scan, at, offset);
		} else if (has(in->value, letter)) {
			found_value(scan, at, offset);
		} else {
			found_code(scan, at, offset);
			if (in->code_ends_options)
				return OUTCOME_END;
		}
		return OUTCOME_NEXT;
	}
	return OUTCOME_NEXT;
}

static void operand(struct scan *scan, const struct interpreter *in, size_t index)
{
	bool eval = false;

	/* deno eval [OPTION...] CODE, deno run [OPTION...] FILE */
	if (index < scan->argc && in->eval_word)
		eval = strcmp(scan->argv[index], in->eval_word) == 0;
	if (eval ||
	    (index < scan->argc && in->run_word && strcmp(scan->argv[index], in->run_word) == 0)) {
		index++;
		while (index < scan->argc && scan->argv[index][0] == '-' && scan->argv[index][1])
			index++;
	}
	if (scan->code.kind != ARGUMENTS_CODE_NONE)
		return;
	if (eval || in->operand_is_code)
		found_code(scan, index, 0);
	else if (index < scan->argc)
		found_file(scan, index, 0);
	else
		scan->code.kind = ARGUMENTS_CODE_STDIN;
}

static void scan_getopt(struct scan *scan, const struct interpreter *in)
{
	size_t i = 1;

	for (; i < scan->argc; i++) {
		const char *argument = scan->argv[i];
		enum outcome outcome;

		if (argument[0] != '-' || argument[1] == '\0')
			break;
		if (strcmp(argument, "--") == 0) {
			i++;
			break;
		}
		outcome = argument[1] == '-' ? long_option(scan, in, &i)
					     : short_options(scan, in, &i);
		if (outcome != OUTCOME_NEXT)
			return;
	}
	operand(scan, in, i);
}

/*
 * Shells collect flags from all options, then take the first operand as code (-c) or script.
 * Each o and O in a cluster takes one further argument.
 */
static void scan_shell(struct scan *scan, const struct interpreter *in)
{
	bool code = false, standard_input = false;
	size_t i = 1;

	while (i < scan->argc) {
		const char *argument = scan->argv[i];

		if ((argument[0] != '-' && argument[0] != '+') || argument[1] == '\0') {
			/* A lone "-" ends the options, as "--" does. */
			if (strcmp(argument, "-") == 0)
				i++;
			break;
		}
		i++;
		if (strcmp(argument, "--") == 0)
			break;
		if (argument[0] == '-' && argument[1] == '-') {
			if (list_has(in->long_none, argument + 2))
				return;
			if (list_has(in->long_value, argument + 2))
				i++;
			continue;
		}
		for (const char *letter = argument + 1; *letter; letter++) {
			code |= argument[0] == '-' && has(in->code, *letter);
			standard_input |= argument[0] == '-' && *letter == 's';
			if (has(in->value, *letter) && i < scan->argc)
				i++;
		}
	}
	if (code)
		found_code(scan, i, 0);
	else if (standard_input || i >= scan->argc)
		scan->code.kind = ARGUMENTS_CODE_STDIN;
	else
		found_file(scan, i, 0);
}

/* Is `name` an abbreviation of `full` of at least `least` letters, or the alias? */
static bool abbreviates(const char *name, const char *full, size_t least, const char *alias)
{
	size_t length = strlen(name);

	if (alias && strcasecmp(name, alias) == 0)
		return true;
	return length >= least && length <= strlen(full) && strncasecmp(name, full, length) == 0;
}

static void scan_powershell(struct scan *scan)
{
	static const struct {
		const char *full;
		size_t least;
		const char *alias;
	} values[] = {
		{"configurationfile", 8, NULL}, {"configurationname", 3, NULL},
		{"custompipename", 3, NULL},	{"executionpolicy", 2, "ep"},
		{"inputformat", 2, "if"},	{"outputformat", 1, "of"},
		{"settingsfile", 7, NULL},	{"windowstyle", 1, NULL},
		{"workingdirectory", 2, "wd"},
	};

	for (size_t i = 1; i < scan->argc; i++) {
		const char *name = scan->argv[i];

		if (name[0] != '-' || name[1] == '\0') {
			found_file(scan, i, 0);
			return;
		}
		name += name[1] == '-' ? 2 : 1;
		if (abbreviates(name, "version", 1, NULL) || abbreviates(name, "help", 1, "?"))
			return;
		if (abbreviates(name, "file", 1, NULL)) {
			found_file(scan, i + 1, 0);
			return;
		}
		if (abbreviates(name, "encodedcommand", 1, "ec")) {
			found_code(scan, i + 1, 0);
			return;
		}
		if (abbreviates(name, "command", 1, NULL) ||
		    abbreviates(name, "commandwithargs", 8, "cwa")) {
			if (i + 1 < scan->argc && strcmp(scan->argv[i + 1], "-") == 0) {
				scan->code.kind = ARGUMENTS_CODE_STDIN;
				return;
			}
			/* All that follows is joined and run. */
			while (++i < scan->argc)
				found_code(scan, i, 0);
			return;
		}
		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			if (abbreviates(name, values[v].full, values[v].least, values[v].alias)) {
				i++;
				break;
			}
		}
	}
	scan->code.kind = ARGUMENTS_CODE_STDIN;
}

/* Where the wrapped program stands, or argc. Code in the wrapper's own options is reported. */
static size_t skip_wrapper(struct scan *scan, const struct wrapper *wrapper)
{
	size_t operands = wrapper->operands;

	for (size_t i = 1; i < scan->argc; i++) {
		const char *argument = scan->argv[i];

		if (strcmp(argument, "--") == 0)
			continue;
		if (wrapper->code && strncmp(argument, "--split-string", 14) == 0) {
			const char *equals = strchr(argument, '=');

			found_code(scan, equals ? i : i + 1,
				   equals ? (size_t)(equals + 1 - argument) : 0);
			return scan->argc;
		}
		if (argument[0] == '-') {
			for (size_t k = 1; argument[1] != '-' && argument[k]; k++) {
				bool last = argument[k + 1] == '\0';

				if (has(wrapper->code, argument[k])) {
					found_code(scan, last ? i + 1 : i, last ? 0 : k + 1);
					return scan->argc;
				}
				if (has(wrapper->value, argument[k])) {
					i += last;
					break;
				}
			}
			continue;
		}
		if (wrapper->assignments && strchr(argument, '='))
			continue;
		if (operands == 0)
			return i;
		operands--;
	}
	return scan->argc;
}

static void scan_command(struct scan *scan)
{
	while (scan->argc > 0) {
		const struct interpreter *in = interpreter_find(scan->argv[0]);
		const struct wrapper *wrapper = wrapper_find(scan->argv[0]);
		size_t skip;

		if (in) {
			scan->code.language = in->language;
			if (in->syntax == SYNTAX_SHELL)
				scan_shell(scan, in);
			else if (in->syntax == SYNTAX_POWERSHELL)
				scan_powershell(scan);
			else
				scan_getopt(scan, in);
			return;
		}
		if (!wrapper)
			return;
		skip = skip_wrapper(scan, wrapper);
		scan->argc -= skip;
		scan->argv += skip;
		scan->base += skip;
	}
}

int arguments_find_code(size_t argc, const char *const *argv, struct arguments_code *ret)
{
	struct scan scan = {.argc = argc, .argv = argv};

	if (argc == 0)
		return -EINVAL;
	scan_command(&scan);
	*ret = scan.code;
	return 0;
}

struct hashing {
	struct sha256 *hash;
	uint64_t length;
	bool any;
	int error;
};

static void hash_piece(void *data, size_t index, const char *text)
{
	struct hashing *hashing = data;
	size_t length = strlen(text);

	(void)index;
	if (hashing->error < 0)
		return;
	if (hashing->any) {
		hashing->error = sha256_update(hashing->hash, "\n", 1);
		hashing->length++;
	}
	hashing->any = true;
	if (hashing->error == 0)
		hashing->error = sha256_update(hashing->hash, text, length);
	hashing->length += length;
}

int arguments_hash_code(size_t argc, const char *const *argv, unsigned char ret_digest[32],
			uint64_t *ret_length)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	struct hashing hashing = {.hash = hash};
	struct scan scan = {.argc = argc, .argv = argv, .visit = hash_piece, .data = &hashing};
	int r;

	if (argc == 0)
		return -EINVAL;
	if (!hash)
		return -ENOMEM;
	scan_command(&scan);
	if (hashing.error < 0)
		return hashing.error;
	if (!hashing.any)
		return -ENODATA;
	r = sha256_finish(hash, ret_digest);
	if (r < 0)
		return r;
	*ret_length = hashing.length;
	return 0;
}

static void mark_piece(void *data, size_t index, const char *text)
{
	bool *carries = data;

	(void)text;
	carries[index] = true;
}

/*
 * Each may look at all that follows it: so many of them do, and what comes after is taken to carry
 * code.
 */
#define INTERPRETERS_MAX 16

void arguments_mark_code(size_t argc, const char *const *argv, bool *carries)
{
	unsigned int interpreters = 0;

	for (size_t i = 0; i < argc; i++)
		carries[i] = strchr(argv[i], '\n') != NULL;
	for (size_t i = 0; i < argc; i++) {
		struct scan scan = {
			.argc = argc - i,
			.argv = argv + i,
			.base = i,
			.visit = mark_piece,
			.data = carries,
		};

		/* A wrapper's name may be any word: only in front it is taken for one. */
		if (i > 0 && !interpreter_find(argv[i]))
			continue;
		if (interpreters++ == INTERPRETERS_MAX) {
			memset(carries + i, true, argc - i);
			return;
		}
		scan_command(&scan);
	}
}
