/* The gradient contract: a manifest of parameters in families, and what was seen of each. */
#include "core/manifest.h"
#include "core/trace/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACTIVE, INACTIVE, CONDITIONAL };
#define UNSEEN UINT8_MAX
#define SHORT(text) ((text).size > 80 ? 80 : (int)(text).size), (text).at

struct manifest {
	struct ts_evidence *evidence;
	const struct ts_json *expected, *families;
	struct ts_map keys;  /* (root, key) */
	struct ts_map names; /* families of the entries */
	uint32_t *family_of; /* key -> name */
	uint8_t *states;     /* key -> first state seen, UNSEEN */
	size_t *members;     /* name -> how many keys */
};

static void add_text(struct ts_sha256 *sha, struct ts_str text)
{
	ts_manifest_add(sha, text.at, text.size);
}

static bool is_digest(const struct manifest *manifest, struct ts_str digest)
{
	struct ts_sha256 sha;
	char text[TS_MANIFEST_DIGEST];

	ts_manifest_begin(&sha);
	for (const struct ts_json *entry = manifest->expected->list.first; entry;
	     entry = entry->next) {
		add_text(&sha, ts_json_text(entry, "root", ""));
		add_text(&sha, ts_json_text(entry, "key", ""));
		add_text(&sha, ts_json_text(entry, "family", ""));
	}
	ts_manifest_end(&sha, text);
	return ts_str_is(digest, text);
}

/* Fills the maps; returns what is wrong with the entries, or NULL. */
static const char *read_entries(struct manifest *manifest)
{
	size_t count = manifest->expected->list.count;
	const char *flaw = NULL;

	manifest->family_of = ts_grow(NULL, count * sizeof(*manifest->family_of));
	manifest->states = ts_grow(NULL, count);
	manifest->members = ts_grow(NULL, count * sizeof(*manifest->members));
	memset(manifest->states, UNSEEN, count);
	memset(manifest->members, 0, count * sizeof(*manifest->members));
	for (const struct ts_json *entry = manifest->expected->list.first; entry;
	     entry = entry->next) {
		struct ts_str root = ts_json_text(entry, "root", ""),
			      key = ts_json_text(entry, "key", "");
		struct ts_str family = ts_json_text(entry, "family", "");
		size_t before = manifest->keys.count;
		uint32_t name;

		if (ts_is_blank(root) || ts_is_blank(key) || ts_is_blank(family))
			flaw = "an entry has a blank part";
		name = ts_map_add(&manifest->names, family);
		manifest->members[name]++;
		if (ts_map_add(&manifest->keys,
			       ts_pair_text(&manifest->evidence->pool, root, key)) == before &&
		    manifest->keys.count > before)
			manifest->family_of[before] = name;
		else if (!flaw)
			flaw = "two entries have the same root and key";
	}
	return flaw;
}

static int expectation_of(const struct ts_json *family)
{
	return ts_word_index("active|inactive|data_conditional",
			     ts_json_text(family, "expectation", ""));
}

static uint64_t least_present(const struct ts_json *family)
{
	return ts_json_get(family, "min_present")->number.whole;
}

/* Each family of the entries must be described once, and its minimum must be possible. */
static const char *check_families(struct manifest *manifest)
{
	struct ts_map described = {0};
	const char *flaw = NULL;

	for (const struct ts_json *family = manifest->families->list.first; family && !flaw;
	     family = family->next) {
		struct ts_str text = ts_json_text(family, "family", "");
		uint32_t name = ts_map_find(&manifest->names, text);
		size_t before = described.count;
		uint64_t least;

		ts_map_add(&described, text);
		if (name == TS_MAP_NONE || described.count == before) {
			flaw = "the families are not, once each, those of the entries";
			break;
		}
		least = least_present(family);
		if (expectation_of(family) == INACTIVE
			? least != 0
			: least < 1 || least > manifest->members[name])
			flaw = "min_present of a family is out of range";
	}
	if (!flaw && described.count != manifest->names.count)
		flaw = "the families are not, once each, those of the entries";
	ts_map_free(&described);
	return flaw;
}

static const char *find_flaw(struct manifest *manifest, struct ts_str digest)
{
	const char *flaw;

	if (!manifest->expected->list.count || !is_digest(manifest, digest))
		return "there are no entries, or the digest is not theirs";
	flaw = read_entries(manifest);
	return flaw ? flaw : check_families(manifest);
}

