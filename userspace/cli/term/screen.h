/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal taken over for a while: another screen, keys without Enter, and all as before
 * afterwards.
 */
#ifndef CORDON_CLI_SCREEN_H
#define CORDON_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct screen {
	bool keys; /* standard input is a terminal, too */
	struct termios before;
	int signal_fd;
	bool shown;
};

enum screen_event {
	SCREEN_REDRAW, /* time is up, or the size has changed */
	SCREEN_QUIT,   /* q, or a signal that ends */
};

/* Signals that concern it are blocked from here on. -errno. */
int screen_open(struct screen *screen);
void screen_close(struct screen *screen);

/* Shows these lines in place of what was there. */
void screen_draw(const char *text, size_t size);

/* Columns and lines; 80 by 24 where nobody tells. */
void screen_size(unsigned int *ret_columns, unsigned int *ret_lines);

/* Waits. A terminal stop (Ctrl-Z) gives the terminal back, and takes it again when it goes on. */
enum screen_event screen_wait(struct screen *screen, int milliseconds);

#endif
