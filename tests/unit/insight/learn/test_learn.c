/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies learnt from records: what they are compared with is written by hand, and what they must
 * allow is asked by the words of `cordon policy explain`, apart from the code that learns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "insight/learn/learn.h"
#include "insight/learn/learn_names.h"
#include "insight/recording/replay.h"
#include "policy/ask/diff.h"
#include "policy/ask/question.h"

#define ROUNDS 150

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};
static const char *const shipped[] = {
	"runtime/c-toolchain", "runtime/coding-agent", "runtime/credentials",
	"runtime/git",	       "runtime/linux",	       "runtime/pip",
	"runtime/python3",     "runtime/shell",	       NULL};
static const char *const none[] = {NULL};

static const char *const ids[] = {"019aa3c4-11d2-7abc-8def-000000000001",
				  "019aa3c4-11d2-7abc-8def-000000000002",
				  "019aa3c4-11d2-7abc-8def-000000000003"};

/* --- records -------------------------------------------------------------------------------- */

struct log {
	struct recording *recording;
	json_int_t seq;
	size_t run;
};

static void log_add(struct log *log, json_t *record)
{
	assert_non_null(record);
	json_object_set_new(record, "seq", json_integer(++log->seq));
	assert_int_equal(recording_add(log->recording, record), 0);
	json_decref(record);
}

static void log_start(struct log *log, size_t run)
{
	if (!log->recording)
		log->recording = recording_new();
	log->run = run;
	log_add(log,
		json_pack("{s:{s:s}, s:{s:{s:s, s:s, s:s, s:{s:s, s:s, s:s}}, s:{s:s, s:s, s:s},"
			  " s:{s:[s, s]}}}",
			  "event", "action", "execution-start", "cordon", "execution", "id",
			  ids[run], "program", "python3", "mode", "observe", "directories",
			  "workdir", run ? "/srv/b/w" : "/srv/a/w", "tmp",
			  run ? "/tmp/cordon-b" : "/tmp/cordon-a", "home", "/root", "policy",
			  "name", "observe", "file", "observe.yaml", "digest", "00", "environment",
			  "kept", "PATH", "SECRET_TOKEN"));
}

static json_t *access_record(struct log *log, const char *action, const char *operation,
			     const char *kind, const char *text, const char *rights)
{
	json_t *list = json_array();
	char word[16];
	int n;

	for (const char *p = rights; sscanf(p, " %15[a-z-]%n", word, &n) == 1; p += n)
		json_array_append_new(list, json_string(word));
	return json_pack("{s:{s:s}, s:{s:I, s:s, s:s}, s:{s:{s:s}, s:s, s:{s:s, s:s}, s:o, s:s,"
			 " s:I}}",
			 "event", "action", action, "process", "pid", (json_int_t)7, "entity_id",
			 "7-1", "name", "python3", "cordon", "execution", "id", ids[log->run],
			 "operation", operation, "object", "kind", kind, "text", text, "rights",
			 list, "reason", "default", "repeats", (json_int_t)0);
}

static void log_access(struct log *log, const char *operation, const char *kind, const char *text,
		       const char *rights)
{
	log_add(log, access_record(log, "would-deny", operation, kind, text, rights));
}

static void log_path(struct log *log, const char *operation, const char *text, const char *rights)
{
	log_access(log, operation, "path", text, rights);
}

static void log_net(struct log *log, const char *operation, const char *right, const char *ip,
		    const char *transport, int port)
{
	json_t *record = access_record(log, "would-deny", operation, "net", "x", right);

	json_object_set_new(record, "destination", json_pack("{s:s, s:i}", "ip", ip, "port", port));
	json_object_set_new(record, "network", json_pack("{s:s}", "transport", transport));
	log_add(log, record);
}

static void log_end(struct log *log)
{
	recording_free(log->recording);
	*log = (struct log){0};
}

static void learn(const struct log *log, const char *const *fragments, bool include_credentials,
		  struct learned *ret)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct learn_options options = {.name = "learned",
					.search = &search,
					.fragments = fragments,
					.include_credentials = include_credentials};
	int r = learn_policy(log->recording, &options, d, ret);

	if (r < 0 || diagnostics_count(d)) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%d\n%s\n%s", r, why, r < 0 ? "" : ret->text);
	}
}

