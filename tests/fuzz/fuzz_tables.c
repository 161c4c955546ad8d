/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged tables with a right digest: the check takes or refuses them, and the matcher runs over
 * them, checked or not, without leaving them.
 *
 * The input: a length and that many bytes of a name, then changes to the tables of a small policy,
 * each an offset (4 bytes) and a word (4 bytes).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/compile/compile.h"
#include "policy/ask/evaluate.h"
#include "policy/compile/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char policy[] = "version: 1\n"
			     "files:\n"
			     "  - {allow: [read], paths: [/usr/**, /etc/hosts]}\n"
			     "  - {deny: [all], paths: ['**/.env', '${workdir}/x']}\n"
			     "network:\n"
			     "  - {allow: [connect], to: [10.0.0.0/8], ports: [443]}\n";

static const struct compiled_policy *base(void)
{
	static struct compiled_policy *compiled;
	struct diagnostics *d;

	if (compiled)
		return compiled;
	d = diagnostics_new();
	if (!d || policy_compile_text(policy, strlen(policy), "base.yaml", NULL, d, &compiled) < 0)
		abort();
	diagnostics_free(d);
	return compiled;
}

static void apply(unsigned char *tables, size_t tables_size, const uint8_t *changes, size_t size)
{
	for (; size >= 8; changes += 8, size -= 8) {
		uint32_t offset;

		memcpy(&offset, changes, sizeof(offset));
		/* Most of the tables is padding: aim at what is not. */
		offset = offset % (offset & 0x80000000u ? 512 : (uint32_t)tables_size / 4) & ~3u;
		memcpy(tables + offset, changes + 4, 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct compiled_policy *p = base();
	_cleanup_(freep) unsigned char *tables = malloc(p->tables_size);
	struct cordon_policy_header *h = (void *)tables;
	struct cordon_verdict v;
	struct cordon_final f;
	size_t name_size;
	int checked;

	if (!tables || size < 1 || size - 1 < data[0])
		return 0;
	name_size = data[0];
	memcpy(tables, p->tables, p->tables_size);
	apply(tables, p->tables_size, data + 1 + name_size, size - 1 - name_size);
	if (tables_digest(tables, p->tables_size, h->digest) < 0)
		return 0;
	checked = policy_tables_check(tables, p->tables_size);
	for (unsigned int start = 0; start <= CORDON_START_COUNT; start++) {
		int r = policy_run(tables, p->tables_size, start, data + 1, name_size, &v, &f);

		if (checked == 0 && r < 0 && start < CORDON_START_COUNT)
			abort();
	}
	return 0;
}
