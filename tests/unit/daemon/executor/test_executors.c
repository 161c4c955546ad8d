/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of a cordon.yaml as they come into force, of which one names what is not there; the
 * last file that was good; executors that ran before.
 */
#include "tests/unit/daemon/fake/world.h"

#include <string.h>

#include "daemon/execution/approval_check.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/executor/gathering.h"
#include "daemon/host/workdir.h"
#include "tests/unit/daemon/fake/errands.h"

static struct executors *x;
static char *file, *gone;

#define ENTRY "  - {name: %s, match: {executable: %s}, policy: p, workdir_under: [%s], bind: {}}\n"

/* "good" is in order, "late" begins with this program. */
static void write_config(const char *head, const char *program, const char *under)
{
	char text[4096];

	snprintf(text, sizeof(text), "version: 1\n%sexecutors:\n" ENTRY ENTRY, head, "good",
		 "/bin/true", world_path("work"), "late", program, under);
	world_write("cordon.yaml", text);
}

static void start_executors(void)
{
	struct failure failure = {};

	assert_int_equal(executors_start(world, file, &x, &failure), 0);
	world->executors = x;
}

static int setup(void **state)
{
	(void)state;
	world_new();
	world->state = strdup(world_path("kept"));
	file = strdup(world_path("cordon.yaml"));
	gone = strdup(world_path("gone"));
	start_executors();
	return 0;
}

static void stop_executors(void)
{
	executors_clear(x);
	executors_free(x);
	world->executors = NULL;
}

static int teardown(void **state)
{
	(void)state;
	faults_none();
	stop_executors();
	if (world->approvals)
		approvals_free(world->approvals);
	free((void *)(uintptr_t)world->state);
	free(file);
	free(gone);
	world_end();
	return 0;
}

static void on_complete(void *context)
{
	*(bool *)context = true;
}

/* Workers reply until the step is complete, or one replies `result`. */
static void let_reply(const bool *complete, const struct errand *before)
{
	while (!*complete) {
		if (errand != before)
			errand_answers(0);
		else
			event_base_loop(world->base, EVLOOP_ONCE);
	}
}

/* Reads the file as workers do. */
static struct gathering *gather_with(const char *path, bool kept)
{
	const struct errand *before = errand;
	struct gathering *g = NULL;
	struct failure failure = {};
	bool complete = false;

	assert_int_equal(gathering_read(world, path, kept, on_complete, &complete, &g, &failure),
			 0);
	let_reply(&complete, before);
	complete = false;
	if (gathering_look_up(g, NULL, on_complete, &complete, &failure) > 0)
		let_reply(&complete, before);
	return g;
}

static struct gathering *gather(const char *path)
{
	return gather_with(path, !x->loaded);
}

static int load_file(size_t *ret_count, struct failure *failure)
{
	struct gathering *g = gather(file);
	int r = executors_load(x, g, ret_count, failure);

	gathering_free(g);
	if (x->saving) {
		assert_ptr_equal(errand, x->saving);
		errand_answers(0);
	}
	return r;
}

static int check(const char *path, struct failure *failure)
{
	struct gathering *g = gather_with(path, true);
	int r = executors_check(world, g, path, failure);

	gathering_free(g);
	return r;
}

/* The process that looks for executors that run finds what the test has it find. */
static void load(void)
{
	struct failure failure = {};
	size_t count;

	if (load_file(&count, &failure) < 0)
		fail_msg("%s", failure.text);
	errand_cancel(TAKE_PTR(x->scanning));
}

static const struct executor_entry *entry(const char *name)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if (x->entries[i] && strcmp(x->entries[i]->is->name, name) == 0)
			return x->entries[i];
	fail_msg("no entry %s", name);
	return NULL;
}

static size_t standing_ready(const char *name)
{
	const struct cordon_executor *of = &kernel->executors[entry(name)->index];
	size_t count = 0;

	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++)
		count += of->standby[i] != 0;
	return count;
}

static bool is_active(const char *name)
{
	return (kernel->adoption.active >> entry(name)->index) & 1;
}