static struct compiled_policy *by_hand(const char *rules)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	struct compiled_policy *p = NULL;

	assert_true(asprintf(&text, "version: 1\nname: hand\n%s", rules) > 0);
	if (policy_compile_text(text, strlen(text), "hand.yaml", &search, d, &p) < 0) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s", why);
	}
	return p;
}

/* The learnt policy allows neither more nor less than the one written by hand. */
static void expect(struct log *log, const char *const *fragments, bool include_credentials,
		   const char *rules)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *hand = by_hand(rules);
	struct policy_difference differences[POLICY_DIFFERENCES];
	struct learned learned = {0};

	learn(log, fragments, include_credentials, &learned);
	assert_string_equal(learned.failures, "");
	assert_int_equal(policy_diff(hand, learned.policy, differences), 0);
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
		const struct policy_difference *x = &differences[i];

		if (x->change != SETTING_EQUAL)
			fail_msg("%s %s: + %s %s - %s %s\n%s", x->section, x->right,
				 x->wider.object ? x->wider.object : "",
				 x->wider.object ? x->wider.bindings : "",
				 x->narrower.object ? x->narrower.object : "",
				 x->narrower.object ? x->narrower.bindings : "", learned.text);
	}
	for (size_t i = 0; setting_name(i); i++)
		if (strncmp(setting_name(i), "process.", 8) == 0)
			assert_int_equal(setting_compare(hand, learned.policy, i), SETTING_EQUAL);
	policy_diff_release(differences);
	learned_release(&learned);
	log_end(log);
}

/* --- names ---------------------------------------------------------------------------------- */

static void test_patterns(void **state)
{
	static const struct {
		const char *name, *pattern;
		unsigned int flags;
	} cases[] = {
		{"report.csv", "report.csv", LEARN_CREATED},
		{"tmpa1_c2d3e", "tmp*", LEARN_CREATED},
		{"tmpa1_c2d3e", "tmpa1_c2d3e", 0},
		{"tmp.Xy12AbCd90.txt", "tmp.*.txt", LEARN_CREATED},
		{"sh-thd.Ab3dEf", "sh-thd.*", LEARN_CREATED},
		{"tmp_obj_Qk82hs", "tmp*", LEARN_CREATED},
		{"job-1234.log", "job-[0-9]*.log", LEARN_CREATED},
		{"job-12.log", "job-12.log", LEARN_CREATED},
		{"README2.md", "README2.md", LEARN_CREATED},
		{"index.lock", "index.lock", LEARN_CREATED},
		{"COMMIT_EDITMSG", "COMMIT_EDITMSG", LEARN_CREATED},
		{"tmp_code_0123456789abcdef0123456789abcdef.py", "tmp_code_*.py", 0},
		{"123e4567-e89b-12d3-a456-426614174000", "*", 0},
		{"x-123e4567-e89b-12d3-a456-426614174000.json", "x-*.json", 0},
		{"deadbeefcafe", "deadbeefcafe", 0},
		{"python3.11", "python3.*", LEARN_INSTALLED},
		{"python3.11", "python3.11", 0},
		{"libz.so.1.2.13", "libz.so.1.*", LEARN_INSTALLED},
		{"libc.so.6", "libc.so.6", LEARN_INSTALLED},
		{"foo-1.2.3.tar.gz", "foo-1.*.tar.gz", LEARN_INSTALLED},
		{"17", "[0-9]*", LEARN_NUMBERED},
		{"17", "17", 0},
		{"a*b?[c]{d}$", "a\\*b\\?\\[c\\]\\{d\\}\\$", 0},
		{"\xff\xc3\xa4", "\\xff\xc3\xa4", 0},
		{"a\xc3", "a\\xc3", 0},
		{"@(a)!(b)x(c)", "@\\(a)!\\(b)x(c)", 0},
	};
	_cleanup_(arena_freep) struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(learn_pattern(a, cases[i].name, strlen(cases[i].name),
						  cases[i].flags),
				    cases[i].pattern);
}

static void test_common(void **state)
{
	static const char *const dates[] = {"report-2024-01.csv", "report-2024-12.csv",
					    "report-2025-02.csv"};
	static const char *const nothing[] = {"alpha", "omegb"};
	static const char *const inside[] = {"aa", "aaa"};
	static const char *const bytes[] = {"a\\xff", "a\\xef"};
	_cleanup_(arena_freep) struct arena *a = arena_new();

	(void)state;
	assert_string_equal(learn_common(a, dates, 3), "report-*.csv");
	assert_string_equal(learn_common(a, nothing, 2), "*");
	assert_string_equal(learn_common(a, inside, 2), "aa*");
	assert_string_equal(learn_common(a, bytes, 2), "a*");
	assert_true(learn_is_wild("a[b]") && learn_is_wild("a*") && !learn_is_wild("a\\*\\[\\?"));
}

