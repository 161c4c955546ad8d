/* SPDX-License-Identifier: Apache-2.0 */
/* Executions as people name them: by as much of the id as tells them apart. */
#ifndef CORDON_CLI_LIVE_EXECUTION_H
#define CORDON_CLI_LIVE_EXECUTION_H

#include "base/uuid.h"

/*
 * The only live execution whose id begins or ends with `wanted`; a whole id is taken as it is,
 * without a look at what is live. -ENOENT: none; -EEXIST: several; or as client_list(). It was said
 * why.
 */
int live_execution_find(int socket, const char *wanted, char ret_id[UUID_TEXT_SIZE]);

#endif
