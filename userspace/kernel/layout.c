/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the layout of the kernel's objects with the layout that the programs were built for. */
#include "kernel/layout.h"

#include <bpf/btf.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS    16 /* of one access, from its struct to the field */
#define MAX_NESTING  16 /* of anonymous structs */
#define MAX_VARIANTS 32
#define NAME_SIZE    64
#define PATH_SIZE    160
#define ELEMENT	     "[]"
#define FLAVOUR	     "___"

DEFINE_CLEANUP(Elf *, elf_end, elfp)

/* As compilers write them; linux/bpf.h has struct bpf_core_relo. */
struct extension_header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t length;
	uint32_t functions, functions_length, lines, lines_length, relocations, relocations_length;
};

struct extension_section {
	uint32_t name;
	uint32_t count;
};

enum found {
	FOUND_NONE,
	FOUND_SAME,
	FOUND_OTHER, /* accepted by libbpf, but another type */
};

struct access {
	uint32_t type;
	uint32_t path; /* offset of "0:1:2" among the strings */
	bool asked;    /* the object checks whether it exists */
};

/* One of the known layouts of a subject. */
struct variant {
	char subject[NAME_SIZE];
	char name[NAME_SIZE];
	char missing[PATH_SIZE]; /* its first missing field, or "" */
};

struct root {
	char name[NAME_SIZE];
};

struct candidate {
	size_t root;
	uint32_t id;
};

struct check {
	struct btf *local;
	void *extension; /* section of relocations */
	size_t extension_size;
	const struct btf *kernel;
	struct access *accesses;
	size_t count;
	struct root *roots; /* by name */
	size_t root_count;
	struct candidate *candidates; /* types of the kernel with one of these names */
	size_t candidate_count;
	struct variant variants[MAX_VARIANTS];
	size_t variant_count;
};

/* An access by names: the struct's, and each member's. */
struct steps {
	char root[NAME_SIZE]; /* without flavour */
	char flavour[NAME_SIZE];
	const char *names[MAX_STEPS];
	size_t count;
	uint32_t leaf;
	uint32_t bits; /* offset */
	bool narrow;   /* a bit field */
};

static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static const char *name_of(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

static size_t length_without_flavour(const char *name)
{
	const char *at = strstr(name, FLAVOUR);

	return at ? (size_t)(at - name) : strlen(name);
}

static bool same_name(const char *a, const char *b)
{
	size_t length = length_without_flavour(a);

	return length == length_without_flavour(b) && strncmp(a, b, length) == 0;
}

static bool is_composite(const struct btf_type *type)
{
	return btf_is_composite(type) || btf_is_fwd(type);
}

static bool is_number(const struct btf_type *type)
{
	return btf_is_int(type) || btf_is_any_enum(type);
}

/* Would libbpf accept one for the other (libbpf, relo_core.c, bpf_core_fields_are_compat())? */
static bool passes_for(const struct btf_type *a, const struct btf_type *b)
{
	if (is_number(a) || is_number(b))
		return is_number(a) && is_number(b);
	if (btf_is_composite(a) || btf_is_composite(b))
		return btf_is_composite(a) && btf_is_composite(b);
	return btf_kind(a) == btf_kind(b);
}

static bool same_type(const struct btf *local, uint32_t a, const struct btf *kernel, uint32_t b)
{
	const struct btf_type *x = plain(local, a), *y = plain(kernel, b);

	for (int depth = 0; depth < MAX_NESTING; depth++) {
		const char *name = name_of(local, x->name_off);

		/* Nothing is known about the target of a pointer to void. */
		if (depth > 0 && btf_is_void(x))
			return true;
		if (is_number(x) || is_number(y))
			return is_number(x) && is_number(y) && x->size == y->size;
		if (is_composite(x) && is_composite(y))
			return name[0] ? same_name(name, name_of(kernel, y->name_off))
				       : !btf_is_fwd(y) && x->size == y->size;
		if (btf_kind(x) != btf_kind(y))
			return false;
		if (btf_is_array(x)) {
			x = plain(local, btf_array(x)->type);
			y = plain(kernel, btf_array(y)->type);
		} else if (btf_is_ptr(x)) {
			x = plain(local, x->type);
			y = plain(kernel, y->type);
		} else {
			return true;
		}
	}
	return false;
}

/* Also searches anonymous structs. NULL: no member has that name. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
					    const char *name, uint32_t *bits, bool *ret_narrow,
					    int depth)
{
	const struct btf_member *member = btf_members(type);

	for (uint32_t i = 0; depth < MAX_NESTING && i < btf_vlen(type); i++, member++) {
		uint32_t offset = btf_member_bit_offset(type, i);
		const char *is = name_of(btf, member->name_off);
		const struct btf_member *inner = NULL;

		if (strcmp(is, name) == 0) {
			*bits += offset;
			*ret_narrow = btf_member_bitfield_size(type, i) != 0;
			return member;
		}
		if (!is[0] && btf_is_composite(plain(btf, member->type)))
			inner = find_member(btf, plain(btf, member->type), name, bits, ret_narrow,
					    depth + 1);
		if (inner) {
			*bits += offset;
			return inner;
		}
	}
	return NULL;
}

static enum found find_in(const struct check *c, const struct steps *steps, uint32_t root,
			  bool in_place)
{
	const struct btf_type *type = plain(c->kernel, root);
	uint32_t id = root, bits = 0;
	bool narrow = false;

	for (size_t i = 0; i < steps->count; i++) {
		if (strcmp(steps->names[i], ELEMENT) == 0) {
			if (!btf_is_array(type))
				return FOUND_NONE;
			id = btf_array(type)->type;
		} else {
			const struct btf_member *member = btf_is_composite(type)
								  ? find_member(c->kernel, type,
										steps->names[i],
										&bits, &narrow, 0)
								  : NULL;

			if (!member)
				return FOUND_NONE;
			id = member->type;
		}
		type = plain(c->kernel, id);
	}
	if (!passes_for(plain(c->local, steps->leaf), type))
		return FOUND_NONE;
	/*
	 * Bit fields are read by CO-RE at any offset, but a whole field must not have become a bit
	 * field.
	 */
	if (narrow != steps->narrow || (in_place && steps->bits == 0 && bits != 0))
		return FOUND_OTHER;
	return same_type(c->local, steps->leaf, c->kernel, id) ? FOUND_SAME : FOUND_OTHER;
}

