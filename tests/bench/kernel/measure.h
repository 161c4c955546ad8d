/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing of single operations. Under the emulator's instruction clock a nanosecond is one
 * instruction, and the clock is read without a system call.
 */
#ifndef CORDON_BENCH_MEASURE_H
#define CORDON_BENCH_MEASURE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Odd: the median is a measured value. Most batches are too short to meet a timer's interrupt. */
#define BATCHES 15

static inline long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline _Noreturn void fail(const char *what)
{
	fprintf(stderr, "operations: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline long must(long result, const char *what)
{
	if (result < 0)
		fail(what);
	return result;
}

static inline int compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* Runs `count` of them and returns what the measured part of them took in all. */
typedef long (*batch_function)(int count);

/* Name, median, smallest and largest of the batches, per operation. */
static inline void measure(const char *name, batch_function batch, int count)
{
	long took[BATCHES];

	batch(count); /* what is made once, is made here */
	for (int i = 0; i < BATCHES; i++)
		took[i] = batch(count);
	qsort(took, BATCHES, sizeof(took[0]), compare_longs);
	printf("%s\t%.1f\t%.1f\t%.1f\n", name, (double)took[BATCHES / 2] / count,
	       (double)took[0] / count, (double)took[BATCHES - 1] / count);
	fflush(stdout);
}

/* What reading the clock twice costs, for batches that time each operation by itself. */
static inline long clock_cost(void)
{
	static long cost;

	for (int i = 0; !cost && i < 100; i++) {
		long start = now(), took = now() - start;

		if (i == 99)
			cost = took;
	}
	return cost;
}

/* A batch that is nothing but its body, `count` times. */
#define PLAIN_BATCH(name, body)                                                                    \
	static long name(int count)                                                                \
	{                                                                                          \
		long start = now();                                                                \
                                                                                                   \
		for (int i = 0; i < count; i++) {                                                  \
			body;                                                                      \
		}                                                                                  \
		return now() - start;                                                              \
	}

/* A batch of which only `measured` counts. */
#define PARTLY_BATCH(name, before, measured, after)                                                \
	static long name(int count)                                                                \
	{                                                                                          \
		long sum = 0, cost = clock_cost();                                                 \
                                                                                                   \
		for (int i = 0; i < count; i++) {                                                  \
			long start;                                                                \
			before;                                                                    \
			start = now();                                                             \
			measured;                                                                  \
			sum += now() - start - cost;                                               \
			after;                                                                     \
		}                                                                                  \
		return sum;                                                                        \
	}

#endif
