/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names chosen by others (paths, command names, arguments) as JSON: always valid UTF-8, and
 * exact. Where bytes are no text, each becomes U+FFFD and a sibling member, its name with
 * "_base64" added, holds the exact bytes.
 */
#ifndef CORDON_AUDIT_TEXT_H
#define CORDON_AUDIT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept of one text, and of all texts of one list, in bytes. */
#define TEXT_MAX      8192u
#define TEXT_LIST_MAX 32768u

/* Is it valid UTF-8 (RFC 3629) without NUL? */
bool text_is_valid(const char *bytes, size_t size);

/*
 * The character at `bytes` (size > 0) and its length; length 0: no valid sequence. NUL counts as
 * none.
 */
uint32_t text_character(const char *bytes, size_t size, size_t *ret_length);

/*
 * May it reach a terminal? Not control characters (C0, DEL, C1) and not what changes the order,
 * the line or the visibility of the text around it (Unicode's bidirectional controls, line and
 * paragraph separators, zero-width and tag characters): the "Trojan Source" set, CVE-2021-42574.
 */
bool text_is_harmless(uint32_t character);

/* With U+FFFD in place of each byte that is no text. NULL without memory. */
json_t *text_lossy(const char *bytes, size_t size);

/* Base64 (RFC 4648, section 4). NULL without memory. */
json_t *text_base64(const char *bytes, size_t size);

/* The same into `out`, which has room for (size + 2) / 3 * 4 bytes; no NUL. Returns how many. */
size_t text_write_base64(const char *bytes, size_t size, char *out);

/* The longest prefix of at most `limit` bytes that cuts no sequence in two. */
size_t text_cut(const char *bytes, size_t size, size_t limit);

/*
 * Sets object[key], and object[key + "_base64"] where needed. Longer texts are cut at TEXT_MAX
 * and object[key + "_length"] says how long they were. -ENOMEM.
 */
int text_set(json_t *object, const char *key, const char *bytes, size_t size);

/* The same for a string; NULL becomes null. */
int text_set_string(json_t *object, const char *key, const char *string);

/*
 * A list of strings; NULL entries become null, which is why the count is given. Behind
 * TEXT_LIST_MAX bytes the rest is left out and object[key + "_omitted"] counts it.
 */
int text_set_list(json_t *object, const char *key, size_t count, const char *const *strings);

#endif
