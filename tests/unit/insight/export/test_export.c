// SPDX-License-Identifier: Apache-2.0
/*
 * Exports leave nothing out: a record is made for each action with every field that
 * docs/audit.schema.json knows, each with a value of its own, and each of these is looked for where
 * docs/reference/export.md says that it goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "audit/read/damage.h"
#include "insight/export/export.h"
#include "insight/text/view.h"
#include "tests/unit/audit/schema_check.h"

static const struct export_source source = {.host = "h", .version = "1"};
static json_t *schema, *ecs_schema, *ocsf_schema;
static unsigned int made;

/* --- a record with everything ------------------------------------------------------------- */

static json_t *value_of(const json_t *node);

static json_t *object_of(const json_t *node)
{
	json_t *object = json_object(), *member;
	const char *key;

	json_object_foreach(json_object_get(node, "properties"), key, member)
		json_object_set_new(object, key, value_of(member));
	return object;
}

static bool is_type(const json_t *node, const char *wanted)
{
	const json_t *type = json_object_get(node, "type"), *each;
	size_t i;

	if (json_is_string(type))
		return strcmp(json_string_value(type), wanted) == 0;
	json_array_foreach(type, i, each)
		if (strcmp(json_string_value(each), wanted) == 0)
			return true;
	return false;
}

/* Of the first alternative that is not null. */
static json_t *value_of_any(const json_t *alternatives)
{
	const json_t *each;
	size_t i;

	json_array_foreach(alternatives, i, each)
		if (!is_type(each, "null"))
			return value_of(each);
	return NULL;
}

/* No two of them are the same, but where few are possible. */
static json_t *value_of(const json_t *node)
{
	const char *reference = json_string_value(json_object_get(node, "$ref"));
	json_t *of_enum = json_array_get(json_object_get(node, "enum"), 0);

	made++;
	if (reference)
		return value_of(json_object_get(json_object_get(schema, "$defs"),
						reference + strlen("#/$defs/")));
	if (json_object_get(node, "anyOf"))
		return value_of_any(json_object_get(node, "anyOf"));
	if (json_object_get(node, "const"))
		return json_incref(json_object_get(node, "const"));
	if (of_enum)
		return json_incref(of_enum);
	if (json_object_get(node, "properties"))
		return object_of(node);
	if (is_type(node, "string"))
		return json_sprintf("text-%u", made);
	if (is_type(node, "integer"))
		return json_integer(1000 + made);
	if (is_type(node, "boolean"))
		return json_true();
	if (is_type(node, "array"))
		return json_object_get(node, "items")
			       ? json_pack("[o]", value_of(json_object_get(node, "items")))
			       : json_pack("[s]", "text");
	if (is_type(node, "object"))
		return json_pack("{s:o}", "name", json_sprintf("text-%u", made));
	fail_msg("the schema has what this test does not know");
	return NULL;
}

static json_t *whole_record(const char *action)
{
	json_t *record = object_of(schema);

	json_object_set_new(json_object_get(record, "event"), "action", json_string(action));
	json_object_set_new(record, "@timestamp", json_string("2025-11-21T00:00:00.000000001Z"));
	return record;
}

/* Each action that the schema's pattern names, and one of the agent's. */
static void each_action(void (*check)(json_t *record))
{
	static const char *const actions[] = {"execution-start",
					      "execution-end",
					      "execution-refused",
					      "process-exec",
					      "process-exit",
					      "denial",
					      "would-deny",
					      "attempt",
					      "open",
					      "change",
					      "connect",
					      "resolve",
					      "traffic",
					      "gap",
					      "policy-change",
					      "approval",
					      "identity",
					      "seal",
					      "retention",
					      "segment-compressed",
					      "agent-start",
					      "agent-other"};
	const char *pattern =
		view_text(json_object_get(schema, "properties"), "event.properties.action.pattern");

	assert_string_equal(
		pattern,
		"^(execution-(start|end|refused)|process-(exec|exit)|denial|would-deny|"
		"attempt|open|change|connect|resolve|traffic|gap|policy-change|approval|identity|seal|"
		"retention|segment-compressed|agent-[a-z-]+)$");
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		json_t *record = whole_record(actions[i]);

		check(record);
		json_decref(record);
	}
}

