/* SPDX-License-Identifier: Apache-2.0 */
/* Ring bytes, whatever they are, make a record or an error; and a record can be shown. */
#include <stdint.h>

#include "insight/story/line.h"
#include "insight/export/report.h"
#include "insight/story/story.h"
#include "tests/unit/audit/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct style style = {.color = true, .unicode = true, .width = 80};
	static FILE *nowhere;
	struct audit_end end = {0};
	struct fixture f;
	json_t *record = NULL, *report;
	char *line;
	int r;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	fixture_init(&f);
	/* Both ways to show arguments, chosen by the input. */
	f.policy.arguments = size % 2 ? POLICY_ARGUMENTS_FULL : POLICY_ARGUMENTS_DIGEST;
	r = audit_record_event(&f.execution, data, size, FIXTURE_BOOT_OFFSET, &record);
	if (r < 0) {
		if (record || (r != -EBADMSG && r != -ENODATA))
			abort();
		return 0;
	}
	line = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);
	for (const char *c = line; *c; c++)
		if (*c < 0x20)
			abort();
	free(line);
	line_write(nowhere, &style, record);
	if (story_write(nowhere, &style, &record, 1) < 0)
		abort();
	report = report_build(&f.execution, &end, &record, 1);
	if (!report)
		abort();
	json_decref(report);
	json_decref(record);
	return 0;
}
