/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon report`: what happened, as a page to read, keep and hand on. */
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "audit/reader.h"
#include "base/clock.h"
#include "base/hex.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/message.h"
#include "cli/moment.h"
#include "cli/terminal.h"
#include "insight/page.h"
#include "insight/view.h"

static const char help[] =
	"usage: cordon report ID|last [-o FILE] [--log DIR]\n"
	"       cordon report --session S | --since T [--until T] [-o FILE]\n"
	"\n"
	"Writes a report as one HTML page that needs neither network nor script: summary, processes on a time\n"
	"line, what was refused by which rule and the smallest change that would allow it, files, network,\n"
	"environment, and whether the log is intact.\n"
	"\n"
	"  -o, --output FILE    write it there, not to standard output\n"
	"      --session S      all executions of a session\n"
	"      --since T, --until T   2026-11-22T03:11:00Z, 2026-11-22 03:11, 03:11, today, or 2h ago\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

struct request {
	const char *directory, *word, *session, *output;
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];
};

static void keep_first(void *data, const char *text)
{
	char **first = data;

	if (!*first)
		*first = strdup(text);
}

static void check_integrity(const char *directory, struct page_integrity *integrity, char **first)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_verification result;

	if (audit_reader_open(directory, &reader, NULL) < 0 ||
	    audit_reader_verify(reader, keep_first, first, &result, NULL) < 0)
		return;
	*integrity = (struct page_integrity){
		.checked = true,
		.records = result.records,
		.problems = result.problems,
		.segments = result.segments,
		.sequence = result.sequence,
		.first_problem = *first,
	};
	hex_encode(result.chain, sizeof(result.chain), integrity->chain);
}

/* A page in place of another one, or none at all. */
static int write_page(const struct page *page, const char *path)
{
	char fresh[PATH_MAX];
	FILE *out = stdout;
	int fd, r;

	if (!path) {
		r = page_write(out, page);
		return r < 0 ? r : 0;
	}
	if (snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh))
		return -ENAMETOOLONG;
	/* It tells what a host's agents do: not for everybody. */
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!out) {
		r = -errno;
		closep(&fd);
		return r;
	}
	r = page_write(out, page);
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(fresh);
	return r;
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
	char *first = NULL;
	int r = -ENOMEM;

	for (size_t i = 0; records && i < count; i++)
		records[i] = json_array_get(found, i);
	if (records) {
		check_integrity(q->directory, &page.integrity, &first);
		r = write_page(&page, q->output);
	}
	free(first);
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

	r = q->word ? find_execution(q->directory, q->word, &found, &status)
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
	message("--%s takes a time like 2026-11-22T03:11:00Z, 03:11, today or 2h, not \"%s\"",
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
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, r = 0;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) >= 0 && r == 0) {
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

	return status >= 0 ? status : report(&request);
}
