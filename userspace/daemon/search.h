/* SPDX-License-Identifier: Apache-2.0 */
/* Where policies are looked for that are named without a path. */
#ifndef CORDON_DAEMON_SEARCH_H
#define CORDON_DAEMON_SEARCH_H

/*
 * The directories for a program whose file is `executable`: those of the host, and last those that came
 * with it: PREFIX/share/cordon/policies for PREFIX/bin/cordon, else SOURCE/policies for SOURCE/build/cordon.
 * NULL-terminated, to be freed with protocol_strings_free(). NULL without memory.
 */
char **search_directories(const char *executable);

#endif
