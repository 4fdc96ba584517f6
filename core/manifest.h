/* The digest of a gradient manifest (candle-graph/gradient-manifest/1): "sha256:" and 64 digits
 * over the texts root, key and family of each entry, in their order.  The recorder prints it, the
 * reader checks it. */
#ifndef TSTRACE_CORE_MANIFEST_H
#define TSTRACE_CORE_MANIFEST_H

#include "core/sha256.h"

#define TS_MANIFEST_DIGEST 72   /* bytes, with the NUL */

void ts_manifest_begin(struct ts_sha256 *sha);
void ts_manifest_add(struct ts_sha256 *sha, const char *text, size_t bytes);
void ts_manifest_end(struct ts_sha256 *sha, char digest[TS_MANIFEST_DIGEST]);

#endif
