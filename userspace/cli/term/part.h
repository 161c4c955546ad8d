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

/*
 * Runs the program `name` with `input` and `output` as its standard input and output, and waits for
 * it, at most `seconds`. Returns its exit status, or -ERRNO.
 */
int part_run(const char *name, const char *const *argv, int input, int output,
	     unsigned int seconds);

/* The program `name` takes this one's place. Returns when it cannot, and has said so. */
void part_become(const char *name, char **argv);

#endif