static int compare_roots(const void *a, const void *b)
{
	return strcmp(((const struct root *)a)->name, ((const struct root *)b)->name);
}

/* Searches all types with that name; a kernel may have several. */
static enum found find(const struct check *c, const struct steps *steps, bool in_place)
{
	enum found found = FOUND_NONE;
	struct root wanted;
	const struct root *root;

	memcpy(wanted.name, steps->root, sizeof(wanted.name));
	root = bsearch(&wanted, c->roots, c->root_count, sizeof(wanted), compare_roots);
	for (size_t i = 0; root && i < c->candidate_count && found != FOUND_OTHER; i++) {
		enum found here;

		if (&c->roots[c->candidates[i].root] != root)
			continue;
		here = find_in(c, steps, c->candidates[i].id, in_place);
		if (here != FOUND_NONE)
			found = here;
	}
	return found;
}

/* Converts an access to names. False: it is no access to a field. */
static bool read_steps(const struct btf *btf, uint32_t root, const char *path, struct steps *steps)
{
	const struct btf_type *type = plain(btf, root);
	const char *name = name_of(btf, type->name_off);
	size_t length = length_without_flavour(name);
	char *end;

	*steps = (struct steps){.leaf = root};
	if (!btf_is_composite(type) || length == 0 || length >= NAME_SIZE || *path == '\0')
		return false;
	memcpy(steps->root, name, length);
	if (name[length])
		snprintf(steps->flavour, NAME_SIZE, "%s", name + length + strlen(FLAVOUR));
	/* The first step is an index into an array of such structs. */
	for (path += strcspn(path, ":"); *path == ':'; path = end) {
		unsigned long index = strtoul(path + 1, &end, 10);

		if (end == path + 1 || steps->count == MAX_STEPS)
			return false;
		if (btf_is_array(type)) {
			steps->names[steps->count++] = ELEMENT;
			steps->leaf = btf_array(type)->type;
		} else if (btf_is_composite(type) && index < btf_vlen(type)) {
			const struct btf_member *member = btf_members(type) + index;

			name = name_of(btf, member->name_off);
			if (name[0])
				steps->names[steps->count++] = name;
			steps->bits += btf_member_bit_offset(type, (uint32_t)index);
			steps->leaf = member->type;
			steps->narrow = btf_member_bitfield_size(type, (uint32_t)index) != 0;
		} else {
			return false;
		}
		type = plain(btf, steps->leaf);
	}
	return steps->count > 0;
}

static void write_path(const struct steps *steps, char text[PATH_SIZE])
{
	size_t length = (size_t)snprintf(text, PATH_SIZE, "%s", steps->root);

	for (size_t i = 0; i < steps->count && length < PATH_SIZE; i++)
		length += (size_t)snprintf(text + length, PATH_SIZE - length, "%s%s",
					   strcmp(steps->names[i], ELEMENT) == 0 ? "" : ".",
					   steps->names[i]);
}

/*
 * Does the object contain a relocation of this kind for a type of this name, such as whether it
 * exists?
 */
