/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses that a wide block or `to: any` does not match. */
#include "policy/automaton/sheltered.h"

/* The forms of an IPv4 block in NAT64's well-known prefix (RFC 6052) and in 6to4 (RFC 3056). */
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
	/* multicast and broadcast: they also reach the host itself */
	EVERY_FORM(4, 224),
	{6, 8, {0xff}},
	EVERY_FORM(32, 255, 255, 255, 255),
	/*
	 * Other forms of IPv4 addresses, with a variable position in the address: compatible (RFC
	 * 4291), translated (RFC 2765), a site's NAT64 prefix (RFC 8215), Teredo (RFC 4380).
	 */
	{6, 96, {0}},
	{6, 96, {[8] = 0xff, 0xff}},
	{6, 48, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}},
	{6, 32, {0x20, 0x01}},
};

#define SHELTERED_COUNT ARRAY_SIZE(sheltered)
_Static_assert(SHELTERED_COUNT <= 64, "a set of blocks is a word");

/* The bits of a byte that a block's prefix does not cover. */
static uint8_t open_bits(const struct net_block *b, unsigned int byte)
{
	unsigned int kept = b->prefix > byte * 8 ? b->prefix - byte * 8u : 0;

	return kept >= 8 ? 0 : (uint8_t)(0xffu >> kept);
}

/* Compares the first `prefix` bits. */
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

/* Bit n: block n of the table must be excluded. */
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

/* A run of byte values that all exclude the same blocks. */
struct fate {
	uint8_t low, high;
	uint64_t set;  /* sheltered blocks that continue in the next byte */
	bool excluded; /* a block that ends with this byte covers them */
};

/* The longest run of values from `low` on that exclude the same blocks. */
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
