/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, written straight into a buffer: ASCII only, so that a log can be shown on a terminal
 * without harm. The same texts in the same form as text.h has for jansson's objects: a byte that is
 * no UTF-8 becomes U+FFFD, and a sibling member with "_base64" holds the exact bytes.
 */
#ifndef CORDON_AUDIT_JSON_TEXT_H
#define CORDON_AUDIT_JSON_TEXT_H

#include "audit/text/buffer.h"

/* A quoted string; each byte that is no text becomes U+FFFD. True: all was text. */
bool json_text_string(struct buffer *out, const char *bytes, size_t size);

/* ,"key": without the comma where an object or array was just opened. */
void json_text_key(struct buffer *out, const char *key);

/*
 * ,"key":"..." and what text_set() adds besides; without the comma where an object or array was
 * just opened. NULL: null.
 */
void json_text_member(struct buffer *out, const char *key, const char *bytes, size_t size);
void json_text_member_string(struct buffer *out, const char *key, const char *string);

/* The same for a list, as text_set_list(). */
void json_text_member_list(struct buffer *out, const char *key, size_t count,
			   const char *const *strings);

#endif
