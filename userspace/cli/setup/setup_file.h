/* SPDX-License-Identifier: Apache-2.0 */
/* Adds entries to the text of a cordon.yaml. No other line changes. */
#ifndef CORDON_CLI_SETUP_FILE_H
#define CORDON_CLI_SETUP_FILE_H

#include <jansson.h>

/*
 * The text with the new entries of `items` (see setup_plan.h) at the end of its list of executors.
 * `text` NULL: a new file. The result is parsed, and has all entries of before.
 *
 * Returns 0; -EINVAL if the list is not one that lines can be added to (such as `executors: [...]`)
 * or the result is not correct; or -ENOMEM. Caller frees *ret_text.
 */
int setup_file_add(const char *text, const json_t *items, char **ret_text);

/*
 * Replaces the file by way of a new one beside it, if its text is still `before` (NULL: there was
 * none). Owner and mode stay; a new file has mode 0644, and its directory is made. Links are
 * followed. Returns 0, -ESTALE if the file was changed meanwhile, or -errno.
 */
int setup_file_replace(const char *path, const char *before, const char *text);

#endif