/* JSON with ' for ". */
static json_t *loads_quoted(const char *text)
{
	_cleanup_(freep) char *copy = strdup(text);
	json_error_t error;
	json_t *value;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = json_loads(copy, JSON_REJECT_DUPLICATES, &error);
	if (!value)
		fail_msg("%s: %s", error.text, copy);
	return value;
}

/* --- an event of it ----------------------------------------------------------------------- */

typedef void (*export_call)(struct buffer *out, const struct flat_record *record,
			    const struct export_source *source);

/* From the line as it is: NULL if it has to be parsed. */
static char *event_of_line(export_call export, const char *line)
{
	_cleanup_(buffer_free) struct buffer out = {};
	struct flat_record flat;

	if (!flat_record_read(&flat, line, strlen(line)))
		return NULL;
	export(&out, &flat, &source);
	assert_false(out.failed);
	buffer_add(&out, "", 1);
	return strdup(out.data);
}

static char *event_of_record(export_call export, const json_t *record)
{
	_cleanup_(buffer_free) struct buffer text = {}, out = {};
	struct flat_record flat;

	assert_int_equal(flat_record_of(&flat, &text, record), 0);
	export(&out, &flat, &source);
	assert_false(out.failed);
	buffer_add(&out, "", 1);
	return strdup(out.data);
}

/* The event, which is the same from a plain line and from what was parsed. */
static json_t *exported(export_call export, const json_t *record)
{
	_cleanup_(freep) char *text = event_of_record(export, record);
	_cleanup_(freep) char *line = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);
	_cleanup_(freep) char *same = event_of_line(export, line);
	json_error_t error;
	json_t *event = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!event)
		fail_msg("no JSON (%s): %s", error.text, text);
	if (same)
		assert_string_equal(same, text);
	return event;
}

/* --- where its fields go ------------------------------------------------------------------ */

static const char *const ecs_moved[][2] = {
	{"seq", "cordon.seq"},
	{"chain", "cordon.chain"},
	{"process.signal", "cordon.signal"},
};

static void check_ecs_leaf(const json_t *event, const char *path, const json_t *value)
{
	const json_t *found;

	for (size_t i = 0; i < ARRAY_SIZE(ecs_moved); i++)
		if (strcmp(path, ecs_moved[i][0]) == 0)
			path = ecs_moved[i][1];
	found = view_field(event, path);
	if (!json_equal(found, value))
		fail_msg("ECS: %s is missing or changed", path);
}

static void check_ecs_below(const json_t *event, const char *path, const json_t *node)
{
	char below[512];
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)node, key, member) {
		snprintf(below, sizeof(below), "%s%s%s", path, path[0] ? "." : "", key);
		if (json_is_object(member))
			check_ecs_below(event, below, member);
		else
			check_ecs_leaf(event, below, member);
	}
}

/* Is the event as the standard has it? */
static void check_standard(const json_t *standard, const json_t *event)
{
	struct schema_check check = {.root = standard};

	if (!schema_valid(&check, standard, event, "event"))
		fail_msg("%s: %s", check.error,
			 json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII));
}

static void check_ecs(json_t *record)
{
	json_t *event = exported(export_ecs, record);

	check_standard(ecs_schema, event);

	check_ecs_below(event, "", record);
	assert_string_equal(view_text(event, "rule.name"), view_text(record, "cordon.rule.text"));
	assert_string_equal(view_text(event, "rule.ruleset"),
			    view_text(record, "cordon.policy.name"));
	json_decref(event);
}

static void test_ecs(void **state)
{
	(void)state;
	each_action(check_ecs);
}

/* What docs/reference/export.md lists. */
static const char *const ocsf_fields[][2] = {
	{"metadata.sequence", "seq"},
	{"metadata.correlation_uid", "cordon.execution.id"},
	{"actor.process.name", "process.name"},
	{"actor.process.pid", "process.pid"},
	{"actor.process.uid", "process.entity_id"},
	{"actor.process.file.path", "process.executable"},
	{"actor.process.parent_process.pid", "process.parent.pid"},
	{"actor.process.parent_process.uid", "process.parent.entity_id"},
	{"actor.user.uid", "user.id"},
	{"actor.session.uid", "cordon.execution.session"},
	{"actor.app_name", "cordon.execution.agent"},
	{"status_code", "cordon.error"},
	{"firewall_rule.name", "cordon.rule.text"},
	{"firewall_rule.desc", "cordon.rule.message"},
	{"policy.name", "cordon.policy.name"},
	{"policy.uid", "cordon.policy.digest"},
};

