/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page's part on the log's integrity. */
#include "base/hex.h"
#include "insight/text/html.h"
#include "insight/page/page_parts.h"

static void write_verdict(FILE *out, const struct page_integrity *i, uint64_t missing)
{
	const struct verify_result *r = &i->result;

	if (r->problems == 0) {
		fprintf(out,
			"<p class=\"note\"><strong>Intact.</strong> All %llu records of the log follow "
			"from each other; none was changed, dropped, added or moved.",
			(unsigned long long)r->records);
	} else {
		fprintf(out,
			"<p class=\"note bad\"><strong>Not intact.</strong> %llu places of the log are "
			"damaged or were altered; %llu records are in order. The first: ",
			(unsigned long long)r->problems, (unsigned long long)r->records);
		html_text(out, i->first_problem);
	}
	if (missing > 0)
		fprintf(out, " %llu events are known to be missing.", (unsigned long long)missing);
	fputs("</p>\n", out);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Valid seals prove nothing after the first damage. */
static void write_proof(FILE *out, const struct verify_result *r)
{
	unsigned long long behind = r->sequence - r->sealed;

	fprintf(out,
		"<p class=\"note%s\"><strong>%s.</strong> %llu seal%s, checked with the "
		"verification key, prove%s that nothing up to seq %llu was changed or cut "
		"off, not even by root. ",
		r->problems > 0 ? " bad" : "", r->problems > 0 ? "Sealed in part" : "Sealed",
		(unsigned long long)r->proven, plural(r->proven), r->proven == 1 ? "s" : "",
		(unsigned long long)r->sealed);
	if (r->problems > 0)
		fputs("The rest is not proven: the log is damaged.", out);
	else
		fprintf(out, "%llu record%s behind that %s only chained.", behind, plural(behind),
			behind == 1 ? "is" : "are");
	fputs("</p>\n", out);
}

/* With the key, the seals prove who wrote the log. Without it, the page states this limit. */
static void write_seals(FILE *out, const struct page_integrity *i)
{
	const struct verify_result *r = &i->result;

	if (r->seals == 0)
		fputs("<p class=\"note warn\"><strong>Not sealed.</strong> Any process that could "
		      "write the log's files could have replaced all of it: compare the last record "
		      "with a copy kept elsewhere.</p>\n",
		      out);
	else if (!i->with_key)
		fprintf(out,
			"<p class=\"note warn\"><strong>Sealed, but not checked.</strong> The log has %llu "
			"seal%s. With the verification key (<code>--key-file</code>) they prove that "
			"not even root changed the records that they cover.</p>\n",
			(unsigned long long)r->seals, plural(r->seals));
	else if (r->sealed == 0 && r->behind == 0)
		fputs("<p class=\"note bad\"><strong>No seal is good.</strong> Nothing is proven.</p>\n",
		      out);
	else if (r->sealed == 0)
		fputs("<p class=\"note bad\"><strong>Nothing is proven.</strong> The damage is "
		      "before the first seal.</p>\n",
		      out);
	else
		write_proof(out, r);
	if (i->with_key && r->behind > 0)
		fprintf(out,
			"<p class=\"soft\">Behind the damage, seals up to seq %llu are good: the records "
			"that are chained to them are as they were.</p>\n",
			(unsigned long long)r->behind);
}

static void write_notes(FILE *out, const struct page_integrity *i)
{
	if (i->note_count == 0)
		return;
	fputs("<ul class=\"soft\">\n", out);
	for (size_t k = 0; k < i->note_count; k++) {
		fputs("<li>", out);
		html_text(out, i->notes[k]);
		fputs("</li>\n", out);
	}
	if (i->result.notes > i->note_count)
		fprintf(out, "<li>and %llu more of the kind</li>\n",
			(unsigned long long)i->result.notes - i->note_count);
	fputs("</ul>\n", out);
}

void page_integrity_write(FILE *out, const struct page_integrity *integrity, uint64_t missing)
{
	const struct verify_result *r = &integrity->result;
	char chain[SHA256_TEXT_SIZE];

	fputs("<section aria-labelledby=\"integrity\">\n<h3 id=\"integrity\">Integrity of the "
	      "log</h3>\n",
	      out);
	if (!integrity->checked) {
		fputs("<p class=\"note warn\"><strong>Not checked.</strong> The log could not be read "
		      "to its end.</p>\n</section>\n",
		      out);
		return;
	}
	write_verdict(out, integrity, missing);
	write_seals(out, integrity);
	write_notes(out, integrity);
	hex_encode(r->chain, sizeof(r->chain), chain);
	fprintf(out,
		"<p class=\"soft\">The last of %llu records in %llu segment%s has seq %llu and chain "
		"value <code>%s</code>. Compare these with a copy kept elsewhere: a chain alone "
		"does not show that its end was cut off.</p>\n</section>\n",
		(unsigned long long)r->records, (unsigned long long)r->segments,
		plural(r->segments), (unsigned long long)r->sequence, chain);
}