static void check_keys(struct manifest *manifest)
{
	struct ts_evidence *evidence = manifest->evidence;

	for (size_t i = 0; i < evidence->gradient_count; i++) {
		const struct ts_gradient_record *gradient = &evidence->gradients[i];
		uint32_t key =
		    ts_map_find(&manifest->keys, evidence->gradient_keys.texts[gradient->key]);

		if (key == TS_MAP_NONE)
			ts_issue_add(evidence, gradient->line, true,
				     "gradient_manifest_undeclared_key",
				     "the manifest does not name this key");
		else if (manifest->states[key] != UNSEEN)
			ts_issue_add(evidence, gradient->line, true,
				     "gradient_manifest_duplicate_key",
				     "the key has two gradients");
		else
			manifest->states[key] = gradient->state;
	}
	for (const struct ts_json *entry = manifest->expected->list.first; entry;
	     entry = entry->next) {
		struct ts_str root = ts_json_text(entry, "root", ""),
			      name = ts_json_text(entry, "key", "");
		uint32_t key =
		    ts_map_find(&manifest->keys, ts_pair_text(&evidence->pool, root, name));

		if (manifest->states[key] == UNSEEN)
			ts_issue_add(evidence, 0, !evidence->is_failed,
				     "gradient_manifest_missing_key",
				     "no gradient for \"%.*s/%.*s\"", SHORT(root), SHORT(name));
	}
}

static void check_family(struct manifest *manifest, const struct ts_json *family)
{
	struct ts_evidence *evidence = manifest->evidence;
	struct ts_str text = ts_json_text(family, "family", "");
	uint32_t name = ts_map_find(&manifest->names, text);
	uint64_t seen[4] = {0}, unseen = 0, least = least_present(family);
	uint64_t present;
	const char *code = NULL;

	for (size_t key = 0; key < manifest->keys.count; key++) {
		if (manifest->family_of[key] != name)
			continue;
		if (manifest->states[key] == UNSEEN)
			unseen++;
		else
			seen[manifest->states[key]]++;
	}
	present = seen[TS_GRADIENT_PRESENT];
	if (seen[TS_GRADIENT_NON_FINITE])
		ts_issue_add(evidence, 0, true, "gradient_family_non_finite", "family \"%.*s\"",
			     SHORT(text));
	switch (expectation_of(family)) {
	case INACTIVE:
		if (present || seen[TS_GRADIENT_ZERO] || seen[TS_GRADIENT_NON_FINITE])
			code = "gradient_inactive_family_leakage";
		break;
	case CONDITIONAL:
		if (present && present < least)
			code = "gradient_conditional_family_below_minimum";
		break;
	default:
		if (present < least && !(evidence->is_failed && unseen))
			code = "gradient_active_family_below_minimum";
		break;
	}
	if (code)
		ts_issue_add(evidence, 0, true, code, "family \"%.*s\"", SHORT(text));
}

static void check_contract(struct ts_evidence *evidence, const struct ts_json *contract)
{
	struct manifest manifest = {
	    .evidence = evidence,
	    .expected = ts_json_get(contract, "expected"),
	    .families = ts_json_get(contract, "families"),
	};
	const char *flaw = find_flaw(&manifest, ts_json_text(contract, "manifest_sha256", ""));

	if (flaw) {
		ts_issue_add(evidence, 0, true, "gradient_contract_invalid", "%s", flaw);
	} else {
		check_keys(&manifest);
		for (const struct ts_json *family = manifest.families->list.first; family;
		     family = family->next)
			check_family(&manifest, family);
	}
	ts_map_free(&manifest.keys);
	ts_map_free(&manifest.names);
	free(manifest.family_of);
	free(manifest.states);
	free(manifest.members);
}

void ts_health_gradients(struct ts_evidence *evidence)
{
	const struct ts_json *contract = ts_json_get(evidence->contract, "gradient_contract");
	bool is_complete =
	    ts_str_is(ts_json_text(evidence->contract, "gradients", "none"), "complete");

	if (!contract || contract->type == TS_JSON_NULL) {
		if (is_complete)
			ts_issue_add(evidence, 0, true, "gradient_contract_missing",
				     "complete gradient coverage needs a contract");
	} else if (!is_complete) {
		ts_issue_add(evidence, 0, true, "gradient_contract_without_complete_coverage",
			     "a contract needs complete coverage");
	} else {
		check_contract(evidence, contract);
	}
}
