/* SPDX-License-Identifier: Apache-2.0 */
/* cordon log setup-keys, cordon log renew-keys */
#include <fcntl.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "audit/seal/seal.h"
#include "audit/storage/segment.h"
#include "base/clock.h"
#include "base/hex.h"
#include "cli/term/commands.h"
#include "cli/log/log_command.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"

/* A writer looks every second or so while it has anything to do. */
#define PATIENCE_NSEC (5 * NSEC_PER_SEC)
#define LOOK_NSEC     (50 * NSEC_PER_MSEC)

static const char setup_help[] =
	"usage: cordon log setup-keys [--log DIR]\n"
	"\n"
	"Begins to seal the log: what is recorded from now on, and what is there, is\n"
	"sealed every ten seconds while records come, when a segment is closed, and when\n"
	"the writer stops. A key seals once and is then erased, so that whoever takes\n"
	"this host later cannot write anew what was sealed before. Prints the\n"
	"verification key, this once: keep it away from this host, and give it to `cordon\n"
	"log verify` on another. A daemon that runs begins within a second.\n"
	"\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

static const char renew_help[] =
	"usage: cordon log renew-keys [--log DIR]\n"
	"\n"
	"Replaces the verification key of a log that is sealed: for one that was lost, or\n"
	"that somebody else may have read. Prints the new one, this once. The last seal\n"
	"of the old key names the new one, so the change is on record, and nobody can\n"
	"make it later without the key at hand. Keep the old key as long as records of\n"
	"its time are: `cordon log verify` takes both. A daemon that writes the log takes\n"
	"the new key up at once, otherwise the next one does.\n"
	"\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

/* The directory is its writer's, unless there was none yet. */
static int give_to_writer(int directory_fd, int fd)
{
	struct stat status;

	if (fstat(directory_fd, &status) < 0 || fchown(fd, status.st_uid, (gid_t)-1) < 0)
		return -errno;
	return 0;
}

/* A new verification key, and the first key that comes of it. */
static int draw_key(unsigned char verification[SEAL_KEY_SIZE], struct seal_key *ret_key)
{
	if (getrandom(verification, SEAL_KEY_SIZE, 0) != SEAL_KEY_SIZE)
		return -EIO;
	return seal_key_first(verification, ret_key);
}

/* False: nobody could read it. */
static bool print_key(const unsigned char verification[SEAL_KEY_SIZE],
		      const unsigned char id[SEAL_ID_SIZE], const char *directory)
{
	char text[SEAL_TEXT_SIZE], id_text[SEAL_ID_TEXT_SIZE];
	bool printed;

	seal_format(verification, text);
	puts(text);
	OPENSSL_cleanse(text, sizeof(text));
	printed = fflush(stdout) == 0;
	hex_encode(id, SEAL_ID_SIZE, id_text);
	if (printed)
		message("this is the verification key of %s, which its seals call %s. It is shown "
			"this once: keep it away from this host",
			directory, id_text);
	return printed;
}

static int store_first(int directory_fd, const struct seal_key *key)
{
	struct seal_file file = SEAL_FILE_INIT;
	int r = seal_file_create(directory_fd, key, &file);

	if (r == 0)
		r = give_to_writer(directory_fd, file.fd);
	seal_file_close(&file);
	return r;
}

