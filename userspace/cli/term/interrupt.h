/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that must not leave half of something behind when Ctrl-C ends it: the signal is noted, the
 * work stops and tidies up, and then the signal does what it would have done.
 */
#ifndef CORDON_CLI_INTERRUPT_H
#define CORDON_CLI_INTERRUPT_H

#include <signal.h>

/*
 * SIGINT, SIGTERM and SIGHUP are noted from now on, but for those that are ignored. Where it points
 * to, a number that is not 0 says that one has come.
 */
const volatile sig_atomic_t *interrupt_hold(void);

/* As before. Does not return if one has come, unless something else handles it. */
void interrupt_release(void);

#endif