/* Whether this program is this entry's in the kernel. */
static bool recognises(const char *program, const char *name)
{
	return (adoption_whole_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, program) >>
		entry(name)->index) &
	       1;
}

static const char *told(const char *action, const char *key)
{
	json_t *last = NULL;

	assert_int_not_equal(logs_count(action, &last), 0);
	return json_string_value(
		json_object_get(json_object_get(json_object_get(last, "cordon"), "agent"), key));
}

static bool is_alert(const char *action)
{
	json_t *last = NULL;

	return logs_count(action, &last) > 0 &&
	       strcmp(json_string_value(json_object_get(json_object_get(last, "event"), "kind")),
		      "alert") == 0;
}

static void touch(const char *path)
{
	FILE *made = fopen(path, "we");

	assert_non_null(made);
	assert_true(fputs("\177ELF", made) >= 0);
	assert_int_equal(fclose(made), 0);
}

/* The timer's turn, when it is time to look again; false: nobody looks. */
static bool look_again(void)
{
	x->next_look = 0;
	executor_retry(x);
	if (!x->looking)
		return false;
	errand_answers(0);
	/* What there is to compile, and to be kept beside the log; the loop goes on between. */
	while (x->reading) {
		if (errand)
			errand_answers(0);
		else
			event_base_loop(world->base, EVLOOP_ONCE);
	}
	errand_cancel(TAKE_PTR(x->scanning));
	return true;
}

/* --- what is not there ---------------------------------------------------------------------- */

static void missing_program(void **state)
{
	(void)state;
	write_config("", gone, world_path("work"));
	load();
	assert_true(is_active("good") && is_active("late"));
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_int_equal(standing_ready("late"), 0);
	assert_true(recognises(gone, "late"));
	assert_non_null(strstr(entry("late")->why, gone));
	assert_true(is_alert("agent-executor-unresolved"));
	assert_string_equal(told("agent-executor-unresolved", "executor"), "late");
	/* As the timer has it, nothing stands ready for it later on either. */
	executors_look_after(x);
	executors_check_approvals(x);
	assert_int_equal(standing_ready("late"), 0);
}

static void it_comes(void **state)
{
	(void)state;
	write_config("", gone, world_path("work"));
	load();
	assert_true(look_again());
	assert_non_null(entry("late")->why);
	assert_int_equal(logs_count("agent-executor-unresolved", NULL), 1);
	touch(gone);
	assert_true(look_again());
	assert_null(entry("late")->why);
	assert_int_equal(standing_ready("late"), CORDON_MAX_STANDBY);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_int_equal(logs_count("agent-executor-unresolved", NULL), 1);
	assert_int_equal(logs_count("agent-executor-resolved", NULL), 1);
	assert_false(look_again());
}

/* What is in order is not looked up again by the way: its policy may be another by now. */
static void the_others_stay(void **state)
{
	const struct executor_entry *good;

	(void)state;
	write_config("", gone, world_path("work"));
	load();
	good = entry("good");
	world_write("policies/p.yaml", "version: 1\nname: p\nnonsense: true\n");
	touch(gone);
	assert_true(look_again());
	assert_ptr_equal(entry("good"), good);
	assert_null(good->why);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	/* The other one would need it. */
	assert_non_null(entry("late")->why);
	assert_int_equal(standing_ready("late"), 0);
}

static void not_too_often(void **state)
{
	(void)state;
	write_config("", gone, world_path("work"));
	load();
	executor_retry(x);
	assert_null(x->looking);
	x->next_look = 0;
	executor_retry(x);
	assert_non_null(x->looking);
	executor_retry(x);
	errand_answers(-ETIMEDOUT);
	executor_retry(x);
	assert_null(x->looking);
	assert_non_null(entry("late")->why);
	/* Where no process can be had, the next turn tries. */
	x->next_look = 0;
	faults_set_for("errand_start", EAGAIN);
	executor_retry(x);
	faults_none();
	assert_null(x->looking);
	assert_true(look_again());
}

