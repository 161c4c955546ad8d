/* SPDX-License-Identifier: Apache-2.0 */
/* A suggested rule is one that the policy compiler takes, and that allows what was refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "audit/record/suggestion.h"
#include "tests/unit/audit/fixture.h"
#include "policy/compile/compile.h"
#include "policy/ask/evaluate.h"

#define BYTES(s) s, sizeof(s) - 1

struct sample {
	uint32_t operation, rights, kind;
	const void *object;
	size_t size;
	/* the question that the kernel asks, if it is not the object itself */
	enum cordon_start start;
	const char *question;
	size_t question_size; /* 0: up to its NUL */
};

static const unsigned char tcp4[] = {4, IPPROTO_TCP, 203, 0, 113, 7, 1, 0xbb};
static const unsigned char icmp4[] = {4, IPPROTO_ICMP, 203, 0, 113, 7, 0, 0};
static const unsigned char udp6[] = {6, IPPROTO_UDP, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0,
				     0, 0,	     0,	   0, 0,   0,	 0, 1, 0, 53};
static const unsigned char netlink[] = {AF_NETLINK, SOCK_RAW, 0, 15};
static const unsigned char packet[] = {AF_PACKET, SOCK_DGRAM, 8, 0};
static const unsigned char odd[] = {43, 5, 0, 0};

#define PATH_SAMPLE(right, path)                                                                   \
	{CORDON_OP_OPEN, CORDON_RIGHT(right), CORDON_OBJECT_PATH,                                  \
	 BYTES(path),	 CORDON_START_PATH,   NULL}

static const struct sample samples[] = {
	PATH_SAMPLE(CORDON_READ, "/etc/shadow"),
	PATH_SAMPLE(CORDON_READ, "/usr/lib/"),
	PATH_SAMPLE(CORDON_WRITE, "/tmp/a b\"c'd"),
	PATH_SAMPLE(CORDON_CREATE, "/tmp/*?[x]{a,b}!^-~"),
	PATH_SAMPLE(CORDON_DELETE, "/tmp/back\\slash${workdir}$"),
	PATH_SAMPLE(CORDON_READ, "/tmp/gr\xc3\xbc\xc3\x9f\xe4\xb8\xad\xf0\x9f\x98\x80"),
	PATH_SAMPLE(CORDON_READ, "/tmp/\x01\x1b\t\n\x7f"),
	PATH_SAMPLE(CORDON_READ, "/tmp/\xc2\x9b\xe2\x80\xae\xef\xbb\xbf\xf3\xa0\x81\x81"),
	PATH_SAMPLE(CORDON_READ, "/tmp/: # - & * ! | > % @ `"),
	PATH_SAMPLE(CORDON_RUN, "/usr/bin/curl"),
	PATH_SAMPLE(CORDON_MAP, "/usr/lib/libc.so.6"),
	PATH_SAMPLE(CORDON_UNIX_CONNECT, "/run/db.sock"),
	{CORDON_OP_MMAP, CORDON_RIGHT(CORDON_MAP), CORDON_OBJECT_SPECIAL, BYTES("@memfd"),
	 CORDON_START_PATH, NULL},
	{CORDON_OP_CONNECT, CORDON_RIGHT(CORDON_UNIX_CONNECT), CORDON_OBJECT_ABSTRACT,
	 BYTES("bus*"), CORDON_START_ABSTRACT, NULL},
	{CORDON_OP_OPEN, CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE), CORDON_OBJECT_PATH,
	 BYTES("/home/u/work/.git/hooks/x"), CORDON_START_ANCHOR, "/.git/hooks/x"},
	{CORDON_OP_OPEN, CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE), CORDON_OBJECT_PATH,
	 BYTES("/dev/ptmx"), CORDON_START_PATH, NULL},
	{CORDON_OP_CONNECT, CORDON_RIGHT(CORDON_NET_CONNECT), CORDON_OBJECT_NET, tcp4, sizeof(tcp4),
	 CORDON_START_NET, NULL},
	{CORDON_OP_CONNECT, CORDON_RIGHT(CORDON_NET_CONNECT), CORDON_OBJECT_NET, icmp4,
	 sizeof(icmp4), CORDON_START_NET, NULL},
	{CORDON_OP_BIND, CORDON_RIGHT(CORDON_NET_BIND), CORDON_OBJECT_NET, udp6, sizeof(udp6),
	 CORDON_START_NET, NULL},
	/* Looked up by name: some port has to be allowed. */
	{CORDON_OP_RESOLVE, CORDON_RIGHT(CORDON_NET_CONNECT), CORDON_OBJECT_HOST,
	 BYTES("a.example.org"), CORDON_START_NET, "\1\6org/example/a\0\1\273", 18},
	{CORDON_OP_SOCKET, CORDON_RIGHT(CORDON_SOCKET), CORDON_OBJECT_SOCKET, netlink,
	 sizeof(netlink), CORDON_START_SOCKET, NULL},
	{CORDON_OP_SOCKET, CORDON_RIGHT(CORDON_SOCKET), CORDON_OBJECT_SOCKET, packet,
	 sizeof(packet), CORDON_START_SOCKET, NULL},
	{CORDON_OP_SOCKET, CORDON_RIGHT(CORDON_SOCKET), CORDON_OBJECT_SOCKET, odd, sizeof(odd),
	 CORDON_START_SOCKET, NULL},
};

