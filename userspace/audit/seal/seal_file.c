/* SPDX-License-Identifier: Apache-2.0 */
/* The file that holds the key of the next seal, and the one that holds the key to be used then. */
#include <endian.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/seal/seal.h"
#include "audit/storage/storage.h"

/* Each place has a block of its own, so that a torn write harms one only. */
#define PLACES	   2u
#define PLACE_SIZE 4096u

struct stored {
	char magic[16];
	uint64_t number; /* big-endian */
	unsigned char id[SEAL_ID_SIZE];
	unsigned char key[SEAL_KEY_SIZE];
	unsigned char digest[SHA256_SIZE]; /* of all before it */
};

static const char magic[16] = "cordon seal 1\n";

static int store(struct seal_file *file, unsigned int place)
{
	struct stored stored = {.number = htobe64(file->key.number)};
	int r;

	memcpy(stored.magic, magic, sizeof(magic));
	memcpy(stored.id, file->key.id, sizeof(stored.id));
	memcpy(stored.key, file->key.key, sizeof(stored.key));
	r = sha256_of(&stored, offsetof(struct stored, digest), stored.digest);
	if (r == 0)
		r = storage_overwrite(file->fd, &stored, sizeof(stored), place * PLACE_SIZE);
	if (r == 0)
		r = storage_sync(file->fd);
	OPENSSL_cleanse(&stored, sizeof(stored));
	return r;
}

static int erase(const struct seal_file *file, unsigned int place)
{
	static const struct stored nothing;
	int r = storage_overwrite(file->fd, &nothing, sizeof(nothing), place * PLACE_SIZE);

	return r < 0 ? r : storage_sync(file->fd);
}

/* 0: it holds a key; -EBADMSG: it does not. *ret_empty: nothing but zeros. */
static int load(int fd, unsigned int place, struct seal_key *ret_key, bool *ret_empty)
{
	static const struct stored nothing;
	struct stored stored = {};
	unsigned char digest[SHA256_SIZE];
	ssize_t n = pread(fd, &stored, sizeof(stored), place * PLACE_SIZE);
	int r = -EBADMSG;

	if (n < 0)
		return -errno;
	*ret_empty = memcmp(&stored, &nothing, sizeof(stored)) == 0;
	if (n == (ssize_t)sizeof(stored) && memcmp(stored.magic, magic, sizeof(magic)) == 0 &&
	    sha256_of(&stored, offsetof(struct stored, digest), digest) == 0 &&
	    memcmp(digest, stored.digest, sizeof(digest)) == 0 && stored.number != 0) {
		ret_key->number = be64toh(stored.number);
		memcpy(ret_key->id, stored.id, sizeof(ret_key->id));
		memcpy(ret_key->key, stored.key, sizeof(ret_key->key));
		r = 0;
	}
	OPENSSL_cleanse(&stored, sizeof(stored));
	return r;
}

/*
 * The newer of the two: the other one is of before a crash. *ret_spare: does the other need
 * erasing?
 */
static int load_newest(int fd, struct seal_key *ret_key, unsigned int *ret_place, bool *ret_spare)
{
	struct seal_key keys[PLACES] = {};
	bool empty[PLACES] = {};
	int r[PLACES];
	unsigned int newest;

	for (unsigned int i = 0; i < PLACES; i++) {
		r[i] = load(fd, i, &keys[i], &empty[i]);
		if (r[i] < 0 && r[i] != -EBADMSG)
			return r[i];
	}
	if (r[0] < 0 && r[1] < 0)
		return -EBADMSG;
	newest = r[0] < 0 || (r[1] == 0 && keys[1].number > keys[0].number);
	*ret_key = keys[newest];
	*ret_place = newest;
	*ret_spare = !empty[1 - newest];
	OPENSSL_cleanse(keys, sizeof(keys));
	return 0;
}

