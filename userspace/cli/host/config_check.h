/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a cordon.yaml, its policies, and what it names on this host. */
#ifndef CORDON_CLI_CONFIG_CHECK_H
#define CORDON_CLI_CONFIG_CHECK_H

#include <stdbool.h>

#include "config/config.h"

/*
 * Adds to `diagnostics` what the daemon would find when it puts `config`, which was read from
 * `file`, into force. What only root may look at is a note. -ENOMEM.
 */
int config_check(const struct config *config, const char *file, struct diagnostics *diagnostics);

#endif
