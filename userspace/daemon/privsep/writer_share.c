/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how much of a writer's queue one source of records has filled. */
#include "daemon/privsep/writer_share.h"

size_t writer_share_waiting(struct writer_share *share, uint64_t confirmed, size_t size)
{
	if (confirmed >= share->end) {
		*share = (struct writer_share){.mark = confirmed + size};
	} else if (confirmed >= share->mark) {
		share->earlier = share->since;
		share->since = 0;
		share->mark = confirmed + size;
	}
	return share->earlier + share->since;
}

void writer_share_add(struct writer_share *share, uint64_t end, size_t size)
{
	share->since += size;
	share->end = end;
}
