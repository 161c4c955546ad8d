// SPDX-License-Identifier: Apache-2.0
/* Reports and exports: whole, and no text from a record becomes anything but text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/audit/fixture.h"
#include "insight/export/export.h"
#include "insight/text/html.h"
#include "insight/page/page.h"
#include "insight/text/view.h"

#define EVIL                                                                                       \
	"/tmp/<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x1b[2J\r\n"           \
	"\xe2\x80\xae\xc2\x9b"

struct run {
	struct fixture f;
	json_t *records[64];
	size_t count;
};

static void add(struct run *run, json_t *record)
{
	assert_non_null(record);
	json_object_set_new(record, "seq", json_integer((json_int_t)run->count + 1));
	run->records[run->count++] = record;
	run->f.clock += 1000000;
}

static void add_event(struct run *run, const struct fixture_event *e)
{
	json_t *record = NULL;

	assert_int_equal(audit_record_event(&run->f.execution, e->data, e->size,
					    FIXTURE_BOOT_OFFSET, &record),
			 0);
	add(run, record);
}

static void add_denial(struct run *run, const char *path, uint8_t reason, uint32_t repeats)
{
	struct fixture_denial d = {
		.pid = 10,
		.parent = 1,
		.comm = "</title><b>",
		.operation = CORDON_OP_OPEN,
		.rights = CORDON_RIGHT(CORDON_READ),
		.kind = CORDON_OBJECT_PATH,
		.object = path,
		.object_size = strlen(path),
		.reason = reason,
		.rule = 1,
		.repeats = repeats,
	};
	struct fixture_event e;

	fixture_denial(&run->f, &d, &e);
	add_event(run, &e);
}

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));
	static char *removed[] = {(char *)"AWS_SECRET<script>", (char *)"TOKEN", NULL};
	struct audit_end end = {.have_status = true, .duration_nsec = 1500000000, .denials = 9};
	struct fixture_event e;

	fixture_init(&run->f);
	run->f.execution.environment_removed = removed;
	run->f.execution.agent = (char *)"agent\"><script>";
	add(run, audit_record_start(&run->f.execution, FIXTURE_TIME));
	fixture_exec(&run->f, 10, 1, "/usr/bin/python3", "python3", "python3", 8, 0, &e);
	add_event(run, &e);
	add_denial(run, "/etc/hosts", CORDON_REASON_DEFAULT, 3);
	add_denial(run, EVIL, CORDON_REASON_DEFAULT, 0);
	add_denial(run, "=cmd|' /C calc'!A0", CORDON_REASON_RULE, 0);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME + 1500000000));
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	for (size_t i = 0; i < run->count; i++)
		json_decref(run->records[i]);
	free(run);
	return 0;
}

static const struct page_integrity altered = {
	.checked = true,
	.result = {.problems = 1},
	.first_problem = "<i>line 3</i>",
};

static char *page_with(const struct run *run, const struct page_integrity *integrity)
{
	const struct page page = {
		.title = "Session </h1><script>",
		.directory = "/var/log/<b>",
		.version = "1",
		.time = FIXTURE_TIME,
		.integrity = *integrity,
		.records = run->records,
		.count = run->count,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(page_write(out, &page), 0);
	fclose(out);
	return text;
}

static char *page_of(const struct run *run)
{
	return page_with(run, &altered);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

/* What is said of a log's seals follows from what was checked. */
static void test_integrity(void **state)
{
	static const char *const notes[] = {"the clock <b>went back</b>"};
	const struct {
		struct page_integrity integrity;
		const char *says;
	} cases[] = {
		{{.checked = false}, "<strong>Not checked.</strong>"},
		{{.checked = true}, "<strong>Not sealed.</strong>"},
		{{.checked = true, .result = {.seals = 2, .unchecked = 2}},
		 "<strong>Sealed, but not checked.</strong>"},
		{{.checked = true,
		  .with_key = true,
		  .result = {.seals = 2, .problems = 1},
		  .first_problem = "x"},
		 "<strong>No seal is good.</strong>"},
		{{.checked = true,
		  .with_key = true,
		  .result =
			  {.seals = 3, .unchecked = 1, .proven = 2, .sealed = 40, .sequence = 41}},
		 "2 seals, checked with the verification key, prove that nothing up to seq 40 was changed or "
		 "cut off, not even by root. 1 record behind that is only chained."},
		{{.checked = true,
		  .with_key = true,
		  .result = {.seals = 9,
			     .proven = 2,
			     .sealed = 40,
			     .sequence = 90,
			     .problems = 1,
			     .behind = 90},
		  .first_problem = "x"},
		 "prove that nothing up to seq 40 was changed or cut off, not even by root. The rest is not "
		 "proven: the log is damaged.</p>\n<p class=\"soft\">Behind the damage, seals up to seq 90 are"},
		{{.checked = true,
		  .with_key = true,
		  .result = {.seals = 9, .sequence = 90, .problems = 1, .behind = 90},
		  .first_problem = "x"},
		 "<strong>Nothing is proven.</strong>"},
		{{.checked = true, .notes = notes, .note_count = 1, .result = {.notes = 3}},
		 "<li>the clock &lt;b&gt;went back&lt;/b&gt;</li>\n<li>and 2 more of the kind</li>"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = page_with(*state, &cases[i].integrity);

		assert_has(text, cases[i].says);
	}
}

static bool is_void_element(const char *name, size_t size)
{
	static const char *const names[] = {"meta", "line", "rect", "path", "circle", "!DOCTYPE"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return true;
	return false;
}

/* Every element that opens is closed, in order; only known ones are there. */
static void assert_balanced(const char *html)
{
	static const char *const known[] = {
		"html",	   "head",  "body",   "title", "style",	 "header", "main",    "section",
		"article", "nav",   "footer", "h1",    "h2",	 "h3",	   "h4",      "p",
		"a",	   "code",  "pre",    "q",     "strong", "span",   "ul",      "ol",
		"li",	   "b",	    "dl",     "dt",    "dd",	 "div",	   "table",   "caption",
		"thead",   "tbody", "tr",     "th",    "td",	 "svg",	   "g",	      "text",
		"desc",	   "path",  "line",   "rect",  "circle", "meta",   "!DOCTYPE"};
	const char *open[64];
	size_t depth = 0;

	for (const char *at = html; (at = strchr(at, '<')); at++) {
		bool closing = at[1] == '/', found = false;
		const char *name = at + 1 + closing;
		size_t size = strcspn(name, " />\n");
		const char *end = strchr(at, '>');

		assert_non_null(end);
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			found |= strlen(known[i]) == size && memcmp(known[i], name, size) == 0;
		if (!found)
			fail_msg("an unknown element: %.60s", at);
		if (closing) {
			assert_true(depth > 0);
			depth--;
			if (strncmp(open[depth], name, size) != 0)
				fail_msg("%.20s is closed by %.20s", open[depth], name);
		} else if (end[-1] != '/' && !is_void_element(name, size)) {
			assert_true(depth < ARRAY_SIZE(open));
			open[depth++] = name;
		}
		at = end;
	}
	assert_int_equal(depth, 0);
}

static void test_page_is_whole(void **state)
{
	char *text = page_of(*state);

	assert_balanced(text);
	assert_has(text, "<html lang=\"en\">");
	assert_has(text, "default-src 'none'");
	assert_has(text, "<main id=\"content\">");
	assert_has(text, "href=\"#content\"");
	assert_has(text, "<b>9</b><span>accesses denied");
	assert_has(text, "Not intact.");
	assert_has(text, "deny all **/.env");
	assert_has(text, "policies/python-sandbox.yaml:31");
	assert_has(text, "secrets stay where they are");
	assert_has(text, "{allow: [read], paths: [&quot;/etc/hosts&quot;]}");
	assert_has(text, "<strong>&times;4</strong>");
	assert_has(text, "Environment removed");
	assert_has(text, "scope=\"col\"");
	/* Nothing from elsewhere, and no script. */
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<link"));
	assert_null(strstr(text, "url("));
	assert_null(strstr(text, " src=\""));
	free(text);
}

static void test_page_is_harmless(void **state)
{
	char *text = page_of(*state);

	for (const char *c = text; *c; c++)
		assert_false((unsigned char)*c < 0x20 && *c != '\n');
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "<img"));
	assert_has(text, "&lt;script&gt;alert(1)&lt;/script&gt;");
	assert_has(text, "\\u{202e}");
	free(text);
}

