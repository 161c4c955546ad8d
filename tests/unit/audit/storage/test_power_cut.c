/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every change that the writer makes to the disk is recorded here, then a crash is pretended
 * between any two of them: what was synced is there, and of what was not, any part, torn anywhere.
 * The log must open, verify, and have every record that was synced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* In place of audit/storage/storage.c: does what that does, and takes notes. */
#define storage_create	       real_create
#define storage_append	       real_append
#define storage_overwrite      real_overwrite
#define storage_truncate       real_truncate
#define storage_sync	       real_sync
#define storage_sync_directory real_sync_directory
#define storage_rename	       real_rename
#define storage_remove	       real_remove
#include "userspace/audit/storage/storage.c"
#undef storage_create
#undef storage_append
#undef storage_overwrite
#undef storage_truncate
#undef storage_sync
#undef storage_sync_directory
#undef storage_rename
#undef storage_remove

#include "audit/storage/chain.h"
#include "audit/write/log.h"
#include "audit/seal/seal.h"
#include "audit/storage/segments.h"
#include "audit/seal/verify.h"
#include "base/io.h"

#define FILES_MAX 64
#define STEPS_MAX 4096
#define NAME_SIZE 48

static uint64_t seed = 0x13198a2e03707344ull;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

/* --- what was done ------------------------------------------------------------------------- */

enum step_kind {
	STEP_CREATE,
	STEP_WRITE, /* at an offset */
	STEP_TRUNCATE,
	STEP_SYNC,
	STEP_SYNC_DIRECTORY,
	STEP_RENAME,
	STEP_REMOVE,
};

struct step {
	enum step_kind kind;
	ino_t inode; /* files are known by their inode, names come and go */
	char name[NAME_SIZE], to[NAME_SIZE];
	char *data;
	size_t size;
	uint64_t offset;
	uint64_t promised; /* seq of the last record that is synced */
};

static struct step steps[STEPS_MAX];
static size_t step_count;
static bool recording;
static uint64_t promised;

static struct step *note(enum step_kind kind)
{
	struct step *step = &steps[step_count];

	assert_true(step_count < STEPS_MAX);
	*step = (struct step){.kind = kind, .promised = promised};
	step_count++;
	return step;
}

static ino_t inode_of(int fd, uint64_t *ret_size)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	if (ret_size)
		*ret_size = (uint64_t)status.st_size;
	return status.st_ino;
}

static void note_write(int fd, const void *data, size_t size, uint64_t offset)
{
	struct step *step = note(STEP_WRITE);

	step->inode = inode_of(fd, NULL);
	step->data = malloc(size + 1);
	memcpy(step->data, data, size);
	step->size = size;
	step->offset = offset;
}

