/* SHA-256 (FIPS 180-4), for the digest of a gradient manifest.  Not for secrets. */
#ifndef TSTRACE_CORE_SHA256_H
#define TSTRACE_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct ts_sha256 {
	uint32_t state[8];
	uint64_t size; /* bytes so far */
	unsigned char block[64];
};

void ts_sha256_begin(struct ts_sha256 *sha);
void ts_sha256_add(struct ts_sha256 *sha, const void *data, size_t size);

/* The digest as 64 lower-case hex digits and a NUL. */
void ts_sha256_end(struct ts_sha256 *sha, char hex[65]);

#endif