static void check_ocsf(json_t *record)
{
	json_t *event = exported(export_ocsf, record);

	check_standard(ocsf_schema, event);
	for (size_t i = 0; i < ARRAY_SIZE(ocsf_fields); i++)
		if (!json_equal(view_field(event, ocsf_fields[i][0]),
				view_field(record, ocsf_fields[i][1])))
			fail_msg("OCSF: %s is not %s", ocsf_fields[i][0], ocsf_fields[i][1]);
	assert_true(json_equal(json_object_get(event, "unmapped"), record));
	json_decref(event);
}

static void set_access(json_t *record, const char *operation, const char *kind)
{
	json_t *cordon = json_object_get(record, "cordon");

	json_object_set_new(cordon, "operation", json_string(operation));
	json_object_set_new(json_object_get(cordon, "object"), "kind", json_string(kind));
}

/* An access of each kind is in the class of its kind, with its object there. */
static void test_ocsf_objects(void **state)
{
	static const struct {
		const char *operation, *kind;
		int class;
		const char *to, *from;
	} cases[] = {
		{"open", "path", 1001, "file.path", "cordon.object.text"},
		{"metadata", "path", 1001, "file.path", "cordon.object.text"},
		{"open", "special", 1001, "file.path", "cordon.object.text"},
		{"exec", "path", 1007, "process.name", "process.name"},
		{"connect", "net", 4001, "dst_endpoint.ip", "destination.ip"},
		{"connect", "net", 4001, "dst_endpoint.port", "destination.port"},
		{"connect", "net", 4001, "connection_info.protocol_name", "network.transport"},
		{"resolve", "host", 4003, "query.hostname", "cordon.object.text"},
		{"capable", "number", 1007, "activity_name", "cordon.operation"},
		{"signal", "process", 1007, "process.pid", "process.pid"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *record = whole_record("denial"), *event;

		set_access(record, cases[i].operation, cases[i].kind);
		event = exported(export_ocsf, record);
		check_standard(ocsf_schema, event);
		assert_int_equal(view_number(event, "class_uid"), cases[i].class);
		assert_int_equal(view_number(event, "category_uid"), cases[i].class / 1000);
		if (!json_equal(view_field(event, cases[i].to), view_field(record, cases[i].from)))
			fail_msg("OCSF: %s of %s is not %s", cases[i].to, cases[i].operation,
				 cases[i].from);
		json_decref(event);
		json_decref(record);
	}
}

/* By the words of both, what the source has sent is what comes in at the destination. */
static void test_traffic(void **state)
{
	static const struct {
		const char *direction;
		int id;
	} directions[] = {{"outbound", 2}, {"inbound", 1}, {"other", 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
		json_t *record = whole_record("traffic"), *event;

		json_object_set_new(json_object_get(json_object_get(record, "cordon"), "traffic"),
				    "direction", json_string(directions[i].direction));
		event = exported(export_ocsf, record);
		assert_int_equal(view_number(event, "type_uid"), 400106);
		assert_int_equal(view_number(event, "connection_info.direction_id"),
				 directions[i].id);
		assert_true(json_equal(view_field(event, "traffic.bytes_in"),
				       view_field(record, "source.bytes")));
		assert_true(json_equal(view_field(event, "traffic.packets_out"),
				       view_field(record, "destination.packets")));
		assert_true(json_equal(view_field(event, "src_endpoint.ip"),
				       view_field(record, "source.ip")));
		json_decref(event);
		event = exported(export_ecs, record);
		assert_string_equal(
			json_string_value(json_array_get(view_field(event, "event.category"), 0)),
			"network");
		assert_true(json_equal(view_field(event, "source.bytes"),
				       view_field(record, "source.bytes")));
		json_decref(event);
		json_decref(record);
	}
}

/* No operation is without a class, whatever it is about. */
static void test_ocsf_operations(void **state)
{
	const json_t *properties =
		view_field(json_object_get(schema, "properties"), "cordon.properties");
	const json_t *operations = view_field(properties, "operation.enum"), *operation, *kind;
	const json_t *kinds =
		view_field(json_object_get(schema, "$defs"), "object.properties.kind.enum");
	size_t i, k;

	(void)state;
	assert_true(json_array_size(operations) > 40 && json_array_size(kinds) > 8);
	json_array_foreach(operations, i, operation) {
		json_array_foreach(kinds, k, kind) {
			json_t *record = whole_record("denial"), *event;

			set_access(record, json_string_value(operation), json_string_value(kind));
			event = exported(export_ocsf, record);
			check_standard(ocsf_schema, event);
			assert_true(view_number(event, "class_uid") > 1000);
			json_decref(event);
			json_decref(record);
		}
	}
}

/* The least that a record of this action has. */
static void check_bare(json_t *record)
{
	json_t *bare = json_pack("{s:i, s:O, s:{s:s, s:O, s:s}, s:{s:i}}", "seq", 1, "@timestamp",
				 json_object_get(record, "@timestamp"), "event", "kind", "event",
				 "action", view_field(record, "event.action"), "outcome", "success",
				 "cordon", "schema", 1);
	json_t *ocsf = exported(export_ocsf, bare), *ecs = exported(export_ecs, bare);

	check_standard(ocsf_schema, ocsf);
	check_standard(ecs_schema, ecs);
	json_decref(ocsf);
	json_decref(ecs);
	json_decref(bare);
}

static void test_ocsf(void **state)
{
	(void)state;
	each_action(check_ocsf);
	each_action(check_bare);
}

/* --- records that no writer made ---------------------------------------------------------- */

/* What is there already is not there twice, and what is missing leaves no comma. */
static void test_odd_records(void **state)
{
	static const struct {
		const char *record, *ecs;
	} cases[] = {
		{"{}", "{'event':{E,'sequence':0},'message':null,R}"},
		{"{'seq':1,'chain':'c'}", "{'event':{E,'sequence':1,'hash':'c'},'message':null,R}"},
		{"{'seq':7,'event':{},'cordon':{},'chain':'c'}",
		 "{'event':{E,'sequence':7,'hash':'c'},'cordon':{'seq':7,'chain':'c'},"
		 "'message':null,R}"},
		{"{'event':{'type':1,'action':'x','sequence':{'a':[]},'hash':'h'},'seq':2,'a':1,"
		 "'message':[1,2],'ecs':null}",
		 "{'event':{'action':'x','hash':'h',E,'sequence':2},'a':1,'message':'x',R}"},
		{"{'process':{'signal':'KILL'},'cordon':{'signal':1,'seq':'x'},'event':1}",
		 "{'process':{},'cordon':{'seq':'x','signal':'KILL'},'event':1,'message':null,R}"},
		{"{'process':{'a':1,'signal':9,'b':[2]},'event':{'kind':'k'},'rule':1}",
		 "{'process':{'a':1,'signal':9,'b':[2]},'event':{'kind':'k',E,'sequence':0},"
		 "'rule':1,'message':null,R}"},
		{"{'cordon':{'rule':{'file':'f','line':3}},'event':{},'rule':1,'host':{'id':'x'}}",
		 "{'cordon':{'rule':{'file':'f','line':3}},'event':{E,'sequence':0},"
		 "'rule':{'id':'0','reference':'f:3'},'message':null,"
		 "'ecs':{'version':'" EXPORT_ECS_VERSION "'},'host':{'id':'x'}}"},
		{"{'event.action':'denial','event':{'action':'open'},'cordon':{'operation':'\\u00e9',"
		 "'rights':[null,'read','\\u20ac'],'object':{'text':'a\\u0001/\\u00e9'}}}",
		 "{'event.action':'denial','event':{'action':'open',"
		 "'category':['file','intrusion_detection'],'type':['access','allowed'],'module':'cordon',"
		 "'dataset':'cordon.audit','provider':'cordon','sequence':0},"
		 "'cordon':{'operation':'\\u00e9','rights':[null,'read','\\u20ac'],"
		 "'object':{'text':'a\\u0001/\\u00e9'}},"
		 "'message':'? and read of and \\u20ac a\\u0001/\\u00e9',R}"},
	};
	static const char every[] = "'category':['process'],'type':['info'],'module':'cordon',"
				    "'dataset':'cordon.audit','provider':'cordon'";
	static const char rest[] = "'ecs':{'version':'" EXPORT_ECS_VERSION "'},'host':{'name':'h'}";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = NULL;
		json_t *record, *wanted, *event, *ocsf;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		for (const char *c = cases[i].ecs; *c; c++)
			if (*c == 'E' && strchr("{,", c[-1]))
				fputs(every, out);
			else if (*c == 'R' && c[-1] == ',')
				fputs(rest, out);
			else
				fputc(*c, out);
		fclose(out);
		record = loads_quoted(cases[i].record);
		wanted = loads_quoted(text);
		event = exported(export_ecs, record);
		if (!json_equal(event, wanted))
			fail_msg("%s: %s", cases[i].record,
				 json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII));
		ocsf = exported(export_ocsf, record);
		assert_true(json_equal(json_object_get(ocsf, "unmapped"), record));
		json_decref(record);
		json_decref(wanted);
		json_decref(event);
		json_decref(ocsf);
	}
}

