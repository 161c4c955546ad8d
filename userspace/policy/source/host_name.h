/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host names in network rules, and their place in questions: a START_NET question with the family
 * CORDON_NET_NAME, the protocol, the labels from the last to the first set apart by '/', a NUL and
 * the port. So "*" and "**" mean in names what they mean in paths.
 */
#ifndef CORDON_POLICY_HOST_NAME_H
#define CORDON_POLICY_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_NAME_MAX_TEXT 253 /* RFC 1035, as text without the last dot */
#define HOST_NAME_LABEL	   63

/* With the NUL that ends both texts. */
#define HOST_NAME_SIZE (HOST_NAME_MAX_TEXT + 1)

/*
 * Checks a name, or with `pattern` one that may have "*" in labels and "**" as a label, and writes
 * it in small letters, without a last dot. -EINVAL: it is none.
 */
int host_name_read(const char *text, bool pattern, char ret_name[HOST_NAME_SIZE]);

/* "any", "All": what people write for every address, and would be a host of that name. */
bool host_name_is_every(const char *text);

/* "localhost", "db.localhost": names that stand for the host itself wherever they are looked up. */
bool host_name_is_loopback(const char *text);

/* "www.example.org" to "org/example/www" and back: the bytes between are kept. */
void host_name_reverse(const char *name, char ret_reversed[HOST_NAME_SIZE]);
void host_name_restore(const char *reversed, size_t size, char ret_name[HOST_NAME_SIZE]);

#endif