static bool asks_about(const struct check *c, const struct bpf_core_relo *relocations, size_t count,
		       enum bpf_core_relo_kind kind, const char *root)
{
	for (size_t i = 0; i < count; i++) {
		const struct btf_type *type;

		if (relocations[i].kind != kind)
			continue;
		type = plain(c->local, relocations[i].type_id);
		if (strcmp(name_of(c->local, type->name_off), root) == 0)
			return true;
	}
	return false;
}

static bool has_type(const struct check *c, const char *name)
{
	for (size_t i = 0; i < c->candidate_count; i++)
		if (strcmp(c->roots[c->candidates[i].root].name, name) == 0)
			return true;
	return false;
}

/* "SUBJECT_VARIANT"; NULL: the flavour is not one of several. */
static struct variant *variant_of(struct check *c, const char *flavour)
{
	const char *name = strchr(flavour, '_');
	size_t length;
	struct variant *v;

	if (!name)
		return NULL;
	length = (size_t)(name - flavour);
	for (size_t i = 0; i < c->variant_count; i++) {
		v = &c->variants[i];
		if (strlen(v->subject) == length && strncmp(v->subject, flavour, length) == 0 &&
		    strcmp(v->name, name + 1) == 0)
			return v;
	}
	if (c->variant_count == MAX_VARIANTS)
		return NULL;
	v = &c->variants[c->variant_count++];
	snprintf(v->subject, NAME_SIZE, "%.*s", (int)length, flavour);
	snprintf(v->name, NAME_SIZE, "%s", name + 1);
	return v;
}

static int check_access(struct check *c, const struct access *access,
			const struct bpf_core_relo *relocations, size_t count,
			struct failure *failure)
{
	struct variant *variant;
	struct steps steps;
	char path[PATH_SIZE];
	enum found found;
	bool in_place;

	if (!read_steps(c->local, access->type, name_of(c->local, access->path), &steps))
		return 0;
	/*
	 * An address may be cast to a type that only its start has in common. Variants are never
	 * cast to.
	 */
	in_place = !steps.flavour[0] &&
		   asks_about(c, relocations, count, BPF_CORE_TYPE_ID_TARGET, steps.root);
	found = find(c, &steps, in_place);
	write_path(&steps, path);
	if (found == FOUND_OTHER)
		return failure_set(failure, EOPNOTSUPP,
				   "this kernel has struct %s as something else than cordon knows",
				   path);
	variant = variant_of(c, steps.flavour);
	if (found == FOUND_NONE && variant && !variant->missing[0])
		memcpy(variant->missing, path, sizeof(path));
	if (found == FOUND_SAME || variant || access->asked)
		return 0;
	if (!has_type(c, steps.root) &&
	    asks_about(c, relocations, count, BPF_CORE_TYPE_EXISTS, steps.root))
		return 0;
	return failure_set(failure, EOPNOTSUPP,
			   "this kernel has no struct %s, or something else by that name", path);
}

static int check_variants(const struct check *c, struct failure *failure)
{
	for (size_t i = 0; i < c->variant_count; i++) {
		const char *missing = NULL;

		for (size_t k = 0; k < c->variant_count; k++) {
			if (strcmp(c->variants[k].subject, c->variants[i].subject) != 0)
				continue;
			missing = c->variants[k].missing;
			if (!missing[0])
				break;
		}
		if (missing[0])
			return failure_set(
				failure, EOPNOTSUPP,
				"this kernel lays out \"%s\" in no way that cordon knows: "
				"it has no struct %s, or something else by that name",
				c->variants[i].subject, missing);
	}
	return 0;
}

static int compare_accesses(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

/* Keeps each access once, however often the programs contain it. */
static void merge_accesses(struct check *c)
{
	size_t kept = 0;

	qsort(c->accesses, c->count, sizeof(*c->accesses), compare_accesses);
	for (size_t i = 0; i < c->count; i++) {
		struct access *last = kept > 0 ? &c->accesses[kept - 1] : NULL;

		if (last && compare_accesses(last, &c->accesses[i]) == 0)
			last->asked |= c->accesses[i].asked;
		else
			c->accesses[kept++] = c->accesses[i];
	}
	c->count = kept;
}

/* Iterates over the kernel's types once. */
static int find_candidates(struct check *c)
{
	uint32_t types = btf__type_cnt(c->kernel);
	size_t room = 0, kept = 0;
	struct steps steps;

	c->roots = calloc(c->count + 1, sizeof(*c->roots));
	if (!c->roots)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++)
		if (read_steps(c->local, c->accesses[i].type,
			       name_of(c->local, c->accesses[i].path), &steps))
			memcpy(c->roots[c->root_count++].name, steps.root, NAME_SIZE);
	qsort(c->roots, c->root_count, sizeof(*c->roots), compare_roots);
	for (size_t i = 0; i < c->root_count; i++)
		if (kept == 0 || compare_roots(&c->roots[kept - 1], &c->roots[i]) != 0)
			c->roots[kept++] = c->roots[i];
	c->root_count = kept;
	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *type = btf__type_by_id(c->kernel, id);
		const struct root *root;
		struct root is = {};

		if (!btf_is_composite(type) || !type->name_off)
			continue;
		snprintf(is.name, NAME_SIZE, "%s", name_of(c->kernel, type->name_off));
		root = bsearch(&is, c->roots, c->root_count, sizeof(is), compare_roots);
		if (!root)
			continue;
		if (c->candidate_count == room) {
			struct candidate *more =
				reallocarray(c->candidates, room += 256, sizeof(*more));

			if (!more)
				return -ENOMEM;
			c->candidates = more;
		}
		c->candidates[c->candidate_count++] =
			(struct candidate){.root = (size_t)(root - c->roots), .id = id};
	}
	return 0;
}