static struct compiled_policy *compile(const char *rule)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	struct policy_search search = {.directories = (const char *const[]){NULL}};
	_cleanup_(freep) char *text = NULL, *said = NULL;
	struct compiled_policy *policy = NULL;

	assert_true(asprintf(&text, "version: 1\nname: suggested\n%s\n", rule) > 0);
	if (policy_compile_text(text, strlen(text), "suggested.yaml", &search, diagnostics,
				&policy) < 0 ||
	    diagnostics_count(diagnostics) > 0) {
		said = diagnostics_format(diagnostics, 0);
		fail_msg("%s\n%s", text, said);
	}
	return policy;
}

static void check(const struct sample *sample)
{
	struct decoded_access access = {
		.operation = sample->operation,
		.rights = sample->rights,
		.object_kind = sample->kind,
		.object = sample->object,
		.object_length = sample->size,
		.object_total = (uint32_t)sample->size,
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	const void *question = sample->question ? sample->question : sample->object;
	size_t size = sample->question_size ? sample->question_size
		      : sample->question    ? strlen(sample->question)
					    : sample->size;
	struct suggestion suggestion;
	struct cordon_verdict verdict;
	struct cordon_final final;
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(suggestion_make(&f.execution, &access, CORDON_REASON_DEFAULT, &suggestion),
			 0);
	if (!suggestion.rule)
		fail_msg("no rule for %.*s: %s", (int)sample->size, (const char *)sample->object,
			 suggestion.why);
	policy = compile(suggestion.rule);
	assert_int_equal(policy_run(policy->tables, policy->tables_size, sample->start, question,
				    size, &verdict, &final),
			 0);
	if ((verdict.allow & ~verdict.deny & sample->rights) != sample->rights)
		fail_msg("not allowed by:\n%s", suggestion.rule);
	/* A rule names the address, be it the host's own. */
	assert_int_equal(verdict.allow & ~CORDON_RIGHT(CORDON_NET_HOST), sample->rights);
	suggestion_free(&suggestion);
}

static void test_rules_allow_what_was_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		check(&samples[i]);
}

static void test_process_settings_compile(void **state)
{
	static const __u64 capability = 12;
	static const struct cordon_process_object process = {.pid = 1};
	static const struct sample settings[] = {
		{CORDON_OP_CAPABLE, 0, CORDON_OBJECT_NUMBER, &capability, sizeof(capability), 0,
		 NULL},
		{CORDON_OP_USERNS, 0, CORDON_OBJECT_NONE, "", 0, 0, NULL},
		{CORDON_OP_TRACE, 0, CORDON_OBJECT_PROCESS, &process, sizeof(process), 0, NULL},
		{CORDON_OP_SIGNAL, 0, CORDON_OBJECT_PROCESS, &process, sizeof(process), 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct decoded_access access = {
			.operation = settings[i].operation,
			.object_kind = settings[i].kind,
			.object = settings[i].object,
			.object_length = settings[i].size,
			.object_total = (uint32_t)settings[i].size,
		};
		struct suggestion suggestion;
		struct fixture f;

		fixture_init(&f);
		assert_int_equal(suggestion_make(&f.execution, &access, CORDON_REASON_DEFAULT,
						 &suggestion),
				 0);
		assert_non_null(suggestion.rule);
		compiled_policy_free(compile(suggestion.rule));
		suggestion_free(&suggestion);
	}
}

/* What no policy allows on the host, one may allow in namespaces of the execution's own. */
static void test_no_policy_can(void **state)
{
	static const struct {
		uint32_t operation;
		bool inside;
	} refused[] = {{CORDON_OP_MOUNT, true}, {CORDON_OP_CHROOT, true}, {CORDON_OP_BPF, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const struct decoded_access access = {
			.operation = refused[i].operation,
			.object_kind = CORDON_OBJECT_NONE,
		};
		struct suggestion suggestion;
		struct fixture f;

		fixture_init(&f);
		assert_int_equal(suggestion_make(&f.execution, &access, CORDON_REASON_BUILTIN,
						 &suggestion),
				 0);
		assert_null(suggestion.rule);
		assert_non_null(strstr(suggestion.why, "no policy can allow this"));
		assert_true((strstr(suggestion.why, "namespaces: own") != NULL) ==
			    refused[i].inside);
		suggestion_free(&suggestion);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_allow_what_was_refused),
		cmocka_unit_test(test_process_settings_compile),
		cmocka_unit_test(test_no_policy_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
