// SPDX-License-Identifier: Apache-2.0
/* A stored policy decides as the policy did, and is rejected after a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/storage/policy_store.h"
#include "base/io.h"
#include "policy/ask/question.h"
#include "policy/compile/compile.h"

static const char source[] =
	"version: 1\n"
	"name: kept\n"
	"description: with \"quotes\" and \\u00e9\n"
	"files:\n"
	"  - {allow: [read], paths: [\"/usr/**\", \"${workdir}/**\"]}\n"
	"  - {deny: [all], paths: [\"**/.env\"], severity: high, tags: [a, b],\n"
	"     message: not this}\n";

/* Any group that is not the caller's. */
#define LOG_GROUP 65530

struct place {
	char directory[64], file[256];
	struct compiled_policy *policy;
};

static int setup(void **state)
{
	static const char *const nowhere[] = {NULL};
	const struct policy_search search = {.directories = nowhere};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct place *p = calloc(1, sizeof(*p));
	struct failure failure = {0};

	strcpy(p->directory, "/tmp/cordon-store-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	if (geteuid() == 0)
		assert_int_equal(chown(p->directory, (uid_t)-1, LOG_GROUP), 0);
	assert_int_equal(policy_compile_text(source, sizeof(source) - 1, "kept.yaml", &search, d,
					     &p->policy),
			 0);
	snprintf(p->file, sizeof(p->file), "%s/" POLICY_STORE_NAME "/%s", p->directory,
		 p->policy->digest_text);
	if (policy_store_put(p->directory, p->policy, &failure) < 0)
		fail_msg("%s", failure.text);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unlink(p->file);
	*strrchr(p->file, '/') = '\0';
	assert_int_equal(rmdir(p->file), 0);
	assert_int_equal(rmdir(p->directory), 0);
	compiled_policy_free(p->policy);
	free(p);
	return 0;
}

static uint32_t judge(const struct compiled_policy *policy, const char *right, const char *object)
{
	const char *directories[CORDON_MAX_ANCHORS] = {0};
	struct policy_question question;
	struct policy_answer answer;
	char error[QUESTION_ERROR_TEXT];

	assert_int_equal(question_read(policy, right, object, directories, &question, error), 0);
	assert_int_equal(question_judge(policy, &question, &answer), 0);
	question_release(&question);
	return answer.missing;
}

static void test_group_of_log_may_read(void **state)
{
	const struct place *p = *state;
	struct stat log, store, file;
	char folder[128];

	snprintf(folder, sizeof(folder), "%s/" POLICY_STORE_NAME, p->directory);
	assert_int_equal(stat(p->directory, &log), 0);
	assert_int_equal(stat(folder, &store), 0);
	assert_int_equal(stat(p->file, &file), 0);
	assert_int_equal(store.st_gid, log.st_gid);
	assert_int_equal(file.st_gid, log.st_gid);
	assert_int_equal(store.st_mode & 0777, 0750);
	assert_int_equal(file.st_mode & 0777, 0640);
}

static void test_decides_as_it_did(void **state)
{
	static const char *const objects[] = {"/usr/lib/x", "/usr/.env", "/etc/x", "${workdir}/a"};
	_cleanup_(compiled_policy_freep) struct compiled_policy *kept = NULL;
	struct place *p = *state;
	struct failure failure = {0};

	if (policy_store_get(p->directory, p->policy->digest_text, &kept, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_string_equal(kept->name, "kept");
	assert_string_equal(kept->description, p->policy->description);
	assert_string_equal(kept->digest_text, p->policy->digest_text);
	assert_int_equal(kept->rule_count, 2);
	assert_int_equal(kept->rules[1].line, 6);
	assert_string_equal(kept->rules[1].message, "not this");
	assert_string_equal(kept->rules[1].tags[1], "b");
	assert_null(kept->rules[0].severity);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		assert_int_equal(judge(kept, "read", objects[i]),
				 judge(p->policy, "read", objects[i]));
	assert_int_equal(judge(kept, "read", "/usr/lib/x"), 0);
	assert_int_not_equal(judge(kept, "read", "/usr/.env"), 0);
}

static void test_is_written_once(void **state)
{
	struct place *p = *state;
	struct stat before, after;

	assert_int_equal(stat(p->file, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0640);
	assert_int_equal(policy_store_put(p->directory, p->policy, NULL), 0);
	assert_int_equal(stat(p->file, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
}

/* Any byte of the file: noticed, or it changes nothing that decides. */
static void test_notices_changes(void **state)
{
	_cleanup_(freep) char *clean = NULL;
	struct place *p = *state;
	size_t size, refused = 0;

	assert_int_equal(io_read_file(AT_FDCWD, p->file, 1 << 20, &clean, &size), 0);
	for (size_t at = 0; at < size; at += 1 + size / 100) {
		_cleanup_(compiled_policy_freep) struct compiled_policy *kept = NULL;
		int fd = open(p->file, O_WRONLY | O_CLOEXEC);

		clean[at] ^= 0x10;
		assert_int_equal(io_write_all(fd, clean, size), 0);
		clean[at] ^= 0x10;
		close(fd);
		if (policy_store_get(p->directory, p->policy->digest_text, &kept, NULL) < 0)
			refused++;
		else
			assert_memory_equal(kept->tables, p->policy->tables,
					    p->policy->tables_size);
	}
	assert_true(refused > 0);
}

static void test_refuses(void **state)
{
	struct place *p = *state;
	struct compiled_policy *kept;
	char other[65], path[256];

	assert_int_equal(policy_store_get(p->directory, "../../etc/passwd", &kept, NULL), -EINVAL);
	memset(other, 'a', 64);
	other[64] = '\0';
	assert_int_equal(policy_store_get(p->directory, other, &kept, NULL), -ENOENT);
	/* A policy under another one's name. */
	snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME "/%s", p->directory, other);
	assert_int_equal(rename(p->file, path), 0);
	assert_int_equal(policy_store_get(p->directory, other, &kept, NULL), -EBADMSG);
	assert_int_equal(unlink(path), 0);
}

static void test_completes_digests(void **state)
{
	struct place *p = *state;
	char prefix[65], found[65], path[256], other[65];
	int fd;

	snprintf(prefix, sizeof(prefix), "%.8s", p->policy->digest_text);
	assert_int_equal(policy_store_complete(p->directory, prefix, found), 0);
	assert_string_equal(found, p->policy->digest_text);
	assert_int_equal(policy_store_complete(p->directory, found, found), 0);
	prefix[7] = '\0';
	assert_int_equal(policy_store_complete(p->directory, prefix, found), -EINVAL);
	assert_int_equal(policy_store_complete(p->directory, "python-sandbox", found), -EINVAL);
	assert_int_equal(policy_store_complete(p->directory, "../../../", found), -EINVAL);
	snprintf(other, sizeof(other), "%s", p->policy->digest_text);
	other[63] = other[63] == '0' ? '1' : '0';
	snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME "/%s", p->directory, other);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	other[60] = '\0';
	assert_int_equal(policy_store_complete(p->directory, other, found), -ENOTUNIQ);
	assert_int_equal(unlink(path), 0);
	other[0] = other[0] == '0' ? '1' : '0';
	assert_int_equal(policy_store_complete(p->directory, other, found), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_group_of_log_may_read),
		TEST(test_decides_as_it_did),
		TEST(test_is_written_once),
		TEST(test_notices_changes),
		TEST(test_refuses),
		TEST(test_completes_digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
