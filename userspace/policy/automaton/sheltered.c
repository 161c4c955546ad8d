/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses a wide block or `to: any` does not lead to. */
#include "policy/automaton/sheltered.h"

/* What NAT64's well-known prefix (RFC 6052) and 6to4 (RFC 3056) make of an IPv4 block. */
#define NAT64(prefix, ...)                                                                         \
	{                                                                                          \
		6, 96 + (prefix),                                                                  \
		{                                                                                  \
			0x00, 0x64, 0xff, 0x9b, [12] = __VA_ARGS__                                 \
		}                                                                                  \
	}
#define SIX_TO_FOUR(prefix, ...)                                                                   \
	{                                                                                          \
		6, 16 + (prefix),                                                                  \
		{                                                                                  \
			0x20, 0x02, __VA_ARGS__                                                    \
		}                                                                                  \
	}
#define EVERY_FORM(prefix, ...)                                                                    \
	{4, prefix, {__VA_ARGS__}}, NAT64(prefix, __VA_ARGS__), SIX_TO_FOUR(prefix, __VA_ARGS__)

static const struct net_block sheltered[] = {
	/* loopback */
	EVERY_FORM(8, 127),
	{6, 128, {[15] = 1}},
	/* link-local: EC2, Google, Azure, OpenStack, DigitalOcean; ECS and EKS credentials */
	EVERY_FORM(16, 169, 254),
	{6, 10, {0xfe, 0x80}},
	EVERY_FORM(32, 169, 254, 169, 254),
	EVERY_FORM(32, 169, 254, 170, 2),
	EVERY_FORM(32, 169, 254, 170, 23),
	/* EC2 over IPv6: ...::254 metadata, ...::23 EKS credentials, ...::253 DNS, ...::123 time */
	{6, 32, {0xfd, 0x00, 0x0e, 0xc2}},
	{6, 128, {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54}},
	{6, 128, {0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23}},
	/* Google over IPv6 */
	{6, 128, {0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54}},
	/* Alibaba; Azure's host agent; Oracle */
	EVERY_FORM(32, 100, 100, 100, 200),
	EVERY_FORM(32, 168, 63, 129, 16),
	EVERY_FORM(32, 192, 0, 0, 192),
	/* everybody on the link, and groups: the host itself among them */
	EVERY_FORM(4, 224),
	{6, 8, {0xff}},
	EVERY_FORM(32, 255, 255, 255, 255),
	/*
	 * Other ways to write IPv4 addresses, whose place in the address is not always the same:
	 * compatible (RFC 4291), translated (RFC 2765), NAT64 of a site's own (RFC 8215), Teredo
	 * (RFC 4380).
	 */
	{6, 96, {0}},
	{6, 96, {[8] = 0xff, 0xff}},
	{6, 48, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}},
	{6, 32, {0x20, 0x01}},
};

#define SHELTERED_COUNT ARRAY_SIZE(sheltered)
_Static_assert(SHELTERED_COUNT <= 64, "a set of blocks is a word");

/* The bits that a block leaves open in one of its bytes. */
static uint8_t open_bits(const struct net_block *b, unsigned int byte)
{
	unsigned int kept = b->prefix > byte * 8 ? b->prefix - byte * 8u : 0;

	return kept >= 8 ? 0 : (uint8_t)(0xffu >> kept);
}

/* Do the first `prefix` bits agree? */
static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned int prefix)
{
	for (unsigned int i = 0; i * 8 < prefix; i++) {
		uint8_t mask = prefix - i * 8 >= 8 ? 0xff : (uint8_t)~(0xffu >> (prefix - i * 8));

		if ((a[i] ^ b[i]) & mask)
			return false;
	}
	return true;
}

bool sheltered_address(uint8_t family, const uint8_t *address)
{
	for (size_t i = 0; i < SHELTERED_COUNT; i++)
		if (sheltered[i].family == family &&
		    same_prefix(sheltered[i].address, address, sheltered[i].prefix))
			return true;
	return false;
}

/* Bit n: block n of the table is to be left out. */
static uint64_t left_out(const struct net_block *block)
{
	uint64_t set = 0;

	for (size_t i = 0; i < SHELTERED_COUNT; i++)
		if (sheltered[i].family == block->family && sheltered[i].prefix > block->prefix &&
		    same_prefix(sheltered[i].address, block->address, block->prefix))
			set |= 1ull << i;
	return set;
}

bool sheltered_within(const struct net_block *block)
{
	return left_out(block) != 0;
}

bool sheltered_named(const struct net_block *block)
{
	if (block->prefix == (block->family == 4 ? 32 : 128))
		return true;
	for (size_t i = 0; i < SHELTERED_COUNT; i++)
		if (sheltered[i].family == block->family && sheltered[i].prefix <= block->prefix &&
		    same_prefix(sheltered[i].address, block->address, sheltered[i].prefix))
			return true;
	return false;
}

struct following {
	struct nfa *nfa;
	const struct net_block *block;
	unsigned int bytes;
	int (*visit)(void *context, uint32_t node);
	void *context;
};

/* What is left out of a run of byte values that all have the same fate. */
struct fate {
	uint8_t low, high;
	uint64_t set;  /* sheltered blocks that go on below these values */
	bool excluded; /* one that ends with this byte covers them */
};

/* The longest run of values from `low` on that share a fate. */
static struct fate next_fate(uint64_t set, unsigned int byte, unsigned int low, unsigned int high)
{
	struct fate fate = {.low = (uint8_t)low};

	for (size_t i = 0; i < SHELTERED_COUNT; i++) {
		const struct net_block *s = &sheltered[i];
		unsigned int first = s->address[byte], last = first | open_bits(s, byte);

		if (!(set & 1ull << i))
			continue;
		if (low < first) {
			high = high < first - 1 ? high : first - 1;
		} else if (low <= last) {
			high = high < last ? high : last;
			if (s->prefix <= (byte + 1) * 8)
				fate.excluded = true;
			else
				fate.set |= 1ull << i;
		}
	}
	fate.high = (uint8_t)high;
	return fate;
}

static int follow(const struct following *f, uint32_t node, unsigned int byte, uint64_t set)
{
	unsigned int low, last;

	if (byte == f->bytes)
		return f->visit(f->context, node);
	low = f->block->address[byte];
	last = low | open_bits(f->block, byte);
	while (low <= last) {
		struct fate fate = next_fate(set, byte, low, last);
		uint32_t next;
		int r;

		low = fate.high + 1u;
		if (fate.excluded)
			continue;
		r = nfa_follow_range(f->nfa, node, fate.low, fate.high, &next);
		if (r == 0)
			r = follow(f, next, byte + 1, fate.set);
		if (r != 0)
			return r;
	}
	return 0;
}

int sheltered_follow(struct nfa *n, uint32_t node, const struct net_block *block,
		     int (*visit)(void *context, uint32_t node), void *context)
{
	const struct following f = {n, block, block->family == 4 ? 4 : 16, visit, context};

	return follow(&f, node, 0, left_out(block));
}