/* The kernel finds it by what its link leads to, and no longer by that when that is over. */
static void by_a_link(void **state)
{
	char *link = world_path("link");

	(void)state;
	assert_int_equal(symlink("gone", link), 0);
	write_config("", link, world_path("missing"));
	load();
	assert_true(recognises(gone, "late"));
	/* And by what it is called. */
	assert_true(recognises(link, "late"));
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_null(entry("late")->why);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(adoption_whole_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, gone),
				 0);
		load();
	}
}

static void missing_directory(void **state)
{
	(void)state;
	write_config("", "/bin/false", gone);
	load();
	assert_non_null(strstr(entry("late")->why, "the directory"));
	assert_int_equal(standing_ready("late"), 0);
	assert_int_equal(mkdir(gone, 0700), 0);
	assert_true(look_again());
	assert_null(entry("late")->why);
}

static void missing_match(void **state)
{
	char text[1024];

	(void)state;
	snprintf(
		text, sizeof(text),
		"version: 1\nexecutors:\n"
		"  - {name: late, match: {executable: /bin/false, user: nobodyknows, cgroup: /no/such},"
		" children: {programs: [%s]}, policy: p, workdir_under: [%s]}\n",
		gone, world_path("work"));
	world_write("cordon.yaml", text);
	load();
	assert_non_null(strstr(entry("late")->why, "nobodyknows"));
	assert_non_null(strstr(entry("late")->why, "/no/such"));
	/* Whom it means cannot be told, nor which of their children: all that it may be. */
	assert_int_equal(kernel->executors[entry("late")->index].flags &
				 (CORDON_EXECUTOR_UID | CORDON_EXECUTOR_ONLY),
			 0);
	assert_non_null(kernel_name(CORDON_ADOPT_CGROUP, entry("late")->index, "/"));
}

static void missing_policy(void **state)
{
	char text[1024];

	(void)state;
	snprintf(
		text, sizeof(text),
		"version: 1\nexecutors:\n" ENTRY
		"  - {name: late, match: {executable: /bin/false}, policy: %s, workdir_under: [%s]}\n",
		"good", "/bin/true", world_path("work"), gone, world_path("work"));
	world_write("cordon.yaml", text);
	load();
	assert_null(entry("late")->policy);
	assert_non_null(strstr(entry("late")->why, "policy"));
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_int_equal(standing_ready("late"), 0);
	assert_true(look_again());
	assert_non_null(entry("late")->why);
	world_write("gone", "version: 1\nname: q\n");
	assert_true(look_again());
	assert_null(entry("late")->why);
	assert_non_null(entry("late")->policy);
	assert_int_equal(standing_ready("late"), CORDON_MAX_STANDBY);
}

/* The executor itself is refused, which is what stands in the way of what it starts. */
static void missing_for_itself(void **state)
{
	json_t *status;
	char text[1024];

	(void)state;
	snprintf(
		text, sizeof(text),
		"version: 1\nexecutors:\n  - {name: late, match: {executable: /bin/false}, policy: p,"
		" workdir_under: [%s], itself: {policy: %s}}\n",
		world_path("work"), gone);
	world_write("cordon.yaml", text);
	load();
	assert_null(entry("late")->why);
	assert_non_null(entry("late/itself")->why);
	assert_int_equal(standing_ready("late/itself"), 0);
	assert_int_equal(kernel->executors[entry("late")->index].itself,
			 entry("late/itself")->index + 1);
	status = executors_status_json(x);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(status, "list"), 0), "state")),
			    "refuses");
	json_decref(status);
}

/* It was in order, and what it names went away. */
static void it_goes(void **state)
{
	(void)state;
	touch(gone);
	write_config("", gone, world_path("work"));
	load();
	assert_int_equal(standing_ready("late"), CORDON_MAX_STANDBY);
	assert_int_equal(unlink(gone), 0);
	load();
	assert_int_equal(standing_ready("late"), 0);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_int_equal(logs_count("agent-executor-unresolved", NULL), 1);
	assert_non_null(strstr(seen.said, "executor late refuses all that it starts"));
}

