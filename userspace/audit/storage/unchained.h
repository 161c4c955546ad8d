/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a log without the chain values that they end in, which are more than half of what is
 * left of lines once they are compressed, and which whoever has the value before the first can
 * compute. That the last one comes out as it was said shows that each line is as it was.
 */
#ifndef CORDON_AUDIT_UNCHAINED_H
#define CORDON_AUDIT_UNCHAINED_H

#include <stddef.h>

#include "audit/text/buffer.h"
#include "base/sha256.h"

/* BEFORE-LAST, in hexadecimal digits: the value before the first line, and the last line's. */
#define UNCHAINED_TEXT_SIZE (2 * SHA256_TEXT_SIZE)

/*
 * Of whole lines, each with its newline: *ret_text is these without their chain member, JSON all
 * the same, and *ret_last the last one's value. -EBADMSG: they do not follow from each other and
 * from `before`; -ENOMEM, -EIO.
 */
int unchained_strip(const struct buffer *lines, const unsigned char before[SHA256_SIZE],
		    struct buffer *ret_text, unsigned char ret_last[SHA256_SIZE]);

/*
 * The lines again. -EBADMSG: a line that is none, or the last value is not `last`; -EFBIG: more
 * than `limit` bytes; -ENOMEM, -EIO.
 */
int unchained_restore(const char *text, size_t size, const unsigned char before[SHA256_SIZE],
		      const unsigned char last[SHA256_SIZE], size_t limit,
		      struct buffer *ret_lines);

void unchained_format(const unsigned char before[SHA256_SIZE],
		      const unsigned char last[SHA256_SIZE], char text[UNCHAINED_TEXT_SIZE]);
/* -EINVAL. */
int unchained_parse(const char *text, unsigned char ret_before[SHA256_SIZE],
		    unsigned char ret_last[SHA256_SIZE]);

#endif
