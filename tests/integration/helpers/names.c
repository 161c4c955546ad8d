// SPDX-License-Identifier: Apache-2.0
/*
 * Moves files and directories between directories of different rules, by a sequence that is always the same, and opens them
 * and what stands beside them: names WORK ROUNDS. "left/secret" may not be read, everything else may; a thread moves
 * other directories all the while. Prints "asked N wrong M disturbed D digest X": the digest is of all answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIDES	 2
#define MOVING	 8 /* files, then directories */
#define PATIENCE 1000

static const char *const sides[SIDES] = {"left", "right"};
static unsigned int where[MOVING]; /* the side on which each is */
static uint64_t seed = 1, digest = 14695981039346656037ull;
static long asked, wrong, disturbed;

static unsigned int choose(unsigned int count)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(seed >> 33) % count;
}

static bool is_directory(unsigned int moving)
{
	return moving >= MOVING / 2;
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		exit(2);
	close(fd);
}

static void make_tree(void)
{
	char path[64];

	for (unsigned int side = 0; side < SIDES; side++) {
		if (mkdir(sides[side], 0755) < 0)
			exit(2);
		snprintf(path, sizeof(path), "%s/secret", sides[side]);
		make_file(path);
	}
	for (unsigned int n = 0; n < MOVING; n++) {
		snprintf(path, sizeof(path), "left/moving%u", n);
		if (is_directory(n)) {
			if (mkdir(path, 0755) < 0)
				exit(2);
			strcat(path, "/file");
		}
		make_file(path);
	}
}

/* A refusal where none is expected may come of a rename on its way, but not again and again. */
static void ask(const char *path, int expected)
{
	int error = -1;

	for (int turn = 0; turn < PATIENCE; turn++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		error = fd < 0 ? errno : 0;
		if (fd >= 0)
			close(fd);
		if (error == expected || error != EACCES)
			break;
		disturbed++;
	}
	asked++;
	digest = (digest ^ (uint64_t)error) * 1099511628211ull;
	if (error == expected)
		return;
	wrong++;
	fprintf(stderr, "%s: %s\n", path, error ? strerror(error) : "opened");
}

static void move(unsigned int n)
{
	char from[64], to[64];
	int error = EACCES;

	snprintf(from, sizeof(from), "%s/moving%u", sides[where[n]], n);
	where[n] = !where[n];
	snprintf(to, sizeof(to), "%s/moving%u", sides[where[n]], n);
	for (int turn = 0; error == EACCES && turn < PATIENCE; turn++)
		error = rename(from, to) < 0 ? errno : 0;
	if (error) {
		perror(to);
		exit(2);
	}
}

static void one_round(void)
{
	unsigned int side = choose(SIDES), n = choose(MOVING);
	char path[64];

	if (choose(2))
		move(choose(MOVING));
	snprintf(path, sizeof(path), "%s/moving%u%s", sides[side], n,
		 is_directory(n) ? "/file" : "");
	ask(path, where[n] == side ? 0 : ENOENT);
	ask("left/secret", EACCES);
	ask("right/secret", 0);
}

static void *storm(void *unused)
{
	mkdir("here", 0755);
	mkdir("there", 0755);
	for (;;) {
		rename("here", "there/here");
		rename("there/here", "here");
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3 || chdir(argv[1]) < 0)
		return 2;
	make_tree();
	if (pthread_create(&thread, NULL, storm, NULL))
		return 2;
	for (long i = atol(argv[2]); i > 0; i--)
		one_round();
	printf("asked %ld wrong %ld disturbed %ld digest %016llx\n", asked, wrong, disturbed,
	       (unsigned long long)digest);
	return wrong != 0;
}
