/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), for the page's Content-Security-Policy. */
#include <stdint.h>
#include <string.h>

#include "report.h"

/* Fractional parts of the cube roots of the first 64 primes, and of the square roots of the first 8. */
static const uint32_t cubes[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t squares[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t
turned(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static void
take_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		    (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		    (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
		    (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof s);
	for (int i = 0; i < 64; i++) {
		uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
		    ((s[4] & s[5]) ^ (~s[4] & s[6])) + cubes[i] + w[i];
		uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
		    ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof s[0]);
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

static void
base64(const unsigned char bytes[33], char text[45])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (int i = 0; i < 11; i++) {
		uint32_t three = (uint32_t)bytes[3 * i] << 16 | (uint32_t)bytes[3 * i + 1] << 8 | bytes[3 * i + 2];

		for (int k = 0; k < 4; k++)
			text[4 * i + k] = letters[three >> (18 - 6 * k) & 63];
	}
	text[43] = '=';		/* 32 bytes are one less than 11 times 3 */
	text[44] = '\0';
}

void
sha256_base64(const void *bytes, size_t size, char text[45])
{
	unsigned char last[128] = { 0 }, hash[33] = { 0 };
	size_t whole = size / 64 * 64, rest = size - whole, end = rest < 56 ? 64 : 128;
	uint32_t state[8];

	memcpy(state, squares, sizeof state);
	for (size_t i = 0; i < whole; i += 64)
		take_block(state, (const unsigned char *)bytes + i);
	memcpy(last, (const unsigned char *)bytes + whole, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)size * 8 >> (8 * i));
	for (size_t i = 0; i < end; i += 64)
		take_block(state, last + i);
	for (int i = 0; i < 32; i++)
		hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
	base64(hash, text);
}
