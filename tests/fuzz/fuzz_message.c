/* SPDX-License-Identifier: Apache-2.0 */
/* What a request reader that somebody has taken over may say to the daemon. */
#include <stdint.h>
#include <stdlib.h>

#include "control/message_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *message, *again;
	char *encoded;
	size_t length;

	if (message_decode((const char *)data, size, &message) < 0)
		return 0;
	/* What comes out is a message, and stays one. */
	if (message_encode(message, &encoded, &length) < 0 ||
	    message_decode(encoded, length, &again) < 0 || !json_equal(message, again))
		abort();
	free(encoded);
	json_decref(again);
	json_decref(message);
	return 0;
}
