/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a terminal over for a while, and leaves it as it was. */
#include "cli/term/screen.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

/* Another screen, no cursor, no wrapping; and back. */
#define ENTER_SCREEN "\033[?1049h\033[?25l\033[?7l"
#define LEAVE_SCREEN "\033[?7h\033[?25h\033[?1049l"
#define TO_THE_TOP   "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"

static void put(const char *text, size_t size)
{
	/* A terminal that is gone says so by SIGHUP. */
	(void)io_write_all(STDOUT_FILENO, text, size);
}

static void show(struct screen *screen)
{
	struct termios keys = screen->before;

	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	if (screen->keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	put(ENTER_SCREEN, strlen(ENTER_SCREEN));
	screen->shown = true;
}

static void give_back(struct screen *screen)
{
	if (!screen->shown)
		return;
	put(LEAVE_SCREEN, strlen(LEAVE_SCREEN));
	if (screen->keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
	screen->shown = false;
}

int screen_open(struct screen *screen)
{
	static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCONT};
	sigset_t set;

	*screen = (struct screen){.signal_fd = -1};
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		sigaddset(&set, watched[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	screen->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen->signal_fd < 0)
		return -errno;
	screen->keys = tcgetattr(STDIN_FILENO, &screen->before) == 0;
	show(screen);
	return 0;
}

void screen_close(struct screen *screen)
{
	give_back(screen);
	closep(&screen->signal_fd);
	screen->signal_fd = -1;
}

void screen_draw(const char *text, size_t size)
{
	const char *end = text + size;
	char *frame = NULL;
	size_t length;
	FILE *out = open_memstream(&frame, &length);

	if (!out)
		return;
	fputs(TO_THE_TOP, out);
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		if (!line_end)
			line_end = end;
		fwrite(text, 1, (size_t)(line_end - text), out);
		fputs(CLEAR_LINE "\r\n", out);
		text = line_end + 1;
	}
	fputs(CLEAR_BELOW, out);
	if (fclose(out) == 0)
		put(frame, length);
	free(frame);
}

void screen_size(unsigned int *ret_columns, unsigned int *ret_lines)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;

	*ret_columns = known ? size.ws_col : 80;
	*ret_lines = known ? size.ws_row : 24;
}

/* Stops for real, as Ctrl-Z asks, with the terminal as it was. */
static void stop(struct screen *screen)
{
	give_back(screen);
	raise(SIGSTOP);
	show(screen);
}

static bool take_signals(struct screen *screen, enum screen_event *ret_event)
{
	struct signalfd_siginfo info;
	bool any = false;

	while (read(screen->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		any = true;
		*ret_event = SCREEN_REDRAW;
		if (info.ssi_signo == SIGTSTP)
			stop(screen);
		else if (info.ssi_signo != SIGWINCH && info.ssi_signo != SIGCONT) {
			*ret_event = SCREEN_QUIT;
			return true;
		}
	}
	return any;
}

static bool asks_to_quit(struct screen *screen)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	/* End of file: the terminal is gone, or was told so by Ctrl-D. */
	if (n <= 0) {
		screen->keys = false;
		return true;
	}
	return memchr(keys, 'q', (size_t)n) || memchr(keys, 'Q', (size_t)n);
}

enum screen_event screen_wait(struct screen *screen, int milliseconds)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + (uint64_t)milliseconds * NSEC_PER_MSEC;
	enum screen_event event = SCREEN_REDRAW;

	for (;;) {
		struct pollfd watched[] = {
			{.fd = screen->signal_fd, .events = POLLIN},
			{.fd = screen->keys ? STDIN_FILENO : -1, .events = POLLIN},
		};
		uint64_t now = clock_nsec(CLOCK_MONOTONIC);

		if (now >= end)
			return SCREEN_REDRAW;
		if (poll(watched, ARRAY_SIZE(watched), (int)((end - now) / NSEC_PER_MSEC) + 1) < 0)
			continue;
		if (watched[0].revents && take_signals(screen, &event))
			return event;
		if (watched[1].revents && asks_to_quit(screen))
			return SCREEN_QUIT;
	}
}
