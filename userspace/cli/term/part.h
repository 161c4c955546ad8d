/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon's other programs, which are installed in one folder, and the one that users start beside
 * it: PREFIX/bin/cordon and PREFIX/lib/cordon, SOURCE/build/cordon and SOURCE/build/lib/cordon.
 */
#ifndef CORDON_CLI_PART_H
#define CORDON_CLI_PART_H

/* All but what is apart. */
#define PART_WHOLE "cordon"
/* `run` where the host has to be asked for users. */
#define PART_RUN   "cordon-run"
#define PART_WATCH "cordon-watch"

/* The program `name` takes this one's place. Returns when it cannot, and has said so. */
void part_become(const char *name, char **argv);

#endif
