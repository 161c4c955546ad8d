/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon report`: what happened, as a page to read, keep and hand on. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "audit/seal/verify.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/walk.h"
#include "cli/term/commands.h"
#include "cli/log/find.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "cli/term/progress.h"
#include "cli/log/seal_keys.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/page/page.h"
#include "insight/text/view.h"

static const char help[] =
	"usage: cordon report ID|last [-o FILE] [--key-file FILE] [--log DIR]\n"
	"       cordon report --session S | --since T [--until T] [-o FILE] [--key-file\n"
	"       FILE]\n"
	"\n"
	"Writes a report as one HTML page that needs neither network nor script: summary,\n"
	"processes on a time line, what was denied by which rule and the smallest change\n"
	"that would allow it, files, network, environment, whether the log is intact, and\n"
	"with the verification key, what its seals prove.\n"
	"\n"
	"  -o, --output FILE    write it there, not to standard output\n"
	"      --session S      all executions of a session\n"
	"      --since T, --until T   2026-11-22T03:11:00Z, 2026-11-22 03:11, 03:11,\n"
	"                             today, or 2h ago\n"
	"      --key-file FILE  holds the verification key of the log's seals; -:\n"
	"                       standard input. May be given again, for a log whose key\n"
	"                       was replaced\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

/* More notes of verifying than this are counted, not told. */
#define NOTES_MAX 20u

struct request {
	const char *directory, *word, *session, *output;
	struct seal_keys keys;
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];
};

/* What verifying said. */
struct findings_kept {
	char *first_problem;
	char *notes[NOTES_MAX];
	size_t note_count;
};

static void keep_problem(void *data, const char *text)
{
	struct findings_kept *kept = data;

	if (!kept->first_problem)
		kept->first_problem = strdup(text);
}

static void keep_note(void *data, const char *text)
{
	struct findings_kept *kept = data;
	char *copy = kept->note_count < NOTES_MAX ? strdup(text) : NULL;

	if (copy)
		kept->notes[kept->note_count++] = copy;
}

static void forget(struct findings_kept *kept)
{
	free(kept->first_problem);
	for (size_t i = 0; i < kept->note_count; i++)
		free(kept->notes[i]);
}

static void check_integrity(const struct request *q, struct findings_kept *kept,
			    struct page_integrity *integrity)
{
	struct progress progress;
	const struct verify_options options = {
		.keys = q->keys.keys,
		.key_count = q->keys.count,
		.problem = keep_problem,
		.note = keep_note,
		.progress = progress_step,
		.progress_data = &progress,
		.data = kept,
	};
	int r;

	progress_begin(&progress, "checking the log", false);
	r = verify_log(q->directory, &options, &integrity->result, NULL);
	progress_end(&progress);
	if (r < 0)
		return;
	integrity->checked = true;
	integrity->with_key = q->keys.count > 0;
	integrity->first_problem = kept->first_problem;
	integrity->notes = (const char *const *)kept->notes;
	integrity->note_count = kept->note_count;
}

/*
 * A file beside the one that it is to replace. One that was left there is taken away, not opened:
 * code that ran there may have left a link, or a FIFO that would hold us up. It tells what a host's
 * agents do: not for everybody.
 */
static int open_beside(int directory_fd, const char *fresh)
{
	int fd;

	if (unlinkat(directory_fd, fresh, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(directory_fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	return fd < 0 ? -errno : fd;
}

static int replace(int directory_fd, const char *name, const char *text, size_t size)
{
	char fresh[NAME_MAX + sizeof(".new")];
	int fd, r;

	snprintf(fresh, sizeof(fresh), "%s.new", name);
	fd = open_beside(directory_fd, fresh);
	if (fd < 0)
		return fd;
	r = io_write_all(fd, text, size);
	if (close(fd) < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && renameat(directory_fd, fresh, directory_fd, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(directory_fd, fresh, 0);
	return r < 0 ? r : 0;
}

/* A page in place of another one, or none at all: whoever presses Ctrl-C finds no half of it. */
static int write_file(const struct page *page, int directory_fd, const char *name)
{
	_cleanup_(freep) char *text = NULL;
	sigset_t all, before;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r = out ? page_write(out, page) : -ENOMEM;

	if (out && fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0)
		return r;
	sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &before);
	r = replace(directory_fd, name, text, size);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

static int write_page(const struct page *page, const char *path)
{
	_cleanup_(closep) int directory_fd = -1;
	struct failure failure = {};
	const char *name;
	int r;

	if (!path) {
		r = page_write(stdout, page);
		return r < 0 ? r : 0;
	}
	r = walk_parent(AT_FDCWD, path, "the page's directory", &directory_fd, &name, &failure);
	if (r < 0 && failure.text[0])
		message("%s", failure.text);
	return r < 0 ? r : write_file(page, directory_fd, name);
}

static int make_page(const struct request *q, const json_t *found, const char *title)
{
	size_t count = json_array_size(found);
	json_t **records = calloc(count + 1, sizeof(*records));
	struct page page = {.title = title,
			    .directory = q->directory,
			    .version = CORDON_VERSION,
			    .time = clock_nsec(CLOCK_REALTIME),
			    .records = records,
			    .count = count};
	struct findings_kept kept = {};
	int r = -ENOMEM;

	for (size_t i = 0; records && i < count; i++)
		records[i] = json_array_get(found, i);
	if (records) {
		check_integrity(q, &kept, &page.integrity);
		r = write_page(&page, q->output);
	}
	forget(&kept);
	free(records);
	if (r < 0) {
		errno = -r;
		message("cannot write the report%s%s: %m", q->output ? " " : "",
			q->output ? q->output : "");
	}
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int report(const struct request *q)
{
	struct audit_query query = {
		.session = q->session,
		.since = q->since[0] ? q->since : NULL,
		.until = q->until[0] ? q->until : NULL,
	};
	_cleanup_(json_decrefp) json_t *found = NULL;
	_cleanup_(freep) char *title = NULL;
	int status = EXIT_SUCCESS, made, n, r;

	r = q->word ? find_execution(q->directory, q->word, NULL, &found, &status)
		    : find_all(q->directory, &query, &found, &status);
	if (r < 0)
		return 2;
	if (q->word)
		n = asprintf(&title, "Execution %s",
			     view_text(json_array_get(found, 0), "cordon.execution.id"));
	else if (q->session)
		n = asprintf(&title, "Session %s", q->session);
	else
		n = asprintf(&title, "From %.19s UTC%s%.19s", q->since, q->until[0] ? " to " : "",
			     q->until);
	if (n < 0) {
		title = NULL;
		message("out of memory");
		return EXIT_FAILURE;
	}
	made = make_page(q, found, title);
	made = terminal_finish(stdout, made);
	return made != EXIT_SUCCESS ? made : status;
}

static int take_moment(const char *option, const char *text, char moment[CLOCK_TEXT_SIZE])
{
	if (moment_parse(text, clock_nsec(CLOCK_REALTIME), moment) == 0)
		return 0;
	message("--%s takes a time like 2026-11-22T03:11:00Z, 03:11, today, yesterday or 2h, not \"%s\"",
		option, text);
	return -EINVAL;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct request *q)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"session", required_argument, NULL, 's'},
		{"since", required_argument, NULL, 'b'},
		{"until", required_argument, NULL, 'u'},
		{"key-file", required_argument, NULL, 'f'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, r = 0;

	while ((option = read_option(argc, argv, "o:h", options)) >= 0 && r == 0) {
		switch (option) {
		case 'o':
			q->output = optarg;
			break;
		case 's':
			q->session = optarg;
			break;
		case 'b':
			r = take_moment("since", optarg, q->since);
			break;
		case 'u':
			r = take_moment("until", optarg, q->until);
			break;
		case 'f':
			r = seal_keys_read(&q->keys, optarg) ? 0 : -EINVAL;
			break;
		case 'l':
			q->directory = optarg;
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	if (r < 0)
		return 2;
	if (optind < argc)
		q->word = argv[optind++];
	if (optind < argc || (q->word != NULL) == (q->session || q->since[0])) {
		message("report takes one id or `last`, or else --session or --since");
		fputs(help, stderr);
		return 2;
	}
	return -1;
}

int cmd_report(int argc, char **argv)
{
	struct request request = {.directory = DEFAULT_LOG_DIRECTORY};
	int status = parse(argc, argv, &request);

	if (status < 0)
		status = report(&request);
	seal_keys_erase(&request.keys);
	return status;
}
