/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verifier has to do: loads every program that this kernel takes and attaches none. Writes
 * a line for each: "verifier", name, instructions processed, states in all, most states at a time;
 * "time", name, microseconds from the verifier's first look to machine code; and at the end, as
 * "load", the milliseconds that all of it took.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "enforce.skel.h"
#include "kernel/engine.h"
#include "kernel/loader.h"

#define LOG_SIZE  65536
#define LOG_STATS 4 /* BPF_LOG_STATS */

static int complain(const char *what)
{
	fprintf(stderr, "verifier: cannot %s: %m\n", what);
	return 1;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args) _printf_(2, 0);

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static long number_after(const char *log, const char *word)
{
	const char *at = strstr(log, word);

	return at ? atol(at + strlen(word)) : -1;
}

/* That of the program which was refused: none comes after it. */
static void show_last_log(struct bpf_object *object)
{
	struct bpf_program *program;
	const char *last = "";

	bpf_object__for_each_program(program, object)
	{
		size_t size = 0;
		const char *log = bpf_program__log_buf(program, &size);

		if (log && log[0])
			last = log;
	}
	fprintf(stderr, "%s\n", last);
}

int main(void)
{
	struct bpf_program *program;
	struct enforce_bpf *skeleton;
	struct btf *types;
	uint64_t start;

	libbpf_set_print(quiet);
	types = btf__load_vmlinux_btf();
	if (engine_register() < 0)
		return complain("prepare the load of the engine");
	skeleton = enforce_bpf__open();
	if (!skeleton || !types)
		return complain("open the object");
	loader_choose_programs(skeleton->obj, types);
	bpf_object__for_each_program(program, skeleton->obj)
	{
		char *log = calloc(1, LOG_SIZE);

		if (!log || !bpf_program__autoload(program))
			continue;
		bpf_program__set_log_level(program, LOG_STATS);
		bpf_program__set_log_buf(program, log, LOG_SIZE);
	}
	engine_begin(skeleton->obj);
	start = clock_nsec(CLOCK_BOOTTIME);
	if (enforce_bpf__load(skeleton) < 0) {
		complain("load the programs");
		show_last_log(skeleton->obj);
		return 1;
	}
	start = clock_nsec(CLOCK_BOOTTIME) - start;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		size_t size = 0;
		const char *log = bpf_program__log_buf(program, &size);

		if (!log || !bpf_program__autoload(program))
			continue;
		printf("verifier\t%s\t%ld\t%ld\t%ld\n", bpf_program__name(program),
		       number_after(log, "processed "), number_after(log, "total_states "),
		       number_after(log, "peak_states "));
		printf("time\t%s\t%ld\n", bpf_program__name(program),
		       number_after(log, "verification time "));
	}
	printf("verifier\tload\t%.0f\t0\t0\n", (double)start / NSEC_PER_MSEC);
	return 0;
}
