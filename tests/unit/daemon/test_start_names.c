/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's start looks up a user and groups, with an unresponsive database, too. */
#include "tests/unit/daemon/fake/world.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/peer/peer.h"
#include "daemon/start_names.h"

/* Shared with workers: whether their databases reply. */
static struct {
	volatile bool silent;
} *database;
static size_t told;

static void wait_for_reply(void)
{
	while (database->silent)
		usleep(10000);
}

struct group *getgrnam(const char *name)
{
	static struct group group = {.gr_gid = 4321};

	wait_for_reply();
	return strcmp(name, PEER_WHO_GROUP) == 0 ? &group : NULL;
}

struct passwd *getpwnam(const char *name)
{
	(void)name;
	wait_for_reply();
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	world_new();
	told = 0;
	database = mmap(NULL, sizeof(*database), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_ptr_not_equal(database, MAP_FAILED);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	names_release(&world->names);
	munmap((void *)database, sizeof(*database));
	world_end();
	return 0;
}

static void on_late(void *context)
{
	(void)context;
	told++;
}

static struct start_names *find(const char *user)
{
	struct start_names *names = NULL;
	struct failure failure = {};

	if (start_names_find(world, user, on_late, NULL, &names, &failure) < 0)
		fail_msg("%s", failure.text);
	return names;
}

static void both_databases(void **state)
{
	struct start_names *names = find("daemon");
	gid_t gid;

	(void)state;
	assert_false(start_names_wait(names));
	/* Of the files, with its group. */
	assert_int_equal(names_find(&world->names, "daemon")->id, 1);
	assert_int_equal(names_find(&world->names, "daemon")->group, 1);
	/* Of the other one. */
	assert_true(peer_group(&world->names, PEER_WHO_GROUP, &gid));
	assert_int_equal(gid, 4321);
	assert_false(peer_group(&world->names, "no-such-group", &gid));
	start_names_free(names);
	assert_int_equal(told, 0);
}

/* The start continues with the names in the files; the other names follow. */
static void unresponsive(void **state)
{
	struct start_names *names;
	gid_t gid;

	(void)state;
	database->silent = true;
	names = find("daemon");
	assert_int_equal(told, 0);
	assert_true(start_names_wait(names));
	assert_int_equal(names_find(&world->names, "daemon")->id, 1);
	assert_false(peer_group(&world->names, PEER_WHO_GROUP, &gid));
	database->silent = false;
	while (told == 0)
		assert_true(event_base_loop(world->base, EVLOOP_ONCE) >= 0);
	assert_true(peer_group(&world->names, PEER_WHO_GROUP, &gid));
	assert_false(start_names_wait(names));
	start_names_free(names);
}

static void given_up(void **state)
{
	struct start_names *names;

	(void)state;
	database->silent = true;
	names = find("daemon");
	start_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_databases, setup, teardown),
		cmocka_unit_test_setup_teardown(unresponsive, setup, teardown),
		cmocka_unit_test_setup_teardown(given_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
