/* SPDX-License-Identifier: Apache-2.0 */
/* Where the log lies that a request names. */
#ifndef CORDON_DAEMON_LOG_PLACE_H
#define CORDON_DAEMON_LOG_PLACE_H

#include "base/failure.h"

/*
 * The real path of the directory that a request names, or that is made where it names: never
 * through a link that agent code may have left, which would choose what becomes a log. Caller
 * frees. -errno of openat(2).
 */
int log_place(const char *asked, char **ret_directory, struct failure *failure);

#endif
