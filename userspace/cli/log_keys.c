/* SPDX-License-Identifier: Apache-2.0 */
/* cordon log setup-keys */
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "audit/seal.h"
#include "cli/commands.h"
#include "cli/log_command.h"
#include "cli/message.h"
#include "cli/terminal.h"

static const char help[] =
	"usage: cordon log setup-keys [--log DIR]\n"
	"\n"
	"Begins to seal the log: what is recorded from now on, and what is there, is sealed every ten\n"
	"seconds while records come, when a segment is closed, and when the writer stops. A key seals\n"
	"once and is then erased, so that whoever takes this host later cannot write anew what was\n"
	"sealed before. Prints the verification key, this once: keep it away from this host, and give\n"
	"it to `cordon log verify` on another. A daemon that runs begins within a second.\n"
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

/* Prints first, and takes back what nobody could read. */
static int set_up(int directory_fd, const char *directory)
{
	unsigned char verification[SEAL_KEY_SIZE];
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key = {};
	char text[SEAL_TEXT_SIZE];
	int r = 0;

	if (getrandom(verification, sizeof(verification), 0) != (ssize_t)sizeof(verification))
		r = -EIO;
	if (r == 0)
		r = seal_key_first(verification, &key);
	if (r == 0)
		r = seal_file_create(directory_fd, &key, &file);
	if (r == 0)
		r = give_to_writer(directory_fd, file.fd);
	seal_file_close(&file);
	seal_key_erase(&key);
	if (r == -EEXIST) {
		message("%s is sealed already: its verification key was shown then, and is nowhere "
			"on this host. To begin anew, move the whole directory away while no daemon "
			"runs",
			directory);
	} else if (r < 0) {
		message("cannot write %s/%s: %s", directory, SEAL_FILE, strerror(-r));
	} else {
		seal_format(verification, text);
		puts(text);
		OPENSSL_cleanse(text, sizeof(text));
		if (fflush(stdout) != 0) {
			message("the key could not be printed, so nothing will be sealed");
			(void)unlinkat(directory_fd, SEAL_FILE, 0);
			r = -EIO;
		} else {
			message("this is the verification key of %s. It is shown this once: keep it "
				"away from this host",
				directory);
		}
	}
	OPENSSL_cleanse(verification, sizeof(verification));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int log_command_setup_keys(int argc, char **argv)
{
	static const struct option options[] = {
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	const char *directory = DEFAULT_LOG_DIRECTORY;
	_cleanup_(closep) int fd = -1;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'l':
			directory = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return 2;
		}
	}
	if (optind != argc) {
		message("log setup-keys takes no arguments");
		return 2;
	}
	if (mkdir(directory, 0750) < 0 && errno != EEXIST) {
		message("cannot create %s: %s", directory, strerror(errno));
		return EXIT_FAILURE;
	}
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		message("cannot open %s: %s", directory, strerror(errno));
		return EXIT_FAILURE;
	}
	return set_up(fd, directory);
}
