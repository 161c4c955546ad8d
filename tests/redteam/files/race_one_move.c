// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file in a directory that it has read in, while others move it to and fro between
 *   two names that are denied, of which neither is in the other's directory
 * Hook: file_open
 * Errno: EACCES
 * Control: opens one beside it
 * Record: open $ANY
 * Where: tmpfs ext4
 */
#include <time.h>

#include "tests/redteam/attack.h"

#define RACE_SECONDS 2

/* Begins once it is asked to. */
static void move_to_and_fro(void)
{
	wait_for_file("plain/begin");
	for (int i = 0; i % 64 || access("plain/end", F_OK) < 0; i++) {
		rename("plain/.env", ".config/gcloud");
		rename(".config/gcloud", "plain/.env");
	}
}

static void setup(void)
{
	NEED(mkdir(".config", 0755));
	NEED(mkdir("plain", 0755));
	NEED(chown("plain", attacker(), attacker()));
	make_file("plain/.env", "secret\n", 0644);
	make_file("plain/text", "text\n", 0644);
	leave_behind(move_to_and_fro);
}

/* ENOENT: it was elsewhere when it was looked for. */
static int attack(void)
{
	const char *seconds = getenv("REDTEAM_SECONDS");
	time_t until = time(NULL) + (seconds ? atoi(seconds) : RACE_SECONDS);
	int error;

	/* By then it is known that the file system is mounted once. */
	if (read_file("own") || read_file("plain/text"))
		broken("plain/text");
	make_file("plain/begin", "x", 0644);
	do
		error = open_with("plain/.env", O_RDONLY);
	while (error && time(NULL) <= until);
	make_file("plain/end", "x", 0644);
	return error == ENOENT ? EACCES : error;
}

static int control(void)
{
	return read_file("plain/text") ?: read_file("plain/text");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
