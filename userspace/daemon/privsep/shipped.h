/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the log is shipped, as the shipper's state file says: its word, by which retention waits
 * for it. One that lies can have segments deleted as if it were not there, or kept up to a bound.
 */
#ifndef CORDON_DAEMON_SHIPPED_H
#define CORDON_DAEMON_SHIPPED_H

#include "audit/write/log.h"

/*
 * Of the file `path`. Not known: there is no file, so nobody ships; what says nothing is taken as
 * that nothing was shipped. Waits for nothing, whatever the file is.
 */
void shipped_read(const char *path, struct audit_log_shipped *ret_shipped);

#endif
