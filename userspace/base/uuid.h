/* SPDX-License-Identifier: Apache-2.0 */
/* UUID version 7 (RFC 9562, section 5.7): execution ids that sort by time of creation. */
#ifndef CORDON_BASE_UUID_H
#define CORDON_BASE_UUID_H

#define UUID_TEXT_SIZE 37

/* From the wall clock and getrandom(2). -errno of getrandom. */
int uuid_generate_v7(unsigned char ret_id[16]);

/* Writes 36 characters and a NUL. */
void uuid_format(const unsigned char id[16], char text[UUID_TEXT_SIZE]);

/* -EINVAL: not in the 8-4-4-4-12 form. */
int uuid_parse(const char *text, unsigned char ret_id[16]);

#endif
