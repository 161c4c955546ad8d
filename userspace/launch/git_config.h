/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads git's configuration files as data (git-config(1), "Syntax"). Git itself never runs here,
 * because a configuration can name programs that git runs.
 */
#ifndef CORDON_LAUNCH_GIT_CONFIG_H
#define CORDON_LAUNCH_GIT_CONFIG_H

#include <stddef.h>

#define GIT_CONFIG_SIZE_MAX  (1u << 20)
#define GIT_CONFIG_NAME_MAX  1024u
#define GIT_CONFIG_VALUE_MAX 8192u

/*
 * One variable: "section.key" or "section.subsection.key", section and key in lower case. `value`
 * is NULL where the file has no '='. A negative result ends the reading.
 */
typedef int git_config_variable(void *context, const char *name, const char *value);

/*
 * Calls `call` for each variable. Returns 0, -EBADMSG after a syntax error, on which git would also
 * fail, or the negative result of `call`.
 */
int git_config_parse(const char *text, size_t size, git_config_variable *call, void *context);

#endif
