// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a file outside through its own directory, over which it is mounted
 * Hook: path_unlink
 * Errno: EACCES
 * Control: removes its own by such a name
 * Record: unlink $VICTIM/secret
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
	return outcome(unlink("here/secret"));
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
	make_file("there/gone", "", 0600);
	return outcome(unlink("there/gone"));
}

static int control(void)
{
	return in_child(allowed);
}

REDTEAM(.attack = attack, .control = control)
