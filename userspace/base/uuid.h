/* SPDX-License-Identifier: Apache-2.0 */
/* UUID version 7 (RFC 9562, section 5.7): execution ids that sort by time of creation. */
#ifndef CORDON_BASE_UUID_H
#define CORDON_BASE_UUID_H

#include <stdbool.h>
#include <stddef.h>

#define UUID_TEXT_SIZE 37
/* The last group: random, while earlier groups may be equal for ids of the same millisecond. */
#define UUID_END_SIZE 12

/*
 * Generates an id from the wall clock and getrandom(2). Returns 0, or the -ERRNO of getrandom(2).
 */
int uuid_generate_v7(unsigned char ret_id[16]);

/* Writes 36 characters and a NUL. */
void uuid_format(const unsigned char id[16], char text[UUID_TEXT_SIZE]);

/* Returns the last group of an id; all of a shorter text. */
const char *uuid_end(const char *id);

/*
 * True if a user's `word` identifies the id of `size` bytes: its beginning, the beginning of its
 * last group, or its end, without regard to case.
 */
bool uuid_is_named(const char *id, size_t size, const char *word);

/* Returns 0, or -EINVAL unless it has the 8-4-4-4-12 form. */
int uuid_parse(const char *text, unsigned char ret_id[16]);

#endif