/* Thousands of refused files of two kinds of places, and what matters behind them. */
static void add_noise(struct run *run, json_t **records, size_t *count, size_t noise)
{
	for (size_t i = 0; i < noise; i++) {
		char path[64];

		snprintf(path, sizeof(path), i % 2 ? "/usr/share/doc/%zu" : "/srv/%zu/x", i);
		add_denial(run, path, CORDON_REASON_DEFAULT, 0);
		records[(*count)++] = run->records[--run->count];
	}
	add_denial(run, "/etc/shadow", CORDON_REASON_RULE, 0);
	records[(*count)++] = run->records[--run->count];
}

static void test_page_of_much(void **state)
{
	enum { NOISE = 20000 };
	struct run *run = *state;
	json_t **records = calloc(NOISE + 2, sizeof(*records));
	struct page page = {.title = "much", .directory = "/", .version = "1", .records = records};
	size_t size, held = run->count;
	char *text = NULL;
	FILE *out;

	records[page.count++] = json_incref(run->records[0]);
	add_noise(run, records, &page.count, NOISE);
	run->count = held;
	out = open_memstream(&text, &size);
	assert_int_equal(page_write(out, &page), 0);
	fclose(out);
	assert_balanced(text);
	assert_has(text, "read of /etc/shadow was denied <span");
	/* What matters comes first. */
	assert_true(strstr(text, "read of /etc/shadow was denied <span") <
		    strstr(text, "read of 10000 files in /usr/share/doc/ was denied"));
	assert_has(text, "read of 10000 files below /srv/ was denied");
	assert_has(text, "<th scope=\"row\" class=\"mono\">/etc/shadow</th>");
	assert_in_range(size, 1000, 100000);
	for (size_t i = 0; i < page.count; i++)
		json_decref(records[i]);
	free(records);
	free(text);
}

