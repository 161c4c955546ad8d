/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0];
}

static bool speaks_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && value[0])
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return true;
}

struct style terminal_style(FILE *stream)
{
	const char *term = getenv("TERM");
	struct style style = {.unicode = speaks_utf8()};
	struct winsize size;
	int fd = fileno(stream);

	if (!isatty(fd))
		return style;
	style.color = !is_set("NO_COLOR") && (!term || strcmp(term, "dumb") != 0);
	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}