/* What only a parser takes: deep, long, of every type, with names that are none of the fields. */
static void test_any_json(void **state)
{
	static const char *const records[] = {
		"{'a':1.5,'b':-1e30,'c':123456789012345678,'d':9223372036854775807,'e':true}",
		"{'a':[[[[[[[[[[[[{'b':{'c':[]}}]]]]]]]]]]]]}",
		"{'a':{'b':{'c':{'d':{'e':{'f':{'g':{'h':{'i':{'j':{}}}}}}}}}}}",
		"{'cordon.operation':'x','event':{'a.b':{'action':'y'}},'\\u00e9':{'seq':1}}",
		"{'seq':-1,'event':{'duration':-5},'process':{'pid':'x','parent':{'pid':1}}}",
		"{'seq':{},'event':[],'cordon':null,'process':'x','chain':1,'host':[]}",
		"{'event':{'action':'agent-'},'@timestamp':'\\u0041 long text that is no time at all, and "
		"goes on for longer than any time'}",
		"{'event':{'action':'resolve'},'dns':{'question':{'name':'n'},'resolved_ip':[{'a':']'},"
		"[1,'],'],'203.0.113.1',null]}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		json_t *record = loads_quoted(records[i]), *ocsf, *ecs;

		ecs = exported(export_ecs, record);
		ocsf = exported(export_ocsf, record);
		assert_true(json_equal(json_object_get(ocsf, "unmapped"), record));
		assert_string_equal(view_text(ecs, "ecs.version"), EXPORT_ECS_VERSION);
		if (view_is(record, "resolve"))
			assert_int_equal(json_array_size(json_object_get(ocsf, "answers")), 4);
		json_decref(record);
		json_decref(ecs);
		json_decref(ocsf);
	}
}

