/* SPDX-License-Identifier: Apache-2.0 */
/* What cordon itself says, always on standard error: standard output belongs to results. */
#ifndef CORDON_CLI_MESSAGE_H
#define CORDON_CLI_MESSAGE_H

#include "base/cleanup.h"

/* "cordon: " and the text, in one write, so that two runs do not mix theirs. */
void message(const char *format, ...) _printf_(1, 2);

#endif
