/* SPDX-License-Identifier: Apache-2.0 */
/* The text of policies in memory, and positions in it. */
#include "policy/source/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "policy/source/inputs.h"
#include "policy/core/utf8.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

int source_read(struct arena *a, const char *path, const char *name, struct source **ret_source)
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *text = NULL;
	struct source *s;
	struct stat st;
	size_t size;
	int r;

	/* O_NONBLOCK: a FIFO must not block the caller before it is rejected below. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = io_read_all(fd, SOURCE_SIZE_MAX, &text, &size);
	if (r < 0)
		return r;
	s = arena_alloc(a, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->name = arena_copy(a, name, strlen(name));
	s->path = arena_copy(a, path, strlen(path));
	s->text = arena_copy(a, text, size);
	if (!s->name || !s->path || !s->text)
		return -ENOMEM;
	s->size = size;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	*ret_source = s;
	return 0;
}

static struct policy_inputs *inputs_of(const struct policy_search *search)
{
	return search ? search->inputs : NULL;
}

int source_read_input(struct arena *a, const char *path, const char *name,
		      const struct policy_search *search, struct source **ret_source)
{
	int r = source_read(a, path, name, ret_source);

	return r < 0 ? r : policy_inputs_add_file(inputs_of(search), *ret_source);
}

/* 1: the file exists; 0: it does not. */
static int exists(const char *path, const struct policy_search *search)
{
	bool found = access(path, F_OK) == 0;
	int r = policy_inputs_add_name(inputs_of(search), path, found);

	return r < 0 ? r : found;
}

/* The first existing DIRECTORY/NAME; .yaml is appended if it is missing. */
static int find_in(struct arena *a, const char *name, const struct policy_search *search,
		   const char **ret_path)
{
	const char *suffix = ends_with(name, ".yaml") ? "" : ".yaml";

	for (size_t i = 0; search && search->directories && search->directories[i]; i++) {
		char *path = arena_printf(a, "%s/%s%s", search->directories[i], name, suffix);
		int r = path ? exists(path, search) : -ENOMEM;

		if (r < 0)
			return r;
		if (r > 0) {
			*ret_path = path;
			return 0;
		}
	}
	return -ENOENT;
}

int source_find(struct arena *a, const char *name, const struct policy_search *search,
		const char **ret_path)
{
	if (strchr(name, '/') || ends_with(name, ".yaml")) {
		*ret_path = arena_copy(a, name, strlen(name));
		return *ret_path ? 0 : -ENOMEM;
	}
	return find_in(a, name, search, ret_path);
}

int source_find_include(struct arena *a, const char *name, const struct source *from,
			const struct policy_search *search, const char **ret_path)
{
	bool whole = name[0] == '/' && exists(name, search) > 0;
	const char *suffix = whole || ends_with(name, ".yaml") ? "" : ".yaml";
	const char *slash = strrchr(from->path, '/');
	int length = slash && name[0] != '/' ? (int)(slash - from->path) + 1 : 0;
	char *path = arena_printf(a, "%.*s%s%s", length, from->path, name, suffix);
	int r = path ? exists(path, search) : -ENOMEM;

	if (r < 0)
		return r;
	if (r > 0) {
		*ret_path = path;
		return 0;
	}
	return name[0] == '/' ? -ENOENT : find_in(a, name, search, ret_path);
}

bool source_find_bad_byte(const struct source *s, struct place *ret_place, bool *ret_nul)
{
	unsigned int line = 1, column = 1;
	size_t i = 0;

	while (i < s->size) {
		size_t n = s->text[i] == '\0' ? 0 : utf8_length(s->text + i, s->size - i);

		if (n == 0) {
			*ret_place = (struct place){s, line, column};
			*ret_nul = s->text[i] == '\0';
			return true;
		}
		column++;
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		}
		i += n;
	}
	return false;
}

static const char *find_line(const struct source *s, unsigned int line, size_t *ret_size)
{
	const char *p = s->text, *end = s->text + s->size, *newline;

	while (--line > 0) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return NULL;
		p++;
	}
	newline = memchr(p, '\n', (size_t)(end - p));
	*ret_size = (size_t)((newline ? newline : end) - p);
	if (*ret_size && p[*ret_size - 1] == '\r')
		--*ret_size;
	return p;
}

static void _printf_(5, 0)
	report(struct diagnostics *d, enum diagnostic_severity severity, const struct place *place,
	       const char *hint, const char *format, va_list arguments)
{
	size_t size = 0;
	const char *line = place->line ? find_line(place->source, place->line, &size) : NULL;
	struct diagnostic entry = {
		.severity = severity,
		.file = (char *)place->source->name,
		.line = place->line,
		.column = place->column,
		.hint = (char *)hint,
		.excerpt = (char *)line,
	};

	diagnostics_add(d, &entry, size, format, arguments);
}

void report_error(struct diagnostics *d, const struct place *place, const char *hint,
		  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(d, DIAGNOSTIC_ERROR, place, hint, format, arguments);
	va_end(arguments);
}

void report_warning(struct diagnostics *d, const struct place *place, const char *hint,
		    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(d, DIAGNOSTIC_WARNING, place, hint, format, arguments);
	va_end(arguments);
}

void report_note(struct diagnostics *d, const struct place *place, const char *hint,
		 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(d, DIAGNOSTIC_NOTE, place, hint, format, arguments);
	va_end(arguments);
}
