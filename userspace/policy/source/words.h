/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the words that a policy may use, and their values. */
#ifndef CORDON_POLICY_WORDS_H
#define CORDON_POLICY_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "policy/source/model.h"

struct word {
	const char *text;
	uint32_t value;
};

/* Tables end with a NULL text. */
extern const struct word words_file_rights[];
extern const struct word words_exec_rights[];
extern const struct word words_unix_rights[];
extern const struct word words_network_rights[];
extern const struct word words_capabilities[]; /* without CAP_, lower case */
extern const struct word words_net_protocols[];
extern const struct word words_socket_families[];
extern const struct word words_socket_types[];
extern const struct word words_socket_protocols[];
extern const struct word words_severities[];

/* The rights that a section's rules may contain. */
const struct word *words_rights(enum rule_kind kind);

/* NULL: the word is not in the table. */
const struct word *words_find(const struct word *table, const char *text);

/* The word with this value, or NULL. */
const char *words_name(const struct word *table, uint32_t value);

#endif