/* Of many executions the one to which the gravest was refused is told whole. */
static void test_page_of_many(void **state)
{
	enum { EXECUTIONS = 3000 };
	struct run *run = *state;
	json_t **records = calloc(2 * EXECUTIONS, sizeof(*records));
	struct page page = {.title = "many", .directory = "/", .version = "1", .records = records};
	char id[40], *text = NULL;
	size_t size;
	FILE *out;

	for (unsigned int i = 0; i < EXECUTIONS; i++) {
		for (unsigned int k = 0; k < 2; k++) {
			json_t *copy = json_deep_copy(run->records[k == 0 ? 0 : i == 2000 ? 4 : 2]);

			snprintf(id, sizeof(id), "019aa3c4-0000-7000-8000-%012u", i);
			json_object_set_new(json_object_get(json_object_get(copy, "cordon"),
							    "execution"),
					    "id", json_string(id));
			records[page.count++] = copy;
		}
	}
	out = open_memstream(&text, &size);
	assert_int_equal(page_write(out, &page), 0);
	fclose(out);
	assert_balanced(text);
	assert_has(text, "<article aria-labelledby=\"e2001\">");
	assert_has(text, "Of 3000 executions the 50 to which");
	assert_in_range(size, 1000, 700000);
	for (size_t i = 0; i < page.count; i++)
		json_decref(records[i]);
	free(records);
	free(text);
}

static void test_page_of_recovered(void **state)
{
	struct run *run = *state;
	struct audit_end end = {
		.cause = AUDIT_END_RECOVERED, .have_status = true, .duration_nsec = 1500000000};
	char *text;

	json_decref(run->records[--run->count]);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME));
	text = page_of(run);
	assert_has(text,
		   "<span class=\"tag warn\">exit 0</span> after 1.50 s, while no daemon ran");
	free(text);
	end.have_status = false;
	json_decref(run->records[--run->count]);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME));
	text = page_of(run);
	assert_has(text,
		   "<span class=\"tag bad\">killed: found orphaned when cordon started</span>");
	free(text);
}

static void test_page_of_nothing(void **state)
{
	struct run empty = {.count = 0};
	char *text = page_of(&empty);

	(void)state;
	assert_balanced(text);
	assert_has(text, "No execution of this log matches.");
	free(text);
}

static void test_html_text(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	html_text(out, "a<b>&\"'\xff\x01\n\xc3\xa9");
	html_text(out, NULL);
	fclose(out);
	assert_string_equal(text, "a&lt;b&gt;&amp;&quot;&#39;\\xff\\x01\\n\xc3\xa9?");
	free(text);
}

static char *cell(const char *content)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	export_csv_cell(out, content);
	fclose(out);
	return text;
}

static void test_csv_cells(void **state)
{
	static const struct {
		const char *content, *cell;
	} cases[] = {
		{"plain", "\"plain\""},
		{"a \"b\", c", "\"a \"\"b\"\", c\""},
		{"=1+1", "\"'=1+1\""},
		{"+1", "\"'+1\""},
		{"-1", "\"'-1\""},
		{"@SUM(A1)", "\"'@SUM(A1)\""},
		{"\t=1", "\"'\\t=1\""},
		{"\r\n=1", "\"'\\x0d\\n=1\""},
		{"|calc", "\"'|calc\""},
		{"\x1b[2J", "\"\\x1b[2J\""},
		{"", ""},
		{NULL, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = cell(cases[i].content);

		assert_string_equal(text, cases[i].cell);
		free(text);
	}
}

/* As many cells in each line as in the head: nothing breaks out. */
static void test_csv_lines(void **state)
{
	struct run *run = *state;
	char *text = NULL;
	size_t size, cells = 1, head = 0, lines = 0;
	FILE *out = open_memstream(&text, &size);
	bool quoted = false;

	export_csv_head(out);
	for (size_t i = 0; i < run->count; i++)
		export_csv(out, run->records[i]);
	fclose(out);
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			quoted = !quoted;
		else if (*c == ',' && !quoted)
			cells++;
		assert_false(quoted && (unsigned char)*c < 0x20);
		if (*c != '\n')
			continue;
		assert_int_equal(c[-1], '\r');
		if (lines++ == 0)
			head = cells;
		assert_int_equal(cells, head);
		cells = 1;
	}
	assert_int_equal(lines, run->count + 1);
	free(text);
}