/* What stands in the kernel's tables or cannot: then nothing changes. */
static void tables_full(void **state)
{
	const char *const calls[] = {"adoption_add_name"};
	struct failure failure = {};
	uint64_t active;
	size_t count;

	(void)state;
	write_config("", gone, world_path("work"));
	load();
	active = kernel->adoption.active;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		failure = (struct failure){};
		faults_set_for(calls[i], ENOSPC);
		assert_int_equal(load_file(&count, &failure), -ENOSPC);
		faults_none();
		assert_int_equal(kernel->adoption.active, active);
	}
}

static void shown(void **state)
{
	json_t *status, *late;

	(void)state;
	write_config("", gone, world_path("work"));
	load();
	status = executors_status_json(x);
	assert_int_equal(json_integer_value(json_object_get(status, "entries")), 2);
	assert_string_equal(json_string_value(json_object_get(status, "file")), file);
	assert_true(json_is_null(json_object_get(status, "trouble")));
	late = json_array_get(json_object_get(status, "list"), 1);
	assert_string_equal(json_string_value(json_object_get(late, "state")), "refuses");
	assert_int_equal(json_integer_value(json_object_get(late, "line")), 4);
	assert_non_null(json_object_get(late, "error"));
	json_decref(status);
}

/* --- names that move on --------------------------------------------------------------------- */

/* The worker of "late" looks once, and reports. */
static void follow(void)
{
	struct executor_entry *late = x->entries[entry("late")->index];

	x->follow_nsec = 0;
	executor_follow(x);
	assert_non_null(late->following);
	errand_answers_of(late->following, 0);
	if (errand)
		errand_cancel(TAKE_PTR(x->scanning));
}

static void a_link_moves(void **state)
{
	_cleanup_(freep) char *link = strdup(world_path("link"));

	(void)state;
	touch(gone);
	touch(world_path("next"));
	assert_int_equal(symlink("gone", link), 0);
	write_config("", link, world_path("work"));
	load();
	follow();
	assert_int_equal(logs_count("agent-executor-moved", NULL), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("next", link), 0);
	follow();
	assert_true(recognises(gone, "late"));
	assert_true(recognises(link, "late"));
	assert_true(recognises(world_path("next"), "late"));
	assert_true(is_alert("agent-executor-moved"));
	assert_string_equal(told("agent-executor-moved", "name"), link);
	assert_string_equal(told("agent-executor-moved", "target"), world_path("next"));
	follow();
	assert_int_equal(logs_count("agent-executor-moved", NULL), 1);
	/* A reload keeps what it was called before: versions that run start themselves again. */
	load();
	assert_true(recognises(gone, "late"));
	assert_true(recognises(world_path("next"), "late"));
}

/* As many as an entry may have, of which the oldest goes. */
static void it_moves_all_the_time(void **state)
{
	struct failure failure = {};
	char path[64];

	(void)state;
	touch(gone);
	write_config("", gone, world_path("work"));
	load();
	for (int i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/srv/version-%d", i);
		assert_int_equal(
			executor_add_target(x->entries[entry("late")->index], path, &failure), 0);
	}
	assert_false(recognises("/srv/version-1", "late"));
	assert_true(recognises("/srv/version-100", "late"));
	assert_true(recognises("/srv/version-199", "late"));
}