static int open_file(int directory_fd, const char *name, int flags)
{
	_cleanup_(closep) int fd =
		openat(directory_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? TAKE_FD(fd) : -EBADMSG;
}

static int create(int directory_fd, const char *name, const struct seal_key *key,
		  struct seal_file *ret_file)
{
	struct seal_file file = {.key = *key};
	struct seal_key found = {};
	unsigned int place;
	bool spare;
	int r;

	file.fd = storage_create(directory_fd, name, O_RDWR, 0600);
	if (file.fd < 0)
		return file.fd;
	/* A crash in here left one without a key. */
	r = load_newest(file.fd, &found, &place, &spare);
	seal_key_erase(&found);
	if (r == 0)
		r = -EEXIST;
	else if (r == -EBADMSG)
		r = fchmod(file.fd, 0600) < 0 ? -errno : store(&file, 0);
	/* So that the other place needs no more space when its turn comes. */
	if (r == 0)
		r = erase(&file, 1);
	if (r == 0)
		r = storage_sync_directory(directory_fd);
	if (r < 0) {
		seal_file_close(&file);
		return r;
	}
	*ret_file = file;
	seal_key_erase(&file.key);
	return 0;
}

int seal_file_create(int directory_fd, const struct seal_key *key, struct seal_file *ret_file)
{
	return create(directory_fd, SEAL_FILE, key, ret_file);
}

int seal_file_read(int directory_fd, struct seal_key *ret_key)
{
	_cleanup_(closep) int fd = open_file(directory_fd, SEAL_FILE, O_RDONLY);
	unsigned int place;
	bool spare;

	return fd < 0 ? fd : load_newest(fd, ret_key, &place, &spare);
}

static int open_key(int directory_fd, const char *name, struct seal_file *ret_file)
{
	struct seal_file file = SEAL_FILE_INIT;
	bool spare = false;
	int r;

	file.fd = open_file(directory_fd, name, O_RDWR);
	if (file.fd < 0)
		return file.fd;
	r = load_newest(file.fd, &file.key, &file.place, &spare);
	/* A crash came before the old key was erased. */
	if (r == 0 && spare)
		r = erase(&file, 1 - file.place);
	if (r < 0) {
		seal_file_close(&file);
		return r;
	}
	*ret_file = file;
	seal_key_erase(&file.key);
	return 0;
}

int seal_file_open(int directory_fd, struct seal_file *ret_file)
{
	return open_key(directory_fd, SEAL_FILE, ret_file);
}

int seal_file_advance(struct seal_file *file)
{
	struct seal_key before = file->key;
	int r = seal_key_advance(&file->key);

	if (r == 0)
		r = store(file, 1 - file->place);
	if (r < 0) {
		/* The old place still holds the old key, and is the one to go on with. */
		file->key = before;
		seal_key_erase(&before);
		return r;
	}
	seal_key_erase(&before);
	file->place = 1 - file->place;
	return erase(file, 1 - file->place);
}

void seal_file_close(struct seal_file *file)
{
	closep(&file->fd);
	file->fd = -1;
	seal_key_erase(&file->key);
}

/* --- the key to be used then -------------------------------------------------------------- */

int seal_next_draft(int directory_fd, const struct seal_key *key, struct seal_file *ret_file)
{
	int r = storage_remove(directory_fd, SEAL_DRAFT);

	return r < 0 && r != -ENOENT ? r : create(directory_fd, SEAL_DRAFT, key, ret_file);
}

int seal_next_offer(int directory_fd)
{
	int r;

	if (faccessat(directory_fd, SEAL_NEXT, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	r = storage_rename(directory_fd, SEAL_DRAFT, SEAL_NEXT);
	return r < 0 ? r : storage_sync_directory(directory_fd);
}

int seal_next_open(int directory_fd, struct seal_file *ret_file)
{
	return open_key(directory_fd, SEAL_NEXT, ret_file);
}

/* Until the file has the new key and nothing else, the other one keeps it. */
int seal_next_take(int directory_fd, struct seal_file *file, struct seal_file *next)
{
	int r = 0;

	if (memcmp(file->key.id, next->key.id, SEAL_ID_SIZE) != 0) {
		struct seal_file changed = *file;

		changed.key = next->key;
		changed.place = 1 - file->place;
		r = store(&changed, changed.place);
		if (r == 0)
			*file = changed;
		seal_key_erase(&changed.key);
	}
	if (r == 0)
		r = erase(file, 1 - file->place);
	for (unsigned int i = 0; r == 0 && i < PLACES; i++)
		r = erase(next, i);
	if (r == 0)
		r = storage_remove(directory_fd, SEAL_NEXT);
	if (r < 0 && r != -ENOENT)
		return r;
	seal_file_close(next);
	return storage_sync_directory(directory_fd);
}