/* --- what is learnt ------------------------------------------------------------------------- */

static void test_exact(void **state)
{
	struct log log = {0};

	(void)state;
	log_start(&log, 0);
	log_path(&log, "open", "/etc/hosts", "read");
	log_path(&log, "open", "/srv/data/", "read");
	log_path(&log, "open", "/srv/a/w/in.csv", "read");
	log_path(&log, "create", "/srv/a/w/out.csv", "create");
	log_path(&log, "open", "/srv/a/w/out.csv", "write");
	log_path(&log, "open", "/proc/4711/status", "read");
	log_path(&log, "exec", "/usr/bin/python3.11", "run map");
	log_access(&log, "mmap", "special", "@anonymous", "map");
	log_net(&log, "connect", "connect", "203.0.113.7", "tcp", 443);
	log_net(&log, "send", "connect", "2001:db8::1", "udp", 53);
	log_net(&log, "listen", "listen", "127.0.0.1", "tcp", 40001);
	log_access(&log, "connect", "path", "/run/db.sock", "unix-connect");
	log_access(&log, "bind", "abstract", "x-123e4567-e89b-12d3-a456-426614174000", "unix-bind");
	log_access(&log, "socket", "socket", "netlink/raw/0", "socket");
	log_access(&log, "socket", "socket", "inet6/dgram/udp", "socket");
	log_access(&log, "capable", "number", "CAP_NET_BIND_SERVICE", "");
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [read], paths: [/etc/hosts, /srv/data/, '${workdir}/in.csv']}\n"
	       "  - {allow: [read], paths: [/proc/self/status]}\n"
	       "  - {allow: [write, create], paths: ['${workdir}/out.csv']}\n"
	       "exec:\n"
	       "  - {allow: [run, map], paths: ['/usr/bin/python3.*']}\n"
	       "  - {allow: [map], paths: ['@anonymous']}\n"
	       "network:\n"
	       "  - {allow: [connect], to: [203.0.113.7], ports: [443]}\n"
	       "  - {allow: [connect], to: ['2001:db8::1'], ports: [53], protocols: [udp]}\n"
	       "  - {allow: [listen], to: [127.0.0.1], ports: [32768-60999]}\n"
	       "  - {allow: [socket], families: [netlink], types: [raw], protocols: [0]}\n"
	       "unix:\n"
	       "  - {allow: [connect], paths: [/run/db.sock]}\n"
	       "  - {allow: [bind], abstract: ['x-*']}\n"
	       "process: {capabilities: [net_bind_service]}\n");
}

static void test_moves_get_one_set_of_rights(void **state)
{
	struct log log = {0};

	(void)state;
	log_start(&log, 0);
	log_path(&log, "create", "/srv/a/w/a.tmp", "create");
	log_path(&log, "open", "/srv/a/w/a.tmp", "write");
	log_path(&log, "rename", "/srv/a/w/a.tmp", "delete");
	log_path(&log, "rename", "/srv/a/w/a", "create");
	log_path(&log, "open", "/srv/a/w/a", "read");
	log_path(&log, "open", "/srv/a/w/b", "read");
	log_path(&log, "mkdir", "/srv/a/w/d", "create");
	log_path(&log, "create", "/srv/a/w/d/x", "create");
	log_path(&log, "rename", "/srv/a/w/d", "delete");
	log_path(&log, "rename", "/srv/a/w/e", "create");
	log_path(&log, "open", "/srv/a/w/e/x", "read");
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [all], paths: ['${workdir}/{a,a.tmp,d,e}', '${workdir}/{d,e}/**']}\n"
	       "  - {allow: [read], paths: ['${workdir}/b']}\n");
}

