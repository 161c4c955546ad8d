/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host names in network rules, and their form in CORDON_START_NET input. That consists of the
 * family CORDON_NET_NAME, the protocol, the labels from last to first separated by '/', a NUL and
 * the port. So "*" and "**" have the same meaning in names as in paths.
 */
#ifndef CORDON_POLICY_HOST_NAME_H
#define CORDON_POLICY_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_NAME_MAX_TEXT 253 /* RFC 1035, as text without the final dot */
#define HOST_NAME_LABEL	   63

/* With the terminating NUL of either form. */
#define HOST_NAME_SIZE (HOST_NAME_MAX_TEXT + 1)

/*
 * Checks a name and writes it in lower case, without a final dot. With `pattern`, "*" in labels and
 * "**" as a label are allowed. -EINVAL: invalid.
 */
int host_name_read(const char *text, bool pattern, char ret_name[HOST_NAME_SIZE]);

/* "any", "All": users write them for every address, but they would be the name of a host. */
bool host_name_is_every(const char *text);

/* "localhost", "db.localhost": names that every resolver maps to the host itself. */
bool host_name_is_loopback(const char *text);

/* "www.example.org" to "org/example/www" and back; the order of bytes in a label is kept. */
void host_name_reverse(const char *name, char ret_reversed[HOST_NAME_SIZE]);
void host_name_restore(const char *reversed, size_t size, char ret_name[HOST_NAME_SIZE]);

#endif