int storage_create(int directory_fd, const char *name, int flags, mode_t mode)
{
	bool there = faccessat(directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	int fd = real_create(directory_fd, name, flags, mode);

	if (recording && fd >= 0 && !there) {
		struct step *step = note(STEP_CREATE);

		step->inode = inode_of(fd, NULL);
		snprintf(step->name, sizeof(step->name), "%s", name);
	}
	return fd;
}

ssize_t storage_append(int fd, const void *data, size_t size)
{
	uint64_t at = 0;
	ssize_t n;

	(void)inode_of(fd, &at);
	n = real_append(fd, data, size);
	if (recording && n > 0)
		note_write(fd, data, (size_t)n, at);
	return n;
}

int storage_overwrite(int fd, const void *data, size_t size, uint64_t offset)
{
	int r = real_overwrite(fd, data, size, offset);

	if (recording && r == 0)
		note_write(fd, data, size, offset);
	return r;
}

int storage_truncate(int fd, uint64_t size)
{
	int r = real_truncate(fd, size);

	if (recording && r == 0) {
		struct step *step = note(STEP_TRUNCATE);

		step->inode = inode_of(fd, NULL);
		step->offset = size;
	}
	return r;
}

int storage_sync(int fd)
{
	if (recording)
		note(STEP_SYNC)->inode = inode_of(fd, NULL);
	return 0;
}

int storage_sync_directory(int directory_fd)
{
	(void)directory_fd;
	if (recording)
		(void)note(STEP_SYNC_DIRECTORY);
	return 0;
}

int storage_rename(int directory_fd, const char *from, const char *to)
{
	int r = real_rename(directory_fd, from, to);

	if (recording && r == 0) {
		struct step *step = note(STEP_RENAME);

		snprintf(step->name, sizeof(step->name), "%s", from);
		snprintf(step->to, sizeof(step->to), "%s", to);
	}
	return r;
}

int storage_remove(int directory_fd, const char *name)
{
	int r = real_remove(directory_fd, name);

	if (recording && r == 0)
		snprintf(note(STEP_REMOVE)->name, NAME_SIZE, "%s", name);
	return r;
}

/* --- what a crash leaves ------------------------------------------------------------------ */

struct disk_file {
	ino_t inode;
	char *data;
	size_t size;
};

struct disk_name {
	char name[NAME_SIZE];
	ino_t inode;
};

struct disk {
	struct disk_file files[FILES_MAX];
	size_t file_count;
	struct disk_name names[FILES_MAX];
	size_t name_count;
};

static struct disk_file *file_of(struct disk *disk, ino_t inode)
{
	for (size_t i = 0; i < disk->file_count; i++)
		if (disk->files[i].inode == inode)
			return &disk->files[i];
	assert_true(disk->file_count < FILES_MAX);
	disk->files[disk->file_count] = (struct disk_file){.inode = inode};
	return &disk->files[disk->file_count++];
}

static struct disk_name *name_of(struct disk *disk, const char *name)
{
	for (size_t i = 0; i < disk->name_count; i++)
		if (strcmp(disk->names[i].name, name) == 0)
			return &disk->names[i];
	return NULL;
}

static void forget_name(struct disk *disk, const char *name)
{
	struct disk_name *found = name_of(disk, name);

	if (found)
		*found = disk->names[--disk->name_count];
}

static void set_name(struct disk *disk, const char *name, ino_t inode)
{
	forget_name(disk, name);
	assert_true(disk->name_count < FILES_MAX);
	snprintf(disk->names[disk->name_count].name, NAME_SIZE, "%s", name);
	disk->names[disk->name_count++].inode = inode;
}

static void resize(struct disk_file *file, size_t size)
{
	file->data = realloc(file->data, size + 1);
	if (size > file->size)
		memset(file->data + file->size, 0, size - file->size);
	file->size = size;
}

/* `part`: how much of what is written arrives; space may be allotted for all of it. */
static void apply(struct disk *disk, const struct step *step, size_t part, bool allotted)
{
	struct disk_file *file;
	struct disk_name *name;
	ino_t inode;

	switch (step->kind) {
	case STEP_CREATE:
		/* The inode may be one that was used before. */
		file = file_of(disk, step->inode);
		resize(file, 0);
		set_name(disk, step->name, step->inode);
		break;
	case STEP_WRITE: {
		size_t end = (size_t)step->offset + (allotted ? step->size : part);

		file = file_of(disk, step->inode);
		if (part == 0 && !allotted)
			break;
		if (end > file->size)
			resize(file, end);
		memcpy(file->data + step->offset, step->data, part);
		break;
	}
	case STEP_TRUNCATE:
		resize(file_of(disk, step->inode), (size_t)step->offset);
		break;
	case STEP_RENAME:
		name = name_of(disk, step->name);
		if (!name)
			break;
		inode = name->inode;
		forget_name(disk, step->name);
		set_name(disk, step->to, inode);
		break;
	case STEP_REMOVE:
		forget_name(disk, step->name);
		break;
	default:
		break;
	}
}

static bool is_of_directory(const struct step *step)
{
	return step->kind == STEP_CREATE || step->kind == STEP_RENAME || step->kind == STEP_REMOVE;
}

/* Was it synced before the crash? */
static bool is_durable(size_t index, size_t crash)
{
	for (size_t i = index + 1; i < crash; i++)
		if (is_of_directory(&steps[index])
			    ? steps[i].kind == STEP_SYNC_DIRECTORY
			    : steps[i].kind == STEP_SYNC && steps[i].inode == steps[index].inode)
			return true;
	return false;
}

enum loss {
	LOSS_NONE, /* of the process only: all that was done is there */
	LOSS_ALL,  /* all that was not synced is gone */
	LOSS_SOME, /* any of it is, and the rest torn */
};

/*
 * Within a file, and within the directory, what came first is there first; but a write may leave a
 * hole.
 */
static void replay(struct disk *disk, size_t crash, enum loss loss)
{
	bool directory_lost = false;
	ino_t lost[FILES_MAX];
	size_t lost_count = 0;

	for (size_t i = 0; i < crash; i++) {
		const struct step *step = &steps[i];
		bool gone = false, durable = loss == LOSS_NONE || is_durable(i, crash);

		for (size_t k = 0; k < lost_count && !is_of_directory(step); k++)
			gone |= lost[k] == step->inode;
		gone |= is_of_directory(step) && directory_lost;
		if (durable) {
			apply(disk, step, step->size, false);
			continue;
		}
		if (gone)
			continue;
		if (loss == LOSS_SOME && any(2)) {
			apply(disk, step, step->size, false);
			continue;
		}
		/* Here it breaks off. */
		if (loss == LOSS_SOME && step->kind == STEP_WRITE)
			apply(disk, step, any((uint32_t)step->size + 1), any(3) == 0);
		if (is_of_directory(step))
			directory_lost = true;
		else
			lost[lost_count++] = step->inode;
	}
}

static char directory[] = "/dev/shm/cordon-power-XXXXXX";

static void empty(void)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
}

