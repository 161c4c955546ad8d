// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: swaps its directory and a link to one outside while another thread opens a file below
 *   that name
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/dir/secret
 * Where: tmpfs ext4 overlay
 */
#include <pthread.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(victim("dir/secret"), "theirs", 0644);
	NEED(mkdir("mine", 0755));
	make_file("mine/secret", "mine", 0644);
	NEED(symlink(victim("dir"), "link"));
	NEED(chown("mine", attacker(), attacker()));
	NEED(lchown("link", attacker(), attacker()));
}

static void *swap(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
		renameat2(AT_FDCWD, "mine", AT_FDCWD, "link", RENAME_EXCHANGE);
	return NULL;
}

/* Wins as soon as what was read is not its own; refused if only its own was ever to be had. */
static int attack(void)
{
	bool stop = false, won = false, refused = false;
	pthread_t thread;

	if (pthread_create(&thread, NULL, swap, &stop))
		broken("pthread_create");
	for (int i = 0; i < 4000 && !won; i++) {
		char text[8] = {};
		int fd = open("mine/secret", O_RDONLY | O_CLOEXEC);

		if (fd < 0) {
			refused |= errno == EACCES;
			continue;
		}
		won = read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, "theirs") == 0;
		close(fd);
	}
	stop = true;
	pthread_join(thread, NULL);
	if (won)
		return 0;
	return refused ? EACCES : BROKEN;
}

REDTEAM(.setup = setup, .attack = attack)
