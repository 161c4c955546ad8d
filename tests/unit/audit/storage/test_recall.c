/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of a log says of one execution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "audit/storage/recall.h"

#define ID    "0190c3a1-7e2b-7d44-8b1f-0123456789ab"
#define OTHER "0190c3a1-7e2b-7d44-8b1f-0123456789ac"

#define RECORD(action, id, more)                                                                   \
	"{\"seq\":1,\"event\":{\"action\":\"" action "\"},\"cordon\":{\"execution\":{\"id\":\"" id \
	"\"}" more "},\"chain\":\"00\"}\n"

struct place {
	char directory[64], file[96];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	snprintf(place->directory, sizeof(place->directory), "/tmp/cordon-unit-recall-XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	snprintf(place->file, sizeof(place->file), "%s/current.jsonl", place->directory);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	unlink(place->file);
	rmdir(place->directory);
	free(place);
	return 0;
}

static void put(const struct place *place, const char *text)
{
	FILE *file = fopen(place->file, "a");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct recall recalled(const struct place *place)
{
	struct recall recall;

	assert_int_equal(recall_execution(place->directory, ID, NULL, NULL, &recall), 0);
	return recall;
}

static void test_nothing(void **state)
{
	struct place *place = *state;
	struct recall recall;

	assert_int_equal(recall_execution(place->directory, ID, NULL, NULL, &recall), -ENOENT);
	assert_int_equal(recall_execution("/nowhere/at/all", ID, NULL, NULL, &recall), -ENOENT);
	put(place, "");
	recall = recalled(place);
	assert_false(recall.started || recall.ended || recall.last_sequence);
}

static void add_up(uint64_t first, uint64_t last, void *context)
{
	uint64_t *sum = context;

	*sum += last - first + 1;
}

/* Which events are on record, or in a gap that is. */
static void test_visits(void **state)
{
	struct place *place = *state;
	struct recall recall;
	uint64_t events = 0;

	put(place, RECORD("execution-start", ID, ""));
	put(place, RECORD("denial", ID, ",\"sequence\":1"));
	put(place, RECORD("gap", ID, ",\"gap\":{\"of\":\"events\",\"after\":1,\"before\":5}"));
	put(place, RECORD("gap", ID, ",\"gap\":{\"of\":\"records\",\"after\":1,\"before\":99}"));
	put(place, RECORD("gap", ID, ",\"gap\":{\"of\":\"events\",\"after\":9,\"before\":3}"));
	put(place, RECORD("denial", ID, ",\"sequence\":6"));
	assert_int_equal(recall_execution(place->directory, ID, add_up, &events, &recall), 0);
	assert_int_equal(events, 5);
	assert_int_equal(recall.last_sequence, 6);
}

static void test_story(void **state)
{
	struct place *place = *state;
	struct recall recall;

	put(place,
	    RECORD("execution-start", OTHER, "") RECORD("denial", OTHER, ",\"sequence\":99"));
	recall = recalled(place);
	assert_false(recall.started || recall.ended || recall.last_sequence);
	put(place, RECORD("execution-start", ID, ""));
	recall = recalled(place);
	assert_true(recall.started && !recall.ended && !recall.last_sequence);
	put(place, RECORD("denial", ID, ",\"sequence\":3") RECORD("open", ID, ",\"sequence\":2"));
	recall = recalled(place);
	assert_true(recall.started && !recall.ended);
	assert_int_equal(recall.last_sequence, 3);
	put(place, RECORD("execution-end", ID, ""));
	recall = recalled(place);
	assert_true(recall.started && recall.ended);
}

/* A torn last line, one that is no record, and the id in another execution's record. */
static void test_not_deceived(void **state)
{
	struct place *place = *state;
	struct recall recall;

	put(place, "no record " ID "\n");
	put(place, RECORD("execution-end", OTHER, ",\"object\":\"" ID "\""));
	put(place,
	    "{\"event\":{\"action\":\"execution-start\"},\"cordon\":{\"execution\":{\"id\":\"" ID);
	recall = recalled(place);
	assert_false(recall.started || recall.ended || recall.last_sequence);
}

/* Of a long file the end is read, wherever in a line that begins. */
static void test_window(void **state)
{
	struct place *place = *state;
	struct recall recall;

	put(place, RECORD("execution-start", ID, ""));
	for (unsigned int i = 0; i < RECALL_WINDOW / 100; i++)
		put(place, RECORD("denial", OTHER, ",\"sequence\":7"));
	put(place, RECORD("execution-end", ID, ""));
	recall = recalled(place);
	assert_false(recall.started);
	assert_true(recall.ended);
}

/* Behind a segment that was closed a moment ago, plain or compressed. */
static void test_closed_segment(void **state)
{
	struct place *place = *state;
	char closed[128], compressed[132], text[] = RECORD("denial", ID, ",\"sequence\":9");
	struct recall recall;
	gzFile file;

	put(place, RECORD("execution-start", ID, ""));
	put(place, RECORD("denial", ID, ",\"sequence\":3"));
	snprintf(closed, sizeof(closed), "%s/00000000000000000005.jsonl", place->directory);
	assert_int_equal(rename(place->file, closed), 0);
	put(place, RECORD("execution-end", OTHER, ""));
	recall = recalled(place);
	assert_true(recall.started && !recall.ended);
	assert_int_equal(recall.last_sequence, 3);
	unlink(closed);
	snprintf(compressed, sizeof(compressed), "%s.gz", closed);
	file = gzopen(compressed, "wb");
	assert_non_null(file);
	for (unsigned int i = 0; i < 3 * RECALL_WINDOW / sizeof(text); i++)
		assert_int_equal(gzwrite(file, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(gzclose(file), Z_OK);
	recall = recalled(place);
	assert_true(!recall.started && !recall.ended);
	assert_int_equal(recall.last_sequence, 9);
	unlink(compressed);
}

/* Read once, it says of each what it would say if that was asked about alone. */
static void test_of_several(void **state)
{
	struct place *place = *state;
	struct recall_window *window;
	struct recall recall;
	char id[] = ID;

	put(place, RECORD("execution-start", OTHER, "") RECORD("execution-start", ID, ""));
	put(place, RECORD("denial", ID, ",\"sequence\":3,\"of\":{\"id\":\"" ID "\"}"));
	put(place, RECORD("execution-end", OTHER, ",\"of\":{\"id\":\"" ID "\"}"));
	put(place, "{\"id\":\"short\"}\n{\"id\":\"\n");
	assert_int_equal(recall_read(place->directory, &window), 0);
	recall_find(window, ID, NULL, NULL, &recall);
	assert_true(recall.started && !recall.ended);
	assert_int_equal(recall.last_sequence, 3);
	recall_find(window, OTHER, NULL, NULL, &recall);
	assert_true(recall.started && recall.ended && !recall.last_sequence);
	for (const char *last = "09bdefxyz"; *last; last++) {
		id[sizeof(id) - 2] = *last;
		recall_find(window, id, NULL, NULL, &recall);
		assert_int_equal(recall.started, *last == 'b');
	}
	recall_find(window, "short", NULL, NULL, &recall);
	assert_false(recall.started || recall.ended || recall.last_sequence);
	recall_window_free(window);
	recall_window_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_visits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_story, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_deceived, setup, teardown),
		cmocka_unit_test_setup_teardown(test_window, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closed_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_several, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