/* As git puts an object into its place. */
static void test_links(void **state)
{
	struct log log = {0};

	(void)state;
	log_start(&log, 0);
	log_path(&log, "create", "/srv/a/w/tmp_obj_Ab3dEf", "create");
	log_path(&log, "open", "/srv/a/w/tmp_obj_Ab3dEf", "write");
	log_path(&log, "link", "/srv/a/w/0123456789abcdef0", "create");
	log_path(&log, "unlink", "/srv/a/w/tmp_obj_Ab3dEf", "delete");
	log_path(&log, "open", "/srv/a/w/0123456789abcdef0", "read");
	log_path(&log, "open", "/srv/a/w/in", "read");
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [all], paths: ['${workdir}/*']}\n");
	log_start(&log, 0);
	log_path(&log, "create", "/srv/a/w/x.lock", "create");
	log_path(&log, "open", "/srv/a/w/x.lock", "write");
	log_path(&log, "link", "/srv/a/w/x", "create");
	log_path(&log, "unlink", "/srv/a/w/x.lock", "delete");
	log_path(&log, "open", "/srv/a/w/x", "read");
	log_path(&log, "open", "/srv/a/w/in", "read");
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [all], paths: ['${workdir}/{x,x.lock}']}\n"
	       "  - {allow: [read], paths: ['${workdir}/in']}\n");
}

/* Refused where rules tell names below the link from names below others apart. */
static void test_symbolic_links(void **state)
{
	struct log log = {0};
	char name[64];

	(void)state;
	for (size_t run = 0; run < 2; run++) {
		const char *top = run ? "/srv/b/w" : "/srv/a/w";

		log_start(&log, run);
		for (int i = 0; i < 4; i++) {
			snprintf(name, sizeof(name), "%s/d%c", top, 'a' + i);
			log_path(&log, "mkdir", name, "create");
			snprintf(name, sizeof(name), "%s/d%c/in", top, 'a' + i);
			log_path(&log, "create", name, "create");
		}
		snprintf(name, sizeof(name), "%s/t%s", top, run ? "entIHO" : "dzMVpt");
		log_path(&log, "symlink", name, "create");
		log_path(&log, "unlink", name, "delete");
	}
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [create], paths: ['${workdir}/{*,*/**}']}\n"
	       "  - {allow: [create, delete], paths: ['${workdir}/t*']}\n");
}

static void test_several_runs(void **state)
{
	struct log log = {0};

	(void)state;
	for (size_t run = 0; run < 2; run++) {
		log_start(&log, run);
		log_path(&log, "open", "/etc/hosts", "read");
		log_path(&log, "open", run ? "/srv/b/w/in" : "/srv/a/w/in", "read");
		log_path(&log, "create", run ? "/srv/b/w/night-blue.png" : "/srv/a/w/night-red.png",
			 "create");
		log_path(&log, "open", run ? "/opt/x/data/may.csv" : "/opt/x/data/june.csv",
			 "read");
		/* Nothing in common, and not below where the runs make files: both stay. */
		log_path(&log, "open", run ? "/etc/group" : "/etc/networks", "read");
		log_path(&log, "create", run ? "/tmp/cordon-b/q" : "/tmp/cordon-a/p", "create");
		log_path(&log, "open", run ? "/root/.cache/b" : "/root/.cache/a", "read");
	}
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [read], paths: ['${workdir}/in', /etc/hosts, /etc/group, /etc/networks]}\n"
	       "  - {allow: [read], paths: ['/opt/x/data/*.csv', '${home}/.cache/{a,b}']}\n"
	       "  - {allow: [create], paths: ['${workdir}/night-*.png', '${tmp}/**']}\n");
}

static void test_many(void **state)
{
	struct log log = {0};
	char name[64];

	(void)state;
	log_start(&log, 0);
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "/srv/data/in/%c", 'a' + i);
		log_path(&log, "open", name, "read");
		snprintf(name, sizeof(name), "/etc/%c", 'a' + i);
		log_path(&log, "open", name, "read");
		snprintf(name, sizeof(name), "/srv/a/w/out/%c", 'a' + i);
		log_path(&log, "create", name, "create");
		snprintf(name, sizeof(name), "192.0.2.%d", i);
		log_net(&log, "connect", "connect", name, "tcp", 80);
	}
	log_path(&log, "open", "/srv/data/in/secret", "read write");
	expect(&log, none, true,
	       "files:\n"
	       "  - {allow: [read], paths: ['/srv/data/in/*', '/etc/[a-i]']}\n"
	       "  - {allow: [read, write], paths: [/srv/data/in/secret]}\n"
	       "  - {allow: [create], paths: ['${workdir}/out/*']}\n"
	       "network: [{allow: [connect], to: [192.0.2.0/24], ports: [80]}]\n");
}