/* A long name above a short one is not taken for it. */
static void test_long_names(void **state)
{
	char name[300];
	json_t *record = json_object(), *event;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	json_object_set_new(record, name,
			    json_pack("{s:i, s:{s:s}}", "seq", 1, "event", "action", "a"));
	json_object_set_new(record, "seq", json_integer(2));
	event = exported(export_ecs, record);
	assert_int_equal(view_number(event, "event.sequence"), 2);
	assert_true(json_equal(json_object_get(event, name), json_object_get(record, name)));
	json_decref(event);
	json_decref(record);
}

/* --- CSV ---------------------------------------------------------------------------------- */

static char *csv_of(const json_t *record)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (record)
		export_csv(out, record);
	else
		export_csv_head(out);
	fclose(out);
	return text;
}

/* The next cell of a line, unquoted, in place. */
static char *next_cell(char **at)
{
	char *cell = *at, *to = *at, *from = *at;

	if (*from == '"') {
		for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
			if (*from == '"')
				from++;
			*to++ = *from;
		}
		from++;
	} else {
		while (*from && *from != ',' && *from != '\r')
			*to++ = *from++;
	}
	assert_true(*from == ',' || *from == '\r');
	*at = from + 1;
	*to = '\0';
	return cell;
}

/*
 * From the line: what the record has, or nothing, which the parser's way is there for. Was it the
 * first?
 */
static bool same_from_line(const char *line)
{
	json_t *record = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	_cleanup_(freep) char *wanted = csv_of(record), *text = NULL;
	_cleanup_(buffer_free) struct buffer buffer = {};
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool taken = export_csv_line(out, &buffer, line, strlen(line));

	fclose(out);
	if (taken && !record)
		fail_msg("no JSON, and taken: %s", line);
	assert_string_equal(text, taken ? wanted : "");
	json_decref(record);
	return taken;
}

