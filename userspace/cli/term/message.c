/* SPDX-License-Identifier: Apache-2.0 */
/* What cordon itself says, always on standard error: standard output belongs to results. */
#include "cli/term/message.h"

#include <stdarg.h>
#include <string.h>

#include "base/io.h"
#include "cli/term/terminal.h"

/* Names in it are others' choice and must not reach a terminal raw; its line ends are ours. */
static char *harmless(char *text)
{
	struct style style = terminal_style(stderr);
	_cleanup_(fclosep) FILE *out = NULL;
	char *made = NULL, *line;
	size_t size;

	out = open_memstream(&made, &size);
	if (!out)
		return NULL;
	fputs("cordon: ", out);
	for (line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
		style_text(out, &style, line);
		fputc('\n', out);
	}
	if (fclose(TAKE_PTR(out)) == 0)
		return made;
	free(made);
	return NULL;
}

void message(const char *format, ...)
{
	static const char no_memory[] = "cordon: out of memory\n";
	_cleanup_(freep) char *text = NULL, *line = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	if (r < 0)
		text = NULL;
	/* Texts of several lines come with and without the last line's end. */
	for (size_t end = text ? strlen(text) : 0; end > 0 && text[end - 1] == '\n'; end--)
		text[end - 1] = '\0';
	line = text ? harmless(text) : NULL;
	/* Nobody is left to tell if standard error is closed. */
	(void)io_write_all(STDERR_FILENO, line ? line : no_memory, strlen(line ? line : no_memory));
}