static void another_value_moves(void **state)
{
	char text[1024];
	uint32_t index;

	(void)state;
	touch(gone);
	touch(world_path("next"));
	assert_int_equal(symlink("gone", world_path("link")), 0);
	snprintf(text, sizeof(text),
		 "version: 1\nexecutors:\n" ENTRY
		 "  - {name: late, match: {executable: /bin/false}, children: {except: [%s]},"
		 " policy: p, workdir_under: [%s]}\n",
		 "good", "/bin/true", world_path("work"), world_path("link"), world_path("work"));
	world_write("cordon.yaml", text);
	load();
	index = entry("late")->index;
	assert_non_null(kernel_name(CORDON_ADOPT_PROGRAM, index, gone));
	/* Its policy is not read again. */
	world_write("policies/p.yaml", "version: 1\nname: p\nnonsense: true\n");
	assert_int_equal(unlink(world_path("link")), 0);
	follow();
	/* What is missing for a while is no change. */
	assert_int_equal(entry("late")->index, index);
	assert_int_equal(symlink("next", world_path("link")), 0);
	follow();
	assert_int_not_equal(entry("late")->index, index);
	index = entry("late")->index;
	assert_null(entry("late")->why);
	assert_non_null(kernel_name(CORDON_ADOPT_PROGRAM, index, world_path("next")));
	assert_null(kernel_name(CORDON_ADOPT_PROGRAM, index, gone));
	assert_true(recognises("/bin/false", "late"));
	assert_int_equal(standing_ready("late"), CORDON_MAX_STANDBY);
	assert_string_equal(told("agent-executor-moved", "target"), world_path("next"));
}

static void worker_fails(void **state)
{
	struct executor_entry *late;
	json_t *status;

	(void)state;
	touch(gone);
	write_config("", gone, world_path("work"));
	load();
	late = x->entries[entry("late")->index];
	errand_answers_of(late->following, -ETIMEDOUT);
	assert_true(late->unfollowed);
	assert_null(late->following);
	status = executors_status_json(x);
	assert_true(json_is_false(
		json_object_get(json_array_get(json_object_get(status, "list"), 1), "followed")));
	json_decref(status);
	follow();
	assert_false(late->unfollowed);
}

static void by_a_pattern(void **state)
{
	char pattern[256];

	(void)state;
	touch(gone);
	snprintf(pattern, sizeof(pattern), "%s*", gone);
	write_config("", pattern, world_path("work"));
	load();
	assert_null(entry("late")->why);
	assert_true(kernel_name(CORDON_ADOPT_EXECUTOR_LIKE, 0, gone)->value >>
			    entry("late")->index &
		    1);
	assert_int_equal(kernel->executors[entry("late")->index].program.length, 1);
	assert_int_equal(kernel->executors[entry("late")->index].program_from, strlen(gone));
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_null(kernel_name(CORDON_ADOPT_EXECUTOR_LIKE, 0, gone));
}

/* --- a file with mistakes ------------------------------------------------------------------- */

static void start_again(void)
{
	stop_executors();
	start_executors();
}

static void last_good(void **state)
{
	struct failure failure = {};
	size_t count;

	(void)state;
	write_config("", "/bin/false", world_path("work"));
	load();
	world_write("cordon.yaml", "version: 1\nexecutors: [{name: x, polic: y}]\n");
	assert_int_equal(load_file(&count, &failure), -EINVAL);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	start_again();
	failure = (struct failure){};
	assert_int_equal(check(file, &failure), 0);
	load();
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_non_null(strstr(x->trouble, "polic"));
	assert_true(is_alert("agent-configuration-refused"));
	/* Not each time: there is something in force then. */
	failure = (struct failure){};
	assert_int_equal(load_file(&count, &failure), -EINVAL);
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_null(x->trouble);
}

static void none_kept(void **state)
{
	struct failure failure = {};
	size_t count;

	(void)state;
	world_write("cordon.yaml", "version: 2\n");
	assert_int_equal(check(file, &failure), -EINVAL);
	assert_int_equal(load_file(&count, &failure), -EINVAL);
	write_config("", "/bin/false", world_path("work"));
	load();
	/* Another file's. */
	world_write("other.yaml", "version: 2\n");
	assert_int_equal(check(world_path("other.yaml"), &failure), -EINVAL);
	/* Anybody may have written it. */
	world_write("cordon.yaml", "version: 2\n");
	assert_int_equal(chmod(world_path("kept/executors.yaml"), 0666), 0);
	assert_int_equal(check(file, &failure), -EINVAL);
	assert_int_equal(chmod(world_path("kept/executors.yaml"), 0600), 0);
	assert_int_equal(check(file, &failure), 0);
	/* It is damaged. */
	world_write("kept/executors.yaml", "# nonsense");
	assert_int_equal(check(file, &failure), -EINVAL);
}