static void test_csv_of_lines(void **state)
{
	static const char *const plain[] = {
		"{}",
		"{\"seq\":1,\"@timestamp\":\"\",\"event\":{\"action\":\"=a,b\"},\"cordon\":{}}",
		"{\"error\":{\"message\":\"a\\\"b\\\\n\\n\\tc'\"}}",
		"{\"error\":{\"message\":\"\\n=1\"},\"signal\":-12}",
		"{\"error\":{\"message\":\"\\\"\"},\"x\":{\"y\":[[],{\"seq\":2},1]},\"z\":null}",
		"{\"process\":{\"args\":[\"a\\\"b\",\"=1\",null,-5,true],\"exit_code\":0}}",
		"{\"process\":{\"args\":[],\"signal\":\"@x\",\"exit_code\":-1}}",
		"{\"cordon\":{\"rule\":null,\"rights\":[\"read\"],\"rule.text\":\"x\"}}",
		"{\"cordon.reason\":\"not of cordon\"}",
	};
	static const char *const other[] = {
		"",
		"[]",
		"{",
		"{\"a\":1",
		"{\"a\":1}}",
		"{\"a\" :1}",
		"{ }",
		"{\"a\":01}",
		"{\"a\":1.5}",
		"{\"a\":1e3}",
		"{\"a\":12345678901234567890}",
		"{\"a\":tru}",
		"{\"a\":\"\\u0041\"}",
		"{\"a\":\"\xc3\xa9\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":1,}",
		"{,}",
		"{\"seq\":1,\"seq\":2}",
		"{\"error\":{\"message\":\"a\\r\"}}",
		"{\"a\":{\"b\":1]}",
		"{\"a\":[1,]}",
		"{\"a\":\"b}",
		"{\"a\":\"b\\",
	};
	size_t taken = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		taken += same_from_line(plain[i]);
	/* All but those with dots in names, which mean something else. */
	assert_int_equal(taken, ARRAY_SIZE(plain) - 2);
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		assert_false(same_from_line(other[i]));
		/* A carriage return is shown as something else in cells alone. */
		if (!strstr(other[i], "\\r"))
			assert_null(event_of_line(export_ecs, other[i]));
	}
}

/* The last cell is the record itself, the others what is looked for most. */
static void check_csv(json_t *record)
{
	json_t *error = json_object_get(record, "error");
	_cleanup_(freep) char *whole = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);
	bool taken = same_from_line(whole);
	int hostile = json_object_set_new(error, "message",
					  json_string("a\\\"b\n\x1b,\xe2\x80\xae'=1+1"));
	int marked = damage_mark(record, "it does not follow");
	_cleanup_(freep) char *head = csv_of(NULL), *line = csv_of(record);
	char *head_at = head, *at = line, *name, *cell;
	json_t *last;

	assert_true(taken);
	assert_int_equal(hostile, 0);
	assert_int_equal(marked, 0);
	do {
		name = next_cell(&head_at);
		cell = next_cell(&at);
		if (strcmp(name, "action") == 0)
			assert_string_equal(cell, view_text(record, "event.action"));
		if (strcmp(name, "object") == 0)
			assert_string_equal(cell, view_text(record, "cordon.object.text"));
		if (strcmp(name, "damaged") == 0)
			assert_string_equal(cell, "it does not follow");
		if (strcmp(name, "record") != 0)
			assert_true(cell[0]);
	} while (strcmp(name, "record") != 0);
	last = json_loads(cell, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_equal(last, record));
	json_decref(last);
	assert_string_equal(head_at, "\n");
	assert_string_equal(at, "\n");
}

static void test_csv(void **state)
{
	(void)state;
	each_action(check_csv);
}

static int setup(void **state)
{
	json_error_t error;

	(void)state;
	schema = json_load_file("docs/audit.schema.json", JSON_REJECT_DUPLICATES, &error);
	ecs_schema = json_load_file("tests/schema/ecs.json", JSON_REJECT_DUPLICATES, &error);
	ocsf_schema = json_load_file("tests/schema/ocsf.json", JSON_REJECT_DUPLICATES, &error);
	return schema && ecs_schema && ocsf_schema ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(schema);
	json_decref(ecs_schema);
	json_decref(ocsf_schema);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ecs),
		cmocka_unit_test(test_ocsf),
		cmocka_unit_test(test_traffic),
		cmocka_unit_test(test_ocsf_objects),
		cmocka_unit_test(test_ocsf_operations),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_of_lines),
		cmocka_unit_test(test_odd_records),
		cmocka_unit_test(test_any_json),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
