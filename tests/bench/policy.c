/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compiling and comparing policies costs: CPU time, the best of several rounds, since the rest
 * is the machine's other work. Policies are made up, always the same ones, in the shape of real
 * ones: directories with a few hundred different names, most rules for all below one, some denies
 * at any depth.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "policy/compile/compile.h"
#include "policy/ask/diff.h"

#define ROUNDS 5

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

/* --- policies ----------------------------------------------------------------------------- */

static void write_directory(FILE *out)
{
	static const char *const words[] = {"usr",	     "lib",	     "share",	"python3",
					    "site-packages", "data",	     "cache",	"home",
					    "config",	     "var",	     "opt",	"srv",
					    "bin",	     "include",	     "etc",	"test",
					    "model",	     "node_modules", "weights", "local"};
	uint32_t depth = 3 + random_below(4);

	while (depth--) {
		fprintf(out, "/%s", words[random_below(ARRAY_SIZE(words))]);
		if (random_below(10) < 7)
			fprintf(out, "%u", random_below(100));
	}
}

enum form {
	FORM_PLAIN,   /* three sets of rights, one rule in ten denies */
	FORM_RIGHTS,  /* any set of the five rights, half of the rules deny */
	FORM_ENDINGS, /* any set; nothing but endings, alternatives, classes and single characters */
};

static void write_ending(FILE *out)
{
	static const char *const endings[] = {
		"/*.%u",     "/*-%u*", "/{a,b,c}{,.d%u}/*.{py,so}", "/{lib,lib64}/x%u.so{,.[0-9]*}",
		"/job-%u-?", "/*/%u"};

	/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): those above */
	fprintf(out, endings[random_below(ARRAY_SIZE(endings))], random_below(100));
}

static void write_pattern(FILE *out, enum form form)
{
	static const char *const types[] = {"py", "so", "txt"};
	uint32_t kind = random_below(100);

	if (kind < 5)
		fputs("${workdir}", out);
	write_directory(out);
	if (form == FORM_ENDINGS)
		write_ending(out);
	else if (kind < 40)
		fputs("/**", out);
	else if (kind < 55)
		fputs("/*", out);
	else if (kind < 65)
		fprintf(out, "/*.%s", types[random_below(ARRAY_SIZE(types))]);
	else if (kind < 68)
		fputs("{,.d}/x[0-9]", out);
}

static void write_rights(FILE *out, enum form form)
{
	static const char *const sets[] = {"read", "read, write", "read, write, create, delete"};
	static const char *const rights[] = {"read", "write", "create", "delete", "metadata"};
	uint32_t some = 1 + random_below(31);
	const char *separator = "";

	if (form == FORM_PLAIN) {
		fputs(sets[random_below(ARRAY_SIZE(sets))], out);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		if (!(some >> i & 1))
			continue;
		fprintf(out, "%s%s", separator, rights[i]);
		separator = ", ";
	}
}

static void write_file_rules(FILE *out, uint32_t count, enum form form)
{
	uint32_t denied = form == FORM_PLAIN ? 10 : 50;

	fputs("files:\n", out);
	for (uint32_t i = 0; i < count; i++) {
		if (random_below(50) == 0) {
			bool all = form == FORM_PLAIN || random_below(2);

			fprintf(out, "  - {deny: [%s], paths: ['**/secret%u']}\n",
				all ? "all" : "write, create, delete", random_below(1000));
			continue;
		}
		fprintf(out, "  - {%s: [", random_below(100) < denied ? "deny" : "allow");
		write_rights(out, form);
		fputs("], paths: ['", out);
		write_pattern(out, form);
		fputs("']}\n", out);
	}
}

static void write_exec_rules(FILE *out, uint32_t count)
{
	fputs("exec:\n", out);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "  - {allow: [%s], paths: ['", random_below(2) ? "run" : "map");
		write_pattern(out, FORM_PLAIN);
		fputs("']}\n", out);
	}
}

static void write_unix_rules(FILE *out, uint32_t count)
{
	fputs("unix:\n", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs("  - {allow: [connect], paths: ['", out);
		write_directory(out);
		fputs("']}\n", out);
	}
}

static void write_network_rules(FILE *out, uint32_t count)
{
	fputs("network:\n", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs("  - {allow: [connect], to: [", out);
		if (random_below(3))
			fprintf(out, "%u.%u.%u.0/24", 1 + random_below(220), random_below(256),
				random_below(256));
		else
			fprintf(out, "'2001:db8:%x::/48'", random_below(65536));
		fprintf(out, "], ports: [%u, 8000-%u], protocols: [tcp]}\n", random_below(1000),
			8000 + random_below(500));
	}
}