/* A directory in its place: that it is not kept is said, and is no reason to do without. */
static void cannot_be_kept(void **state)
{
	(void)state;
	world_write("kept", "");
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_non_null(strstr(seen.said, "cannot be kept"));
}

static void no_file(void **state)
{
	struct failure failure = {};
	size_t count;

	(void)state;
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_int_equal(unlink(file), 0);
	start_again();
	assert_int_equal(check(file, &failure), 0);
	assert_int_equal(load_file(&count, &failure), 0);
	assert_int_equal(count, 0);
	assert_int_equal(kernel->adoption.active, 0);
}

/* --- unresponsive file systems ---------------------------------------------------------------- */

static void start_reading(struct gathering **ret)
{
	struct failure failure = {};

	assert_int_equal(gathering_read(world, file, true, NULL, NULL, ret, &failure), 0);
}

/* The start goes on without the file if there is a good one, and reads it again later. */
static void file_is_silent(void **state)
{
	struct failure failure = {};
	struct gathering *g;
	size_t count;

	(void)state;
	write_config("", "/bin/false", world_path("work"));
	load();
	start_again();
	start_reading(&g);
	assert_int_equal(gathering_wait(g), 0);
	assert_int_equal(executors_check(world, g, file, &failure), -ETIMEDOUT);
	assert_non_null(strstr(failure.text, "unresponsive"));
	assert_int_equal(executors_load(x, g, &count, &failure), -ETIMEDOUT);
	gathering_free(g);

	failure = (struct failure){};
	start_reading(&g);
	/* The worker for closed directories, and the one for the last good file. */
	errand_answers(-ETIMEDOUT);
	errand_answers(0);
	assert_int_equal(gathering_wait(g), 0);
	assert_int_equal(executors_check(world, g, file, &failure), 0);
	assert_string_equal(gathering_closed(g)[0], workdir_system_directories()[0]);
	/* Nor does a policy's file. */
	assert_int_equal(gathering_look_up(g, NULL, NULL, NULL, &failure), 1);
	assert_int_equal(gathering_wait(g), 0);
	assert_int_equal(executors_load(x, g, &count, &failure), 0);
	gathering_free(g);
	errand_cancel(TAKE_PTR(x->scanning));
	assert_int_equal(count, 2);
	assert_true(is_active("good") && is_active("late"));
	assert_non_null(strstr(entry("good")->why, "unresponsive"));
	assert_int_equal(standing_ready("good"), 0);
	assert_true(recognises("/bin/true", "good"));
	assert_non_null(strstr(x->trouble, "unresponsive"));

	x->next_look = 0;
	executor_retry(x);
	assert_non_null(x->reading);
	while (x->reading) {
		if (errand)
			errand_answers(0);
		else
			event_base_loop(world->base, EVLOOP_ONCE);
	}
	errand_answers(0);
	assert_null(x->saving);
	errand_cancel(TAKE_PTR(x->scanning));
	assert_null(x->trouble);
	assert_null(entry("good")->why);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
}

/* The other entry is active all the same. */
static void one_entry_is_silent(void **state)
{
	const uid_t of_late = (uid_t)-131 - 2;
	struct failure failure = {};
	struct gathering *g;
	size_t count, silent = 0;
	char pattern[256];
	int r;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s*", gone);
	write_config("", pattern, world_path("work"));
	start_reading(&g);
	for (size_t i = 0; i < 3; i++)
		errand_answers(0);
	for (r = gathering_look_up(g, NULL, NULL, NULL, &failure); r > 0; r = errand != NULL)
		while (errand) {
			bool names = strstr(errand->job.what, "looks up") &&
				     errand->job.uid == of_late;

			silent += names;
			errand_answers(names ? -ETIMEDOUT : 0);
			(void)event_base_loop(world->base, EVLOOP_NONBLOCK);
		}
	assert_int_equal(silent, 1);
	assert_int_equal(executors_load(x, g, &count, &failure), 0);
	gathering_free(g);
	errand_answers(0);
	errand_cancel(TAKE_PTR(x->scanning));
	assert_null(entry("good")->why);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	assert_non_null(strstr(entry("late")->why, "unresponsive"));
	assert_int_equal(standing_ready("late"), 0);
	/* By the pattern as written: programs of this executor are denied. */
	assert_true(kernel_name(CORDON_ADOPT_EXECUTOR_LIKE, 0, gone)->value >>
			    entry("late")->index &
		    1);
}

