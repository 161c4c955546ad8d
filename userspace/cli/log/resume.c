/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log on from a cursor that is kept in a file. */
#include "cli/log/resume.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/read/reader.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"

/* How often a log that is followed is looked at. */
#define FOLLOW_MSEC 200

/* So many records are read again, at most, by whoever could not note how far it was. */
#define SAVE_RECORDS 4096u

const char resume_help[] =
	"      --after SEQ           only records behind this one\n"
	"      --cursor FILE         go on behind what was read before, which FILE says,\n"
	"                            and note there how far that is; made if it is not\n"
	"                            there, and until then --after counts\n";

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

int resume_take_after(struct resume *resume, const char *text)
{
	char *end;

	errno = 0;
	resume->after = strtoull(text, &end, 10);
	if (errno || text[0] < '0' || text[0] > '9' || *end || resume->after > INT64_MAX) {
		message("--after takes the seq of a record, not \"%s\"", text);
		return -EINVAL;
	}
	resume->from = true;
	return 0;
}

/* What was printed and never noted comes again. */
static int cut_output(const json_t *noted)
{
	const json_t *output = json_object_get(noted, "output");
	const json_int_t size = json_integer_value(json_object_get(output, "size"));
	struct stat status;

	if (!output || fstat(STDOUT_FILENO, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_dev != (dev_t)json_integer_value(json_object_get(output, "device")) ||
	    status.st_ino != (ino_t)json_integer_value(json_object_get(output, "inode")) ||
	    status.st_size <= size)
		return 0;
	if (ftruncate(STDOUT_FILENO, size) == 0 && lseek(STDOUT_FILENO, 0, SEEK_END) == size)
		return 0;
	message("what was written behind the cursor cannot be taken out of the output: %s",
		strerror(errno));
	return -EIO;
}

static json_t *output_place(void)
{
	struct stat status;

	if (fstat(STDOUT_FILENO, &status) < 0 || !S_ISREG(status.st_mode))
		return NULL;
	/* A cursor that outlives a crash of the machine must not outlive what it speaks of. */
	(void)fdatasync(STDOUT_FILENO);
	return json_pack("{s:I, s:I, s:I}", "device", (json_int_t)status.st_dev, "inode",
			 (json_int_t)status.st_ino, "size", (json_int_t)status.st_size);
}

static int note(const struct resume *resume, const struct audit_cursor *place)
{
	json_t *object = audit_cursor_to_json(place), *output = output_place();
	int r;

	if (output)
		json_object_set_new(object, "output", output);
	r = audit_cursor_save(resume->cursor, object, true);
	json_decref(object);
	if (r < 0)
		message("cannot note in %s how far that was: %s", resume->cursor, strerror(-r));
	return r;
}

/* Where the file says to go on. */
static int read_place(const struct resume *resume, struct audit_cursor *ret_place)
{
	json_t *noted = NULL;
	int r = audit_cursor_load(resume->cursor, &noted);

	if (r == -ENOENT)
		return r;
	if (r == 0)
		r = audit_cursor_from_json(noted, ret_place);
	if (r == -EBADMSG)
		message("%s holds no cursor; name another file, or remove it to begin anew",
			resume->cursor);
	else if (r < 0)
		message("cannot read %s: %s", resume->cursor, strerror(-r));
	if (r == 0)
		r = cut_output(noted);
	json_decref(noted);
	return r;
}

/*
 * Where to go on. That it begins is noted, too: what comes out before the first cursor could not be
 * told from what was there.
 */
static int find_place(struct resume *resume, struct audit_cursor *ret_place)
{
	int r = -ENOENT;

	*ret_place = (struct audit_cursor){.sequence = resume->after};
	if (resume->cursor)
		r = read_place(resume, ret_place);
	resume->begun = !ret_place->known;
	if (r == -ENOENT)
		r = resume->cursor ? note(resume, ret_place) : 0;
	return r;
}

static int save(const struct resume *resume, const struct audit_reader *reader)
{
	struct audit_cursor place;

	if (fflush(stdout) != 0)
		return -ECANCELED;
	audit_reader_position(reader, &place);
	return resume->cursor && place.sequence > 0 ? note(resume, &place) : 0;
}

/* Waits a moment; false: whoever reads our output is gone. */
static bool pause_following(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO};

	return poll(&output, 1, FOLLOW_MSEC) <= 0 || !(output.revents & (POLLERR | POLLNVAL));
}

static int open_reader(const struct resume *resume, const struct audit_cursor *place,
		       struct audit_reader **ret_reader, uint64_t *ret_missing)
{
	bool told = false;

	for (;;) {
		struct failure failure = {};
		int r = audit_reader_open_after(resume->directory, place, ret_reader, ret_missing,
						&failure);

		if (r == 0)
			return 0;
		if (r != -ENOENT || !resume->follow || stopped) {
			if (!stopped)
				message("%s%s", failure.text,
					r == -ESTALE && resume->cursor
						? "; find out why, then remove the cursor's file to "
						  "begin anew"
						: "");
			return r;
		}
		if (!told)
			message("there is no log in %s yet; waiting", resume->directory);
		told = true;
		if (!pause_following())
			return r;
	}
}

/* All there is now. 0, or what keeps from reading on. */
static int drain(struct resume *resume, struct audit_reader *reader,
		 int (*visit)(void *data, json_t *record), void *data)
{
	unsigned int unsaved = 0;
	int r = 0;

	while (r == 0 && !stopped) {
		struct failure failure = {};
		json_t *record = NULL;

		r = audit_reader_next(reader, &record, &failure);
		if (r == -ENODATA)
			break;
		if (r < 0) {
			resume->problems++;
			message("%s", failure.text);
			r = r == -EBADMSG ? 0 : r;
		}
		if (r == 0 && record)
			r = visit(data, record);
		json_decref(record);
		if (r == 0 && ++unsaved % SAVE_RECORDS == 0)
			r = save(resume, reader);
	}
	if (r < 0 && r != -ENODATA)
		return r;
	return unsaved > 0 ? save(resume, reader) : 0;
}

int resume_run(struct resume *resume, int (*begin)(void *data),
	       int (*visit)(void *data, json_t *record), void *data)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct sigaction action = {.sa_handler = stop};
	struct audit_cursor place;
	uint64_t missing = 0;
	int r = find_place(resume, &place);

	if (r < 0)
		return 2;
	/* Leave at a whole line, with that noted. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	r = open_reader(resume, &place, &reader, &missing);
	if (r < 0)
		return stopped ? EXIT_SUCCESS : EXIT_FAILURE;
	if (missing > 0) {
		resume->problems++;
		message("%llu records behind seq %llu were deleted before they were read",
			(unsigned long long)missing, (unsigned long long)place.sequence);
	}
	r = begin ? begin(data) : 0;
	if (r == 0)
		r = drain(resume, reader, visit, data);
	while (r == 0 && resume->follow && !stopped && pause_following())
		r = drain(resume, reader, visit, data);
	/* Whoever reads has seen enough. */
	if (r == -ECANCELED)
		return terminal_finish(stdout, EXIT_SUCCESS);
	return terminal_finish(stdout,
			       r == 0 && resume->problems == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
