/* SPDX-License-Identifier: Apache-2.0 */
/* Of words that an option takes, one is chosen, or it is said which there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/term/choose_word.h"

static const char *const words[] = {"denied", "would-deny", "allowed"};

static int choose(const char *word, char **ret_said)
{
	int fds[2], kept = dup(STDERR_FILENO), chosen;
	size_t size;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	dup2(fds[1], STDERR_FILENO);
	chosen = choose_word("--verdict", word, words, ARRAY_SIZE(words));
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(fds[1]);
	assert_int_equal(io_read_all(fds[0], 1 << 12, ret_said, &size), 0);
	close(fds[0]);
	return chosen;
}

static void expect(int chosen, const char *said, const char *word)
{
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(choose(word, &text), chosen);
	assert_string_equal(text, said);
}

static void test_choose_word(void **state)
{
	(void)state;
	expect(0, "", "denied");
	expect(2, "", "allowed");
	expect(-EINVAL,
	       "cordon: --verdict takes denied, would-deny or allowed, not \"alowed\"; did you mean "
	       "\"allowed\"?\n",
	       "alowed");
	expect(-EINVAL, "cordon: --verdict takes denied, would-deny or allowed, not \"\"\n", "");
	expect(-EINVAL, "cordon: --verdict takes denied, would-deny or allowed, not \"nothing\"\n",
	       "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