static void test_fragments(void **state)
{
	struct learned learned = {0};
	struct log log = {0};

	(void)state;
	log_start(&log, 0);
	log_path(&log, "exec", "/usr/bin/python3.11", "run map");
	log_path(&log, "mmap", "/usr/bin/python3.11", "map");
	log_path(&log, "open", "/usr/local/lib/python3.11/x.py", "read");
	log_path(&log, "open", "/usr/lib/a.so", "read");
	log_path(&log, "mmap", "/usr/lib/a.so", "map");
	log_path(&log, "open", "/etc/hosts", "read");
	log_path(&log, "exec", "/usr/bin/ls", "run map");
	log_path(&log, "create", "/srv/a/w/.git/hooks/x", "create");
	learn(&log, shipped, false, &learned);
	assert_non_null(strstr(learned.text, "  - runtime/linux  # 3 accesses, first in record 5"));
	assert_non_null(
		strstr(learned.text, "  - runtime/python3  # 3 accesses, first in record 2"));
	assert_non_null(strstr(learned.text, "  - runtime/credentials"));
	/*
	 * One program is no reason to allow all of them, and a fragment that denies what is needed
	 * none.
	 */
	assert_null(strstr(learned.text, "  - runtime/shell"));
	/* What joins others, or speaks of the work directory, is no choice. */
	assert_null(strstr(learned.text, "  - runtime/coding-agent"));
	assert_null(strstr(learned.text, "  - runtime/pip"));
	assert_null(strstr(learned.text, "  - runtime/git"));
	assert_non_null(strstr(learned.text, "- \"/usr/bin/ls\"  # 1 access, first in record 8, by "
					     "python3\n"));
	assert_non_null(strstr(learned.text, "SECRET_TOKEN"));
	assert_int_equal(learned.allowed, 8);
	assert_string_equal(learned.failures, "");
	learned_release(&learned);
	log_end(&log);
}

/* Who reads much in the compilers' directories has not compiled anything: these are not let run. */
static void test_fragments_of_what_ran(void **state)
{
	(void)state;
	for (int compiled = 0; compiled < 2; compiled++) {
		struct learned learned = {0};
		struct log log = {0};
		char name[64];

		log_start(&log, 0);
		for (int i = 0; i < 40; i++) {
			snprintf(name, sizeof(name), "/usr/include/h%d.h", i);
			log_path(&log, "open", name, "read");
		}
		if (compiled)
			log_path(&log, "exec", "/usr/bin/gcc", "run map");
		learn(&log, shipped, false, &learned);
		assert_int_equal(strstr(learned.text, "  - runtime/c-toolchain") != NULL, compiled);
		assert_string_equal(learned.failures, "");
		learned_release(&learned);
		log_end(&log);
	}
}

static void log_credentials(struct log *log)
{
	log_start(log, 0);
	log_path(log, "open", "/root/.ssh/id_rsa", "read");
	log_path(log, "open", "/root/notes", "read");
}

static void test_credentials(void **state)
{
	struct learned learned = {0};
	struct log log = {0};

	(void)state;
	log_credentials(&log);
	learn(&log, shipped, false, &learned);
	assert_int_equal(learned.credentials, 1);
	assert_int_equal(learned.allowed, 1);
	assert_non_null(strstr(learned.text, "#   [read] /root/.ssh/id_rsa  # 1 access, first in "
					     "record 2, by python3\n"));
	learned_release(&learned);
	log_end(&log);
	log_credentials(&log);
	expect(&log, none, false,
	       "include: [runtime/credentials]\n"
	       "files: [{allow: [read], paths: ['${home}/notes']}]\n");
	log_credentials(&log);
	expect(&log, none, true,
	       "files: [{allow: [read], paths: ['${home}/notes', '${home}/.ssh/id_rsa']}]\n");
}