static int64_t number(const json_t *object, const char *name)
{
	const json_t *value = view_field(object, name);

	if (!json_is_integer(value))
		fail_msg("no number %s", name);
	return json_integer_value(value);
}

/* What is exported of a record, as JSON. */
static json_t *exported(void (*export)(struct buffer *out, const struct flat_record *record,
				       const struct export_source *source),
			const json_t *record)
{
	static const struct export_source source = {.host = "h", .version = "1"};
	_cleanup_(buffer_free) struct buffer text = {}, out = {};
	struct flat_record flat;
	json_t *event;

	assert_int_equal(flat_record_of(&flat, &text, record), 0);
	export(&out, &flat, &source);
	assert_false(out.failed);
	event = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(event);
	return event;
}

/* What each class of OCSF asks for, and its arithmetic. */
static void assert_ocsf(const json_t *event)
{
	int64_t class = number(event, "class_uid");

	assert_int_equal(number(event, "category_uid"), class / 1000);
	assert_int_equal(number(event, "type_uid"), class * 100 + number(event, "activity_id"));
	assert_in_range(number(event, "severity_id"), 1, 6);
	assert_true(number(event, "time") > 1000000000000);
	assert_string_equal(view_text(event, "metadata.version"), EXPORT_OCSF_VERSION);
	assert_non_null(view_text(event, "metadata.product.vendor_name"));
	number(event, "device.type_id");
	assert_true(json_is_object(view_field(event, "actor.process")));
	assert_true(json_is_object(view_field(event, "unmapped")));
	switch (class) {
	case 1001:
		assert_non_null(view_text(event, "file.name"));
		number(event, "file.type_id");
		break;
	case 1007:
		assert_true(json_is_object(view_field(event, "process")));
		break;
	case 4001:
		assert_true(json_is_object(view_field(event, "dst_endpoint")));
		break;
	default:
		assert_true(class == 0 || class == 6002);
	}
}

static void test_ocsf(void **state)
{
	struct run *run = *state;
	json_t *event;

	for (size_t i = 0; i < run->count; i++) {
		event = exported(export_ocsf, run->records[i]);
		assert_ocsf(event);
		/* Nothing of the record is lost. */
		assert_true(json_equal(json_object_get(event, "unmapped"), run->records[i]));
		json_decref(event);
	}
	event = exported(export_ocsf, run->records[2]);
	assert_int_equal(number(event, "class_uid"), 1001);
	assert_int_equal(number(event, "type_uid"), 100102);
	assert_int_equal(number(event, "action_id"), 2);
	assert_int_equal(number(event, "disposition_id"), 2);
	assert_int_equal(number(event, "count"), 4);
	assert_string_equal(view_text(event, "file.path"), "/etc/hosts");
	json_decref(event);
	event = exported(export_ocsf, run->records[0]);
	assert_int_equal(number(event, "type_uid"), 100701);
	json_decref(event);
}

static void test_ecs(void **state)
{
	struct run *run = *state;

	for (size_t i = 0; i < run->count; i++) {
		json_t *event = exported(export_ecs, run->records[i]);

		assert_string_equal(view_text(event, "ecs.version"), EXPORT_ECS_VERSION);
		assert_string_equal(view_text(event, "event.dataset"), "cordon.audit");
		assert_string_equal(view_text(event, "host.name"), "h");
		assert_true(json_array_size(view_field(event, "event.category")) > 0);
		assert_true(json_array_size(view_field(event, "event.type")) > 0);
		assert_int_equal(number(event, "event.sequence"), i + 1);
		assert_int_equal(number(event, "cordon.seq"), i + 1);
		assert_null(json_object_get(event, "seq"));
		assert_string_equal(view_text(event, "@timestamp"),
				    view_text(run->records[i], "@timestamp"));
		if (view_is(event, "denial"))
			assert_string_equal(json_string_value(json_array_get(
						    view_field(event, "event.type"), 0)),
					    "denied");
		json_decref(event);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_page_is_whole),     TEST(test_integrity),    TEST(test_page_is_harmless),
		TEST(test_page_of_nothing),   TEST(test_page_of_much), TEST(test_page_of_many),
		TEST(test_page_of_recovered), TEST(test_html_text),    TEST(test_csv_cells),
		TEST(test_csv_lines),	      TEST(test_ocsf),	       TEST(test_ecs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
