/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directory of the log that a request names. */
#ifndef CORDON_DAEMON_LOG_PLACE_H
#define CORDON_DAEMON_LOG_PLACE_H

#include "base/failure.h"

/*
 * Sets *ret_directory to the real path of the directory that a request names, or to its path if it
 * does not exist yet. Does not follow symbolic links that agent code may have made, because they
 * would choose the directory that becomes a log. Returns 0, or -errno of openat(2). The caller
 * frees *ret_directory.
 */
int log_place(const char *asked, char **ret_directory, struct failure *failure);

#endif