/* What was not done, what no policy allows, and names that try to be more than names. */
static void test_what_is_left_out(void **state)
{
	struct learned learned = {0};
	struct log log = {0};
	json_t *record;

	(void)state;
	log_start(&log, 0);
	log_path(&log, "open", "/etc/a\nfiles:\n  - {allow: [all], paths: [/**]}", "read");
	log_add(&log, access_record(&log, "denial", "open", "path", "/etc/refused", "read"));
	record = access_record(&log, "would-deny", "mount", "number", "7", "");
	json_object_set_new(json_object_get(record, "cordon"), "reason", json_string("builtin"));
	json_object_set_new(json_object_get(record, "process"), "name", json_string("x\n- y"));
	log_add(&log, record);
	learn(&log, none, true, &learned);
	assert_int_equal(learned.allowed, 1);
	assert_int_equal(learned.impossible, 1);
	assert_string_equal(learned.failures, "");
	assert_int_equal(learned.policy->rule_count, 1);
	assert_non_null(strstr(learned.text, "\"/etc/a\\x0Afiles:\\x0A"));
	assert_non_null(
		strstr(learned.text, "#   mount 7  # 1 access, first in record 4, by x?- y\n"));
	assert_non_null(strstr(learned.text, "#   [read] /etc/refused"));
	learned_release(&learned);
	log_end(&log);
}

static void test_nothing(void **state)
{
	struct learn_options options = {.name = "learned", .search = &search, .fragments = none};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct learned learned = {0};
	struct log log = {0};

	(void)state;
	log_start(&log, 0);
	assert_int_equal(learn_policy(log.recording, &options, d, &learned), -ENODATA);
	log_end(&log);
}

/* Names without their mount are found below the variables. */
static void test_unmounted(void **state)
{
	const struct recorded_access *accesses;
	struct log log = {0};
	size_t count;

	(void)state;
	log_start(&log, 0);
	log_path(&log, "setattr", "/a/w/x", "write");
	log_path(&log, "setattr", "/srv/a/w/x", "write");
	log_path(&log, "setxattr", "/elsewhere/x", "write");
	accesses = recording_accesses(log.recording, &count);
	assert_int_equal(count, 3 - 1);
	assert_string_equal(accesses[0].bytes, "/srv/a/w/x");
	assert_int_equal(accesses[0].count, 2);
	assert_false(accesses[0].partial);
	assert_true(accesses[1].partial);
	log_end(&log);
}

/* --- the property --------------------------------------------------------------------------- */

static uint32_t random_state = 20261122;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

struct asked {
	size_t run;
	char right[16], object[256];
};

static const char *const anchors[][CORDON_MAX_ANCHORS] = {{"/srv/a/w", "/tmp/cordon-a", "/root"},
							  {"/srv/b/w", "/tmp/cordon-b", "/root"},
							  {"/srv/b/w", "/tmp/cordon-b", "/root"}};

static void random_name(char *name, size_t size, size_t run)
{
	static const char *const parts[] = {"a",	"b.txt",      "tmpx1y2z3w4",
					    "lib1.2.3", "c*d",	      "e\"f\\g",
					    "{h}",	"\xc3\xa4 b", "0123456789abcdef",
					    "out-1234", "x.lock",     "[i]$"};
	static const char *const tops[] = {"/etc", "/usr/lib", "/opt/app/data", "/root/x",
					   "/proc/77"};
	uint32_t top = random_below(8);
	size_t n;

	n = (size_t)snprintf(name, size, "%s",
			     top < 5	? tops[top]
			     : top == 5 ? anchors[run][CORDON_ANCHOR_TMP]
					: anchors[run][CORDON_ANCHOR_WORKDIR]);
	for (uint32_t depth = random_below(4); depth > 0; depth--)
		n += (size_t)snprintf(name + n, size - n, "/%s",
				      parts[random_below(ARRAY_SIZE(parts))]);
}

/* One that is no directory in another run, where a run makes files. */
static void random_link(char *name, size_t size, size_t run)
{
	size_t n = strlen(anchors[run][CORDON_ANCHOR_WORKDIR]);

	while (strncmp(name, anchors[run][CORDON_ANCHOR_WORKDIR], n) != 0)
		random_name(name, size - 8, run);
	n = strlen(name);
	snprintf(name + n, size - n, "/t%u", random_below(100));
}

static void random_path(struct log *log, struct asked *asked)
{
	static const struct {
		const char *operation, *rights;
	} kinds[] = {{"open", "read"},	   {"open", "write"},	 {"create", "create"},
		     {"unlink", "delete"}, {"exec", "run"},	 {"mmap", "map"},
		     {"rename", "delete"}, {"rename", "create"}, {"mkdir", "create"},
		     {"symlink", "create"}};
	uint32_t kind = random_below(ARRAY_SIZE(kinds));
	bool link = strcmp(kinds[kind].operation, "symlink") == 0;

	random_name(asked->object, sizeof(asked->object) - 8, log->run);
	if (link)
		random_link(asked->object, sizeof(asked->object), log->run);
	if (kind == 0 && random_below(3) == 0)
		strcat(asked->object, "/");
	snprintf(asked->right, sizeof(asked->right), "%s", link ? "symlink" : kinds[kind].rights);
	log_path(log, kinds[kind].operation, asked->object, kinds[kind].rights);
	if (strncmp(asked->object, "/proc/77", 8) == 0) {
		char rest[200];

		snprintf(rest, sizeof(rest), "%s", asked->object + 8);
		snprintf(asked->object, sizeof(asked->object), "/proc/self%s", rest);
	}
}

