// SPDX-License-Identifier: Apache-2.0
/*
 * Moves files and directories between directories of different rules, by a sequence that is always
 * the same, and opens them and what stands beside them: names WORK ROUNDS. "left/secret" may not be
 * read, everything else may; a thread moves other directories all the while. Now and then a child
 * asks, which was born with all that its parent remembered, and before a move. Prints "asked N
 * wrong M digest X": the digest is of all answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDES	 2
#define MOVING	 8 /* files, then directories */
#define PATIENCE 1000

static const char *const sides[SIDES] = {"left", "right"};
static uint64_t seed = 1;

/* Children add to it. */
static struct story {
	unsigned int where[MOVING]; /* the side on which each is */
	uint64_t digest;
	long asked, wrong;
} *story;

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

static void ask(const char *path, int expected)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	story->asked++;
	story->digest = (story->digest ^ (uint64_t)error) * 1099511628211ull;
	if (error == expected)
		return;
	story->wrong++;
	fprintf(stderr, "%s: %s\n", path, error ? strerror(error) : "opened");
}

static void move(unsigned int n)
{
	char from[64], to[64];

	snprintf(from, sizeof(from), "%s/moving%u", sides[story->where[n]], n);
	story->where[n] = !story->where[n];
	snprintf(to, sizeof(to), "%s/moving%u", sides[story->where[n]], n);
	if (rename(from, to) < 0) {
		perror(to);
		exit(2);
	}
}

struct question {
	unsigned int side, n;
};

static void ask_three(const struct question *question)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/moving%u%s", sides[question->side], question->n,
		 is_directory(question->n) ? "/file" : "");
	ask(path, story->where[question->n] == question->side ? 0 : ENOENT);
	ask("left/secret", EACCES);
	ask("right/secret", 0);
}

static pid_t born(void)
{
	pid_t child = -1;

	/* A fork may be refused where its label has no room at the moment. */
	for (int turn = 0; child < 0 && turn < PATIENCE; turn++)
		child = fork();
	if (child < 0)
		exit(2);
	return child;
}

/* What the child was born with is from before the move. */
static void child_asks(const struct question *question, bool moves, unsigned int moving)
{
	int status, ends[2];
	pid_t child;
	char byte;

	if (pipe(ends) < 0)
		exit(2);
	child = born();
	if (!child) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) > 0)
			;
		ask_three(question);
		_exit(0);
	}
	if (moves)
		move(moving);
	close(ends[0]);
	close(ends[1]);
	if (waitpid(child, &status, 0) != child || status)
		exit(2);
}

static void one_round(void)
{
	struct question question = {choose(SIDES), choose(MOVING)};
	bool moves = choose(2), by_child = choose(16) == 0;
	unsigned int moving = choose(MOVING);

	if (by_child) {
		child_asks(&question, moves, moving);
		return;
	}
	if (moves)
		move(moving);
	ask_three(&question);
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
	story = mmap(NULL, sizeof(*story), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (story == MAP_FAILED)
		return 2;
	story->digest = 14695981039346656037ull;
	make_tree();
	if (pthread_create(&thread, NULL, storm, NULL))
		return 2;
	for (long i = atol(argv[2]); i > 0; i--)
		one_round();
	printf("asked %ld wrong %ld digest %016llx\n", story->asked, story->wrong,
	       (unsigned long long)story->digest);
	return story->wrong != 0;
}
