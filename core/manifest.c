#include "core/manifest.h"

#include <string.h>

void ts_manifest_begin(struct ts_sha256 *sha)
{
	static const char domain[] = "candle-graph/gradient-manifest/1";

	ts_sha256_begin(sha);
	ts_sha256_add(sha, domain, sizeof(domain));     /* its NUL belongs to it */
}

void ts_manifest_add(struct ts_sha256 *sha, const char *text, size_t bytes)
{
	unsigned char size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (unsigned char)((uint64_t)bytes >> (8 * i));
	ts_sha256_add(sha, size, sizeof(size));
	ts_sha256_add(sha, text, bytes);
}

void ts_manifest_end(struct ts_sha256 *sha, char digest[TS_MANIFEST_DIGEST])
{
	memcpy(digest, "sha256:", 7);
	ts_sha256_end(sha, digest + 7);
}