static void random_network(struct log *log, struct asked *asked)
{
	static const char *const rights[] = {"connect", "bind", "listen"};
	const char *transport = random_below(2) ? "tcp" : "udp";
	uint32_t right = random_below(3);
	bool v6 = random_below(3) == 0;
	int port = (int)random_below(65536);
	char address[64];

	snprintf(address, sizeof(address), v6 ? "2001:db8::%x" : "192.0.2.%u",
		 random_below(12) + 1);
	if (random_below(3) == 0)
		port = 443;
	snprintf(asked->right, sizeof(asked->right), "%s", rights[right]);
	snprintf(asked->object, sizeof(asked->object), v6 ? "%s:[%s]:%d" : "%s:%s:%d", transport,
		 address, port);
	log_net(log, rights[right], rights[right], address, transport, port);
}

static void random_other(struct log *log, struct asked *asked)
{
	static const char *const names[] = {"x", "tmp.Ab3dEfGh12", "a/b", "c*"};
	static const char *const sockets[] = {"netlink/raw/0", "inet/stream/tcp", "inet6/dgram/udp",
					      "packet/raw/3", "inet/dgram/icmp"};
	const char *name = names[random_below(ARRAY_SIZE(names))];
	bool bound = random_below(2);

	if (random_below(2)) {
		name = sockets[random_below(ARRAY_SIZE(sockets))];
		snprintf(asked->right, sizeof(asked->right), "socket");
		snprintf(asked->object, sizeof(asked->object), "%s", name);
		log_access(log, "socket", "socket", name, "socket");
		return;
	}
	snprintf(asked->right, sizeof(asked->right), bound ? "bind" : "connect");
	snprintf(asked->object, sizeof(asked->object), "abstract:%s", name);
	log_access(log, bound ? "bind" : "connect", "abstract", name,
		   bound ? "unix-bind" : "unix-connect");
}

static void ask(const struct learned *learned, const struct asked *asked)
{
	const char *bound[CORDON_MAX_ANCHORS] = {0};
	char error[QUESTION_ERROR_TEXT];
	struct policy_question q;
	struct policy_answer answer;

	memcpy(bound, anchors[asked->run], sizeof(bound));
	if (question_read(learned->policy, asked->right, asked->object, bound, &q, error) < 0)
		fail_msg("%s %s: %s", asked->right, asked->object, error);
	assert_int_equal(question_judge(learned->policy, &q, &answer), 0);
	question_release(&q);
	if (answer.missing)
		fail_msg("run %zu: %s %s\n%s", asked->run, asked->right, asked->object,
			 learned->text);
}

static void test_everything_recorded_is_allowed(void **state)
{
	static struct asked asked[400];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t runs = 1 + random_below(3), count = 0, each = 1 + random_below(120);
		const char *const *fragments = round % 3 ? none : shipped;
		struct learned learned = {0};
		struct log log = {0};

		for (size_t run = 0; run < runs; run++) {
			log_start(&log, run);
			for (size_t i = 0; i < each; i++, count++) {
				asked[count].run = run;
				switch (random_below(8)) {
				case 0:
					random_network(&log, &asked[count]);
					break;
				case 1:
					random_other(&log, &asked[count]);
					break;
				default:
					random_path(&log, &asked[count]);
				}
			}
		}
		learn(&log, fragments, false, &learned);
		assert_string_equal(learned.failures, "");
		assert_null(strstr(learned.cautions, "EXDEV"));
		for (size_t i = 0; i < count; i++)
			ask(&learned, &asked[i]);
		learned_release(&learned);
		log_end(&log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_common),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_moves_get_one_set_of_rights),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_symbolic_links),
		cmocka_unit_test(test_several_runs),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_fragments_of_what_ran),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_unmounted),
		cmocka_unit_test(test_everything_recorded_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