/*
 * Of 1,000 mixed rules 600 are about files, 150 each about exec and network, 100 about unix
 * sockets.
 */
static char *make_policy(uint32_t rules, bool mixed, enum form form, uint32_t seed)
{
	uint32_t exec = mixed ? rules * 15 / 100 : 0, network = exec,
		 sockets = mixed ? rules / 10 : 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	random_state = seed;
	fputs("version: 1\n", out);
	write_file_rules(out, rules - exec - network - sockets, form);
	if (mixed) {
		write_exec_rules(out, exec);
		write_unix_rules(out, sockets);
		write_network_rules(out, network);
	}
	return fclose(out) == 0 ? text : NULL;
}

/* --- measuring ---------------------------------------------------------------------------- */

static struct compiled_policy *compile(const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *policy = NULL;
	int r = d ? policy_compile_text(text, strlen(text), "bench.yaml", NULL, d, &policy)
		  : -ENOMEM;

	if (r < 0) {
		_cleanup_(freep) char *why = d ? diagnostics_format(d, 0) : NULL;

		fprintf(stderr, "%.2000s\n", why ? why : strerror(-r));
		return NULL;
	}
	return policy;
}

static double used_msec(uint64_t since)
{
	return (double)(clock_nsec(CLOCK_PROCESS_CPUTIME_ID) - since) / NSEC_PER_MSEC;
}

static void print(const char *what, double msec, double budget, const struct compiled_policy *p)
{
	printf("{\"what\": \"%s\", \"value\": %.2f, \"unit\": \"ms\", \"budget\": %.0f", what, msec,
	       budget);
	if (p)
		printf(", \"note\": \"%u states, %zu KiB\"", compiled_policy_states(p),
		       p->tables_size / 1024);
	puts("}");
}

static int measure_compile(const char *what, uint32_t rules, bool mixed, enum form form,
			   double budget)
{
	_cleanup_(freep) char *text = make_policy(rules, mixed, form, 20261122);
	double best = 0;

	if (!text)
		return -ENOMEM;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = clock_nsec(CLOCK_PROCESS_CPUTIME_ID);
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile(text);
		double used = used_msec(start);

		if (!p)
			return -EINVAL;
		if (round == 0 || used < best)
			best = used;
		if (round == ROUNDS - 1)
			print(what, best, budget, p);
	}
	return 0;
}

/* `second` 0: the first policy with the last of its rules changed, as an edit would. */
static int measure_diff(const char *what, uint32_t second, double budget)
{
	_cleanup_(freep) char *x = make_policy(1000, true, FORM_PLAIN, 20261122);
	_cleanup_(freep) char *y = make_policy(1000, true, FORM_PLAIN, second ? second : 20261122);
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = NULL, *b = NULL;
	double best = 0;

	if (!x || !y)
		return -ENOMEM;
	if (!second)
		memcpy(strrchr(y, '['), "[ud", 3);
	a = compile(x);
	b = compile(y);
	if (!a || !b)
		return -EINVAL;
	for (int round = 0; round < ROUNDS; round++) {
		struct policy_difference differences[POLICY_DIFFERENCES];
		uint64_t start = clock_nsec(CLOCK_PROCESS_CPUTIME_ID);
		int r = policy_diff(a, b, differences);
		double used = used_msec(start);

		if (r < 0)
			return r;
		policy_diff_release(differences);
		if (round == 0 || used < best)
			best = used;
	}
	print(what, best, budget, NULL);
	return 0;
}

int main(void)
{
	struct rusage usage;
	int r = measure_compile("compile 1,000 mixed rules", 1000, true, FORM_PLAIN, 50);

	if (r == 0)
		r = measure_compile("compile 1,000 mixed rules, files by any rights", 1000, true,
				    FORM_RIGHTS, 50);
	if (r == 0)
		r = measure_compile("compile 10,000 path rules", 10000, false, FORM_PLAIN, 1000);
	if (r == 0)
		r = measure_compile("compile 10,000 path rules, any rights, half of them denies",
				    10000, false, FORM_RIGHTS, 1000);
	if (r == 0)
		r = measure_compile("compile 10,000 path rules, endings and alternatives", 10000,
				    false, FORM_ENDINGS, 1000);
	if (r == 0)
		r = measure_diff("diff of two policies of 1,000 rules, one edited", 0, 1000);
	if (r == 0)
		r = measure_diff("diff of two policies of 1,000 rules, nothing in common", 7, 1000);
	if (r < 0) {
		fprintf(stderr, "%s\n", strerror(-r));
		return 1;
	}
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("{\"what\": \"memory at most\", \"value\": %ld, \"unit\": \"MiB\"}\n",
	       usage.ru_maxrss / 1024);
	return 0;
}