static void put_on_disk(struct disk *disk)
{
	empty();
	for (size_t i = 0; i < disk->name_count; i++) {
		const struct disk_file *file = file_of(disk, disk->names[i].inode);
		char path[128];
		int fd;

		snprintf(path, sizeof(path), "%s/%s", directory, disk->names[i].name);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(io_write_all(fd, file->data ? file->data : "", file->size), 0);
		close(fd);
	}
	for (size_t i = 0; i < disk->file_count; i++)
		free(disk->files[i].data);
}

/* --- what is done ------------------------------------------------------------------------- */

/* The first, and those that take its place. */
#define KEYS 12
static unsigned char verification[KEYS][SEAL_KEY_SIZE];
static size_t key_count;

static struct seal_key make_key(void)
{
	unsigned char *key = verification[key_count++];
	struct seal_key first;

	memset(key, 0, SEAL_KEY_SIZE);
	key[0] = (unsigned char)key_count;
	assert_int_equal(seal_key_first(key, &first), 0);
	return first;
}

static uint64_t now = 1763683200000000000ull;

static uint64_t pretended_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? now : now - 1763683000000000000ull;
}

/* Compressing would be done in a thread, at times of its own: see test_seal.c. */
static const struct audit_log_options options = {
	.clock = pretended_clock,
	.segment_bytes = 1200,
	.seal_nsec = 10 * NSEC_PER_SEC,
	.keep_segments = 3,
};

static void append(struct audit_log *log, int number)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	char time[CLOCK_TEXT_SIZE];

	clock_format(now, time);
	record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:{s:i}}}", "@timestamp", time,
			   "event", "kind", "event", "action", "agent-test", "outcome", "success",
			   "cordon", "schema", 1, "agent", "number", number);
	assert_int_equal(audit_log_append(log, record), 0);
}

static struct audit_log *open_log(void)
{
	struct failure failure = {};
	struct audit_log *log = NULL;
	uint64_t repaired;

	if (audit_log_open(directory, &options, &log, &repaired, &failure) < 0)
		fail_msg("cannot go on: %s", failure.text);
	return log;
}

static char last_text[1024];

static void keep_text(void *data, const char *text)
{
	(void)data;
	snprintf(last_text, sizeof(last_text), "%s", text);
}

static struct verify_result verify(void)
{
	const struct verify_options verify_options = {
		.keys = (const unsigned char(*)[SEAL_KEY_SIZE])verification,
		.key_count = key_count,
		.problem = keep_text};
	struct verify_result result = {};
	struct failure failure = {};

	last_text[0] = '\0';
	if (verify_log(directory, &verify_options, &result, &failure) < 0)
		fail_msg("%s", failure.text);
	return result;
}

static void set_up_keys(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;

	key_count = 0;
	key = make_key();
	assert_int_equal(seal_file_create(fd, &key, &file), 0);
	seal_file_close(&file);
	close(fd);
}

