/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a compiled policy as one block of bytes, in the layout of bpf/abi.h. */
#ifndef CORDON_POLICY_TABLES_H
#define CORDON_POLICY_TABLES_H

#include "policy/automaton/automaton.h"
#include "policy/source/model.h"

/* Caller frees. -ENOMEM; -E2BIG: more than CORDON_MAX_PAGES pages; -EIO: libcrypto failed. */
int tables_build(const struct automaton *a, const struct model *m, uint32_t anchors_used,
		 unsigned char **ret_tables, size_t *ret_size);

/* SHA-256 of the tables with a zero digest in the header. -ENOMEM, -EIO. */
int tables_digest(const unsigned char *tables, size_t size, unsigned char ret_digest[32]);

#endif