static bool is_of_field(enum bpf_core_relo_kind kind)
{
	return kind <= BPF_CORE_FIELD_RSHIFT_U64;
}

/* Reads the relocations of all programs. */
static int read_relocations(const struct check *c, struct bpf_core_relo **ret_relocations,
			    size_t *ret_count)
{
	struct bpf_core_relo *relocations = NULL;
	const struct extension_header *header = c->extension;
	const unsigned char *at, *end;
	size_t size = c->extension_size, count = 0;
	uint32_t record;

	if (size < sizeof(*header) || header->length < sizeof(*header) ||
	    (uint64_t)header->length + header->relocations + header->relocations_length > size ||
	    header->relocations_length < sizeof(record))
		return -EBADMSG;
	at = (const unsigned char *)header + header->length + header->relocations;
	end = at + header->relocations_length;
	memcpy(&record, at, sizeof(record));
	if (record != sizeof(*relocations))
		return -EBADMSG;
	relocations = malloc(header->relocations_length);
	if (!relocations)
		return -ENOMEM;
	for (at += sizeof(record); at < end;) {
		struct extension_section section;

		if ((size_t)(end - at) < sizeof(section))
			break;
		memcpy(&section, at, sizeof(section));
		at += sizeof(section);
		if ((size_t)(end - at) / record < section.count)
			break;
		memcpy(relocations + count, at, (size_t)section.count * record);
		count += section.count;
		at += (size_t)section.count * record;
	}
	if (at != end) {
		free(relocations);
		return -EBADMSG;
	}
	*ret_relocations = relocations;
	*ret_count = count;
	return 0;
}

static int check_all(struct check *c, struct failure *failure)
{
	_cleanup_(freep) struct bpf_core_relo *relocations = NULL;
	size_t count = 0;
	int r = read_relocations(c, &relocations, &count);

	if (r < 0)
		return r;
	c->accesses = calloc(count + 1, sizeof(*c->accesses));
	if (!c->accesses)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (is_of_field(relocations[i].kind))
			c->accesses[c->count++] = (struct access){
				.type = relocations[i].type_id,
				.path = relocations[i].access_str_off,
				.asked = relocations[i].kind == BPF_CORE_FIELD_EXISTS,
			};
	merge_accesses(c);
	r = find_candidates(c);
	for (size_t i = 0; r == 0 && i < c->count; i++)
		r = check_access(c, &c->accesses[i], relocations, count, failure);
	return r == 0 ? check_variants(c, failure) : r;
}

static int read_sections(const void *image, size_t size, struct check *c)
{
	_cleanup_(elfp) Elf *elf = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	elf_version(EV_CURRENT);
	/* libelf only reads it. */
	elf = elf_memory((char *)(uintptr_t)image, size);
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return -EBADMSG;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header))
			return -EBADMSG;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || (strcmp(name, BTF_ELF_SEC) != 0 && strcmp(name, BTF_EXT_ELF_SEC) != 0))
			continue;
		data = elf_rawdata(section, NULL);
		if (!data)
			return -EBADMSG;
		if (strcmp(name, BTF_ELF_SEC) == 0 && !c->local) {
			c->local = btf__new(data->d_buf, (uint32_t)data->d_size);
		} else if (!c->extension) {
			/*
			 * Copied for alignment, because the section in the file need not be
			 * aligned.
			 */
			c->extension = malloc(data->d_size + 1);
			c->extension_size = data->d_size;
			if (!c->extension)
				return -ENOMEM;
			memcpy(c->extension, data->d_buf, data->d_size);
		}
	}
	return c->local && c->extension ? 0 : -EBADMSG;
}

int layout_check(const void *image, size_t size, const struct btf *kernel, struct failure *failure)
{
	struct check *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->kernel = kernel;
	r = read_sections(image, size, c);
	if (r == 0)
		r = check_all(c, failure);
	if (r == 0)
		r = (int)c->count;
	btf__free(c->local);
	free(c->extension);
	free(c->accesses);
	free(c->roots);
	free(c->candidates);
	free(c);
	return r;
}