/* --- approval ------------------------------------------------------------------------------- */

static void approval(void **state)
{
	const struct approvals *store;

	(void)state;
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_null(approvals_required(world));
	write_config("require_approval: true\n", "/bin/false", world_path("work"));
	load();
	store = approvals_required(world);
	assert_non_null(store);
	assert_true(entry("good")->waits);
	assert_int_equal(standing_ready("good"), 0);
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_null(approvals_required(world));
	assert_false(entry("good")->waits);
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
	/* What was asked is still known. */
	assert_ptr_equal(world->approvals, store);
	world->approvals_by_option = true;
	load();
	assert_ptr_equal(approvals_required(world), store);
}

static void approval_without_a_place(void **state)
{
	struct failure failure = {};
	size_t count;

	(void)state;
	write_config("", "/bin/false", world_path("work"));
	load();
	assert_int_equal(chmod(world_path("kept"), 0777), 0);
	write_config("require_approval: true\n", "/bin/false", world_path("work"));
	assert_int_equal(load_file(&count, &failure), -EPERM);
	assert_null(approvals_required(world));
	assert_int_equal(standing_ready("good"), CORDON_MAX_STANDBY);
}

/* --- executors that ran before -------------------------------------------------------------- */

/* A process that runs this program, until it is killed. */
static pid_t run(const char *program)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, "sleep", "1000", NULL);
		_exit(127);
	}
	seen.children[seen.child_count++] = pid;
	while (true) {
		char exe[64], to[256] = "";

		snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
		if (readlink(exe, to, sizeof(to) - 1) > 0 && strcmp(to, program) == 0)
			return pid;
		usleep(10000);
	}
}

static char *make_program(void)
{
	char command[512];

	snprintf(command, sizeof(command), "cp /bin/sleep %s && chmod 755 %s", gone, gone);
	assert_int_equal(system(command), 0);
	return gone;
}

static void load_and_scan(void)
{
	struct failure failure = {};
	size_t count;

	assert_int_equal(load_file(&count, &failure), 0);
	assert_non_null(x->scanning);
	errand_answers(0);
}

static size_t listed(json_int_t *ret_pid)
{
	json_t *list = executor_before_json(x);
	size_t count = json_array_size(list);

	if (count)
		*ret_pid = json_integer_value(json_object_get(json_array_get(list, 0), "pid"));
	json_decref(list);
	return count;
}

static void ran_before(void **state)
{
	struct ucred peer = {};
	struct adopt_request request = {};
	struct failure failure = {};
	json_t *reply = NULL;
	json_int_t found = 0;
	pid_t pid;

	(void)state;
	write_config("", make_program(), world_path("work"));
	pid = run(gone);
	load_and_scan();
	assert_int_equal(listed(&found), 1);
	assert_int_equal(found, pid);
	assert_true(is_alert("agent-executor-before"));
	assert_non_null(strstr(told("agent-executor-before", "remedy"), "cordon adopt"));
	/* Told once. */
	load_and_scan();
	assert_int_equal(logs_count("agent-executor-before", NULL), 1);
	assert_int_equal(listed(&found), 1);
	request.pid = pid;
	assert_int_equal(executors_adopt(x, &request, &peer, &reply, &failure), 0);
	json_decref(reply);
	assert_int_equal(listed(&found), 0);
}

