/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A connect to the address 0 reaches the host itself (ip_route_output_key_hash(),
 * ip6_dst_lookup_tail()). This function replaces it by the loopback address. The kernel programs
 * and the code that predicts their verdicts share it.
 */
#ifndef CORDON_BPF_OWN_HOST_H
#define CORDON_BPF_OWN_HOST_H

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_HOST_WORD(number) __builtin_bswap32(number)
#else
#define OWN_HOST_WORD(number) (number)
#endif

/* `words`: an address in network byte order, one word for IPv4 or four for IPv6. */
static __always_inline void spell_own_host(__u32 *words, bool v6)
{
	if (!v6) {
		if (!words[0])
			words[0] = OWN_HOST_WORD(0x7f000001u);
	} else if (!words[0] && !words[1]) {
		if (!words[2] && !words[3])
			words[3] = OWN_HOST_WORD(1u);
		else if (words[2] == OWN_HOST_WORD(0xffffu) && !words[3])
			words[3] = OWN_HOST_WORD(0x7f000001u);
	}
}

#endif
