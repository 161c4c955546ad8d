// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes a file outside through its own directory, over which it is mounted
 * Hook: file_open
 * Errno: EACCES
 * Control: writes its own by such a name
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	make_own_directory("here");
	bind_at(victim(""), "here");
	return write_file("here/secret");
}

static int attack(void)
{
	return in_child(inside);
}

static int allowed(void)
{
	enter_sandbox(0);
	make_own_directory("there");
	bind_at(".", "there");
	return write_file("there/own");
}

static int control(void)
{
	return in_child(allowed);
}

REDTEAM(.attack = attack, .control = control)
