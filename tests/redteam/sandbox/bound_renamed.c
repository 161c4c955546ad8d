// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves what it has written to where it may be run, in its own directory mounted elsewhere
 * Hook: path_rename
 * Errno: EXDEV
 * Control: moves it to another name
 * Record: rename $WORK/run/moved
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	make_own_directory("there");
	copy_file("/usr/bin/true", "payload", 0755);
	bind_at(".", "there");
	return outcome(rename("there/payload", "there/run/moved"));
}

static int allowed(void)
{
	enter_sandbox(0);
	make_own_directory("there");
	make_file("from", "", 0600);
	bind_at(".", "there");
	return outcome(rename("there/from", "there/to"));
}

REDTEAM_INSIDE(inside, allowed)