static void ended_since(void **state)
{
	json_int_t found = 0;
	pid_t pid;

	(void)state;
	write_config("", make_program(), world_path("work"));
	pid = run(gone);
	load_and_scan();
	assert_int_equal(listed(&found), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(listed(&found), 0);
}

static void recognised(void **state)
{
	struct process_status status;
	json_int_t found = 0;
	char list[256];
	pid_t pid;

	(void)state;
	write_config("", make_program(), world_path("work"));
	pid = run(gone);
	assert_int_equal(process_status(pid, &status), 0);
	kernel->running_executor = (struct adoption_executor){(uint32_t)pid, 0, status.start_nsec};
	load_and_scan();
	assert_int_equal(listed(&found), 0);
	/* For whoever wants to disable cordon. */
	assert_int_equal(executors_living(x, list, sizeof(list)), 1);
	assert_non_null(strstr(list, ": process "));
	/* Somebody who had its number before it. */
	kernel->running_executor.start_nsec -= NSEC_PER_SEC;
	load_and_scan();
	assert_int_equal(listed(&found), 1);
	assert_int_equal(executors_living(x, list, sizeof(list)), 0);
	kernel->running_executor.start_nsec += NSEC_PER_SEC;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(executors_living(x, list, sizeof(list)), 0);
}

static void is_an_execution(void **state)
{
	json_int_t found = 0;

	(void)state;
	write_config("", make_program(), world_path("work"));
	kernel->label_pid = run(gone);
	load_and_scan();
	assert_int_equal(listed(&found), 0);
	kernel->label_pid = 0;
}

static void others(void **state)
{
	json_int_t found = 0;
	char text[1024];

	(void)state;
	run(make_program());
	for (size_t i = 0; i < 5; i++) {
		static const char *const more[] = {", arguments: \"*2000\"",
						   ", arguments: \"sleep\"", ", user: 12345",
						   ", cgroup: /no/such", ", arguments: \"1*0\""};

		snprintf(text, sizeof(text),
			 "version: 1\nexecutors:\n  - {name: late, match: {executable: %s%s},"
			 " policy: p, workdir_under: [%s]}\n",
			 gone, more[i], world_path("work"));
		world_write("cordon.yaml", text);
		load_and_scan();
		assert_int_equal(listed(&found), i == 4);
	}
}

static void cannot_be_looked_for(void **state)
{
	struct failure failure = {};
	json_int_t found = 0;
	struct gathering *g;
	size_t count;

	(void)state;
	write_config("", make_program(), world_path("work"));
	run(gone);
	g = gather(file);
	faults_set_for("errand_start", EAGAIN);
	assert_int_equal(executors_load(x, g, &count, &failure), 0);
	faults_none();
	gathering_free(g);
	assert_null(x->scanning);
	assert_non_null(strstr(seen.said, "are not looked for"));
	errand_answers(0);
	assert_null(x->saving);
	assert_int_equal(load_file(&count, &failure), 0);
	errand_answers(-ETIMEDOUT);
	assert_int_equal(load_file(&count, &failure), 0);
	faults_set_for("adoption_list_executors", ENOMEM);
	errand_answers(0);
	faults_none();
	assert_int_equal(listed(&found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(missing_program),
		TEST(it_comes),
		TEST(the_others_stay),
		TEST(not_too_often),
		TEST(by_a_link),
		TEST(missing_directory),
		TEST(missing_match),
		TEST(missing_policy),
		TEST(missing_for_itself),
		TEST(it_goes),
		TEST(tables_full),
		TEST(shown),
		TEST(last_good),
		TEST(none_kept),
		TEST(cannot_be_kept),
		TEST(no_file),
		TEST(file_is_silent),
		TEST(one_entry_is_silent),
		TEST(approval),
		TEST(approval_without_a_place),
		TEST(ran_before),
		TEST(ended_since),
		TEST(recognised),
		TEST(a_link_moves),
		TEST(it_moves_all_the_time),
		TEST(another_value_moves),
		TEST(worker_fails),
		TEST(by_a_pattern),
		TEST(is_an_execution),
		TEST(others),
		TEST(cannot_be_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
