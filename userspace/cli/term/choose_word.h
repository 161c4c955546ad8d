/* SPDX-License-Identifier: Apache-2.0 */
/* Words of which an option takes one. */
#ifndef CORDON_CLI_CHOOSE_WORD_H
#define CORDON_CLI_CHOOSE_WORD_H

#include <stddef.h>

/* The place of `word` in `words`. -EINVAL: it is none of them; says what `taker` ("--verdict") takes and which is near. */
int choose_word(const char *taker, const char *word, const char *const *words, size_t count);

#endif
