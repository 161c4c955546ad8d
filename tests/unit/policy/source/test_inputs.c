/* SPDX-License-Identifier: Apache-2.0 */
/* What a compilation depends on is noticed when it changes, however it is hidden. */
#include "tests/unit/policy/support.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/source/inputs.h"

#define FRAGMENT "version: 1\nfragment: true\nfiles:\n  - {allow: [read], paths: [/aaaa]}\n"
#define POLICY                                                                                     \
	"version: 1\nname: test\ninclude: [part, %s]\nfiles:\n  - {allow: [read], paths: [/own]}\n"

/* Two directories that are searched, in this order. */
struct place {
	char directory[32];
	char first[64], second[64];
	char root[64], part[64], other[64];
};

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	static struct place p;
	char text[256];

	strcpy(p.directory, "/tmp/cordon-inputs-XXXXXX");
	if (!mkdtemp(p.directory))
		return -1;
	snprintf(p.first, sizeof(p.first), "%s/first", p.directory);
	snprintf(p.second, sizeof(p.second), "%s/second", p.directory);
	snprintf(p.root, sizeof(p.root), "%s/root.yaml", p.directory);
	snprintf(p.part, sizeof(p.part), "%s/part.yaml", p.directory);
	snprintf(p.other, sizeof(p.other), "%s/other.yaml", p.second);
	mkdir(p.first, 0700);
	mkdir(p.second, 0700);
	snprintf(text, sizeof(text), POLICY, "other");
	write_file(p.root, text);
	write_file(p.part, FRAGMENT);
	write_file(p.other, FRAGMENT);
	*state = &p;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	const struct place *p = *state;

	return nftw(p->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* What the caches say is the same, or nothing. */
static bool unchanged(const struct policy_inputs *inputs)
{
	int cached = policy_inputs_unchanged_in_caches(inputs);
	bool r = policy_inputs_unchanged(inputs);

	assert_true(cached < 0 || cached == r);
	return r;
}

static struct policy_inputs *compile(const struct place *p)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	const char *const directories[] = {p->first, p->second, NULL};
	struct policy_inputs *inputs = policy_inputs_new();
	const struct policy_search search = {.directories = directories, .inputs = inputs};

	assert_non_null(inputs);
	assert_false(unchanged(inputs));
	assert_int_equal(policy_compile(p->root, &search, d, &policy), 0);
	assert_true(unchanged(inputs));
	return inputs;
}

/* Other bytes, with nothing to be seen of it in the file's size, times and inode. */
static void alter(const char *path)
{
	struct stat before, after;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte;

	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(pread(fd, &byte, 1, before.st_size - 4), 1);
	byte++;
	assert_int_equal(pwrite(fd, &byte, 1, before.st_size - 4), 1);
	assert_int_equal(futimens(fd, (const struct timespec[]){before.st_atim, before.st_mtim}),
			 0);
	assert_int_equal(fstat(fd, &after), 0);
	close(fd);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

static void expect_noticed_alteration(const struct place *p, const char *path)
{
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);

	alter(path);
	assert_false(unchanged(inputs));
}

static void test_content(void **state)
{
	const struct place *p = *state;

	expect_noticed_alteration(p, p->root);
	expect_noticed_alteration(p, p->part);
	expect_noticed_alteration(p, p->other);
}

/* What another process has noted is noticed as what this one has. */
static void test_from_another_process(void **state)
{
	const struct place *p = *state;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p), *read = NULL;
	_cleanup_(freep) char *data = NULL;
	size_t size;
	FILE *to = open_memstream(&data, &size);
	struct parcel from;

	assert_non_null(to);
	policy_inputs_put(inputs, to);
	assert_int_equal(fclose(to), 0);
	for (size_t cut = 0; cut < size; cut++) {
		from = (struct parcel){data, cut};
		assert_int_equal(policy_inputs_take(&from, &read), -EPROTO);
	}
	from = (struct parcel){data, size};
	assert_int_equal(policy_inputs_take(&from, &read), 0);
	assert_int_equal(from.left, 0);
	assert_true(unchanged(read));
	alter(p->part);
	assert_false(unchanged(read));
}

/* As it was is as if nothing had been. */
static void test_back_and_forth(void **state)
{
	const struct place *p = *state;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);
	char text[256];

	write_file(p->root, "version: 1\nname: test\n");
	assert_false(unchanged(inputs));
	snprintf(text, sizeof(text), POLICY, "other");
	write_file(p->root, text);
	assert_true(unchanged(inputs));
}

static void test_absence(void **state)
{
	const struct place *p = *state;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);

	assert_int_equal(unlink(p->part), 0);
	assert_false(unchanged(inputs));
}

static void expect_noticed_appearance(const struct place *p, const char *directory)
{
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);
	char path[128];

	snprintf(path, sizeof(path), "%s/other.yaml", directory);
	write_file(path, FRAGMENT);
	assert_false(unchanged(inputs));
	unlink(path);
	assert_true(unchanged(inputs));
}

/* What would be found before that which was. */
static void test_appearance(void **state)
{
	const struct place *p = *state;

	expect_noticed_appearance(p, p->first);
	expect_noticed_appearance(p, p->directory);
}

/* The same bytes, but the name could mean a file by now that is included already. */
static void test_another_file(void **state)
{
	const struct place *p = *state;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);

	assert_int_equal(unlink(p->other), 0);
	assert_int_equal(link(p->part, p->other), 0);
	assert_false(unchanged(inputs));
}

/* A FIFO in a file's place must not hold anybody up. */
static void test_no_file(void **state)
{
	const struct place *p = *state;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);

	assert_int_equal(unlink(p->part), 0);
	assert_int_equal(mkfifo(p->part, 0600), 0);
	assert_false(unchanged(inputs));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Its files lie where nothing answers any more: that is not waited for. */
static void test_silent(void **state)
{
	const struct place *p = *state;
	_cleanup_(policy_inputs_freep) struct policy_inputs *inputs = compile(p);
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[80];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (device < 0 || mount("silent", p->directory, "fuse", 0, options) < 0) {
		closep(&device);
		skip();
	}
	alarm(60);
	assert_int_equal(policy_inputs_unchanged_in_caches(inputs), -EAGAIN);
	alarm(0);
	close(device);
	assert_int_equal(umount2(p->directory, MNT_DETACH), 0);
	assert_true(unchanged(inputs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_content),	   TEST(test_from_another_process),
		TEST(test_back_and_forth), TEST(test_absence),
		TEST(test_appearance),	   TEST(test_another_file),
		TEST(test_no_file),	   TEST(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
