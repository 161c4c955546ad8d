/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serializes strings and lists of strings between processes of the same program. Input may be
 * malicious: each length is checked.
 */
#ifndef CORDON_BASE_PARCEL_H
#define CORDON_BASE_PARCEL_H

#include <stddef.h>
#include <stdio.h>

/* Writes a string or NULL. Check ferror(3) for errors. */
void parcel_put_text(FILE *to, const char *text);

/* Writes `count` strings, or NULL. */
void parcel_put_list(FILE *to, char *const *list, size_t count);

struct parcel {
	const char *at;
	size_t left;
};

/* Returns the next bytes in place; NULL if there are fewer. */
const void *parcel_take(struct parcel *from, size_t size);

/* Reads a string. The caller frees it. Returns 0, -EPROTO if the input is malformed, or -ENOMEM. */
int parcel_take_text(struct parcel *from, char **ret_text);

/*
 * Reads a NULL-terminated list, or NULL. The caller frees the list and its strings, also the ones
 * read before a failure.
 */
int parcel_take_list(struct parcel *from, char ***ret_list, size_t *ret_count);

#endif
