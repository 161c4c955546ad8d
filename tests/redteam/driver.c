// SPDX-License-Identifier: Apache-2.0
/*
 * Runs attacks one after the other and says how each ended: driver DIRECTORY MODE... -- ATTACK...
 * DIRECTORY has the programs; the modes are those of attack.h, plus "prepare", which makes the
 * directories and files that every attack finds. "MODE@PLACE" is the mode in directories of its
 * own, which earlier modes have not changed. One JSON line for each mode of each attack.
 */
#include <libgen.h>
#include <sys/prctl.h>
#include <time.h>

#include "tests/redteam/attack.h"

#define SECONDS_EACH 20

static void give(const char *path)
{
	NEED(lchown(path, attacker(), attacker()));
}

static void make_directory(const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		broken(path);
	NEED(chmod(path, 0755));
	give(path);
}

static void make_secret(const char *path, const char *text)
{
	make_file(path, text, 0644);
	give(path);
}

static void prepare(const char *work)
{
	make_directory(work);
	make_directory(setting("REDTEAM_VICTIM"));
	make_directory(victim("dir"));
	make_directory(victim("empty"));
	make_directory(in_directory(work, "run"));
	make_secret(victim("secret"), "secret\n");
	make_secret(in_directory(work, "own"), "own\n");
	copy_file("/usr/bin/true", victim("program"), 0755);
	give(victim("program"));
}

/* Whatever an attack starts and leaves behind ends with it, as far as it stays in its group. */
static int run_one(const char *program, const char *mode, const char *work)
{
	pid_t pid = NEED(fork());
	struct timespec tick = {.tv_nsec = 5000000};
	int status;

	if (pid == 0) {
		setpgid(0, 0);
		NEED(chdir(work));
		execl(program, program, mode, NULL);
		broken(program);
	}
	for (int i = 0; i < SECONDS_EACH * 200; i++) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid)
			break;
		if (ended < 0)
			broken("waitpid");
		if (i == SECONDS_EACH * 200 - 1) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
		nanosleep(&tick, NULL);
	}
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		return -WTERMSIG(status);
	return WEXITSTATUS(status);
}

static void run_mode(const char *program, const char *attack, const char *mode_and_place)
{
	char name[PATH_SIZE], work[PATH_SIZE], own[PATH_SIZE], mode[PATH_SIZE];
	const char *place = strchr(mode_and_place, '@');
	int length = place ? (int)(place - mode_and_place) : (int)strlen(mode_and_place);
	int status = 0;

	snprintf(mode, sizeof(mode), "%.*s", length, mode_and_place);
	snprintf(name, sizeof(name), "%s", attack);
	snprintf(own, sizeof(own), "%s%s", basename(name), place ? place : "");
	snprintf(work, sizeof(work), "%s/%s", setting("REDTEAM_WORK"), own);
	setenv("REDTEAM_VICTIM", in_directory(setting("REDTEAM_VICTIMS"), own), 1);
	if (strcmp(mode, "prepare") == 0)
		prepare(work);
	else
		status = run_one(program, mode, work);
	printf("{\"attack\": \"%s\", \"mode\": \"%s\", \"status\": %d}\n", attack, mode_and_place,
	       status);
	fflush(stdout);
}

static void run_attack(const char *directory, const char *attack, char *const modes[])
{
	for (; strcmp(*modes, "--") != 0; modes++)
		run_mode(in_directory(directory, attack), attack, *modes);
}

int main(int argc, char **argv)
{
	int first = 2;

	while (first < argc && strcmp(argv[first], "--") != 0)
		first++;
	if (first >= argc)
		return BROKEN;
	/* Orphans of attacks come here, so that they can be ended. */
	NEED(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	umask(022);
	for (int i = first + 1; i < argc; i++)
		run_attack(argv[1], argv[i], argv + 2);
	return 0;
}