/* Takes back what nobody could read. */
static int set_up(int directory_fd, const char *directory)
{
	unsigned char verification[SEAL_KEY_SIZE];
	struct seal_key key = {};
	int r = draw_key(verification, &key);

	if (r == 0)
		r = store_first(directory_fd, &key);
	if (r == -EEXIST) {
		message("%s is sealed already: its verification key was shown then, and is nowhere "
			"on this host. To replace it: cordon log renew-keys",
			directory);
	} else if (r < 0) {
		message("cannot write %s/%s: %s", directory, SEAL_FILE, strerror(-r));
	} else if (!print_key(verification, key.id, directory)) {
		message("the key could not be printed, so nothing will be sealed");
		(void)unlinkat(directory_fd, SEAL_FILE, 0);
		r = -EIO;
	}
	seal_key_erase(&key);
	OPENSSL_cleanse(verification, sizeof(verification));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int store_draft(int directory_fd, const struct seal_key *key)
{
	struct seal_file file = SEAL_FILE_INIT;
	int r = seal_next_draft(directory_fd, key, &file);

	if (r == 0)
		r = give_to_writer(directory_fd, file.fd);
	seal_file_close(&file);
	return r;
}

static bool is_there(int directory_fd, const char *name)
{
	return faccessat(directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Has the writer taken the new key up? */
static void tell_when_taken(int directory_fd, const char *directory)
{
	const uint64_t end = clock_nsec(CLOCK_MONOTONIC) + PATIENCE_NSEC;
	const struct timespec pause = {.tv_nsec = LOOK_NSEC};

	while (segment_has_writer(directory) && clock_nsec(CLOCK_MONOTONIC) < end &&
	       is_there(directory_fd, SEAL_NEXT))
		nanosleep(&pause, NULL);
	if (is_there(directory_fd, SEAL_NEXT))
		message("it takes the place of the old one when the log is written next");
	else
		message("it has taken the place of the old one");
}

/* Only what was printed is offered to the writer. */
static int renew(int directory_fd, const char *directory)
{
	unsigned char verification[SEAL_KEY_SIZE];
	struct seal_key key = {};
	int r;

	if (!is_there(directory_fd, SEAL_FILE)) {
		message("%s is not sealed: see `cordon log setup-keys --help`", directory);
		return EXIT_FAILURE;
	}
	if (is_there(directory_fd, SEAL_NEXT)) {
		message("%s has a new key already, which is taken up when the log is written next",
			directory);
		return EXIT_FAILURE;
	}
	r = draw_key(verification, &key);
	if (r == 0)
		r = store_draft(directory_fd, &key);
	if (r == 0 && !print_key(verification, key.id, directory)) {
		message("the key could not be printed, so the old one stays");
		(void)unlinkat(directory_fd, SEAL_DRAFT, 0);
		r = -EIO;
	} else {
		if (r == 0)
			r = seal_next_offer(directory_fd);
		if (r < 0)
			message("cannot write %s/%s: %s: the old key stays", directory, SEAL_NEXT,
				strerror(-r));
	}
	if (r == 0)
		tell_when_taken(directory_fd, directory);
	seal_key_erase(&key);
	OPENSSL_cleanse(verification, sizeof(verification));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, const char *help, const char **ret_directory)
{
	static const struct option options[] = {
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*ret_directory = DEFAULT_LOG_DIRECTORY;
	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'l':
			*ret_directory = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return 2;
		}
	}
	if (optind == argc)
		return -1;
	message("log %s takes no arguments", argv[0]);
	return 2;
}

static int open_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		message("cannot open %s: %s", directory, strerror(errno));
	return fd;
}

int log_command_setup_keys(int argc, char **argv)
{
	_cleanup_(closep) int fd = -1;
	const char *directory;
	int status = parse(argc, argv, setup_help, &directory);

	if (status >= 0)
		return status;
	if (mkdir(directory, 0750) < 0 && errno != EEXIST) {
		message("cannot create %s: %s", directory, strerror(errno));
		return EXIT_FAILURE;
	}
	fd = open_directory(directory);
	return fd < 0 ? EXIT_FAILURE : set_up(fd, directory);
}

int log_command_renew_keys(int argc, char **argv)
{
	_cleanup_(closep) int fd = -1;
	const char *directory;
	int status = parse(argc, argv, renew_help, &directory);

	if (status >= 0)
		return status;
	fd = open_directory(directory);
	return fd < 0 ? EXIT_FAILURE : renew(fd, directory);
}
