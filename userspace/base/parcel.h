/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and lists of them, as one process writes them down for another of the same program. What is
 * read may be anybody's: each length is checked.
 */
#ifndef CORDON_BASE_PARCEL_H
#define CORDON_BASE_PARCEL_H

#include <stddef.h>
#include <stdio.h>

/* NULL is one, too. Whether all of it was written, ferror(3) says. */
void parcel_put_text(FILE *to, const char *text);

/* `list`: NULL, or `count` texts. */
void parcel_put_list(FILE *to, char *const *list, size_t count);

struct parcel {
	const char *at;
	size_t left;
};

/* The next bytes, in place; NULL: there are not so many. */
const void *parcel_take(struct parcel *from, size_t size);

/* Caller frees. -EPROTO: there is none; -ENOMEM. */
int parcel_take_text(struct parcel *from, char **ret_text);

/*
 * NULL-terminated, or NULL; caller frees it with the texts, of which the first ones are there on
 * failure, too.
 */
int parcel_take_list(struct parcel *from, char ***ret_list, size_t *ret_count);

#endif
