/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal behind a stream can show. */
#include "cli/term/terminal.h"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "cli/term/message.h"

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

int terminal_finish(FILE *stream, int status)
{
	/* No events are asked for: that the other side is gone is reported all the same. */
	struct pollfd output = {.fd = fileno(stream)};

	if (fflush(stream) == 0 && !ferror(stream))
		return status;
	/* Whoever asks again is not told again. */
	clearerr(stream);
	if (poll(&output, 1, 0) > 0 && (output.revents & POLLERR))
		return status;
	message("cannot write all of the output; is the disk full?");
	return status ? status : EXIT_FAILURE;
}