/* As `cordon log renew-keys` does. */
static void renew_keys(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY), r;
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;

	if (key_count < KEYS) {
		key = make_key();
		assert_int_equal(seal_next_draft(fd, &key, &file), 0);
		seal_file_close(&file);
		r = seal_next_offer(fd);
		if (r < 0)
			assert_int_equal(r, -EEXIST);
	}
	close(fd);
}

/* A writer's work: batches, syncs, seals, keys replaced, segments closed and deleted. */
static void record_work(void)
{
	struct audit_log *log;

	empty();
	step_count = 0;
	recording = true;
	promised = 0;
	set_up_keys();
	log = open_log();
	for (int i = 0; i < 60; i++) {
		append(log, i);
		now += any(4000) * NSEC_PER_MSEC;
		if (any(3) == 0) {
			bool sync = any(2);

			assert_int_equal(audit_log_flush(log, sync), 0);
			if (sync) {
				recording = false;
				promised = verify().sequence;
				recording = true;
			}
		}
		if (any(10) == 0)
			renew_keys();
		(void)audit_log_tick(log);
	}
	audit_log_close(log);
	recording = false;
}

static uint64_t gaps_of_crashes(void)
{
	char command[200];
	FILE *out;
	unsigned long count = 0;

	snprintf(command, sizeof(command), "cat %s/*.jsonl | grep -c '\"of\":\"crash\"'",
		 directory);
	out = popen(command, "r");
	assert_int_equal(fscanf(out, "%lu", &count), 1);
	pclose(out);
	return count;
}

/* A new writer opens what is left, says what happened, and the log is whole. */
static void check_crash(size_t crash, enum loss loss)
{
	uint64_t had = crash > 0 ? steps[crash - 1].promised : 0;
	struct disk disk = {};
	struct verify_result result;
	struct audit_log *log;

	replay(&disk, crash, loss);
	put_on_disk(&disk);
	log = open_log();
	append(log, 1000);
	audit_log_close(log);
	result = verify();
	/* Before the key was on disk there is none to lose. */
	if (result.problems > 0 && result.seals > 0)
		fail_msg("crash at step %zu of %zu, loss %d: %s", crash, step_count, loss,
			 last_text);
	if (result.sequence <= had)
		fail_msg("crash at step %zu, loss %d: seq %lu was synced, the log ends with %lu",
			 crash, loss, had, result.sequence);
}

static void test_power_cuts(void **state)
{
	size_t crashes = 0, keys_replaced = 0;

	(void)state;
	for (int round = 0; round < 4; round++) {
		record_work();
		for (size_t crash = 0; crash <= step_count; crash++) {
			check_crash(crash, LOSS_NONE);
			check_crash(crash, LOSS_ALL);
			for (int i = 0; i < 4; i++)
				check_crash(crash, LOSS_SOME);
			crashes += 6;
		}
		for (size_t i = 0; i < step_count; i++)
			free(steps[i].data);
		keys_replaced += key_count - 1;
	}
	print_message("%zu crashes\n", crashes);
	assert_true(keys_replaced > 8);
}

/*
 * SIGKILL at any moment: what was written is there, and the next writer says that one was killed.
 */
static void test_killed(void **state)
{
	unsigned int told = 0;

	(void)state;
	for (int round = 0; round < 60; round++) {
		const struct timespec pause = {.tv_nsec = 1000000 + any(8000000)};
		struct verify_result result;
		pid_t pid;
		int status;

		empty();
		set_up_keys();
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			struct audit_log *log = open_log();

			for (int i = 0;; i++) {
				append(log, i);
				now += any(2000) * NSEC_PER_MSEC;
				if (any(3) == 0)
					(void)audit_log_flush(log, any(2));
				(void)audit_log_tick(log);
			}
		}
		nanosleep(&pause, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		now += 3600 * NSEC_PER_SEC;
		audit_log_close(open_log());
		result = verify();
		if (result.problems > 0 && result.seals > 0)
			fail_msg("round %d: %s", round, last_text);
		told += gaps_of_crashes() > 0;
	}
	/* All but those that came before the writer began. */
	assert_in_range(told, 1, 60);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	empty();
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_cuts),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
