/* Gradients, and the contract that says which of them a run must show. */
#include "core/session/gradient.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/event.h"
#include "core/manifest.h"

static _Atomic uint64_t events;         /* numbers of gradient events; only written ones take one */

void ts_gradient_manifest(const struct tstrace_gradient_entry *entries, size_t count,
			  char digest[TS_MANIFEST_DIGEST])
{
	struct ts_sha256 sha;

	ts_manifest_begin(&sha);
	for (size_t i = 0; i < count; i++) {
		ts_manifest_add(&sha, entries[i].root, strlen(entries[i].root));
		ts_manifest_add(&sha, entries[i].key, strlen(entries[i].key));
		ts_manifest_add(&sha, entries[i].family, strlen(entries[i].family));
	}
	ts_manifest_end(&sha, digest);
}

TS_EXPORT int tstrace_gradient_manifest(const struct tstrace_gradient_entry *entries, size_t count,
					char *digest)
{
	if (!digest || (count && !entries))
		return ts_refuse(-EINVAL, "gradient manifest: NULL for its entries or digest");
	for (size_t i = 0; i < count; i++)
		if (!entries[i].root || !entries[i].key || !entries[i].family)
			return ts_refuse(-EINVAL, "gradient manifest: a part of an entry is NULL");
	ts_gradient_manifest(entries, count, digest);
	return 0;
}

/* --- the contract --- */

static const char *entry_flaw(const struct tstrace_gradient_contract *c)
{
	if (!c->expected_count || !c->expected)
		return "no parameter is expected";
	for (size_t i = 0; i < c->expected_count; i++) {
		const struct tstrace_gradient_entry *e = &c->expected[i];

		if (ts_text_is_blank(e->root) || ts_text_is_blank(e->key) ||
		    ts_text_is_blank(e->family))
			return "an entry has a blank part";
		/* A contract has some hundred parameters and is read once. */
		for (size_t k = 0; k < i; k++)
			if (!strcmp(c->expected[k].root, e->root) &&
			    !strcmp(c->expected[k].key, e->key))
				return "two entries have the same root and key";
	}
	return NULL;
}

static uint64_t members_of(const struct tstrace_gradient_contract *c, const char *family)
{
	uint64_t members = 0;

	for (size_t i = 0; i < c->expected_count; i++)
		members += !strcmp(c->expected[i].family, family);
	return members;
}

static const char *family_flaw(const struct tstrace_gradient_contract *c)
{
	uint64_t declared = 0;

	if (!c->family_count || !c->families)
		return "no family is declared";
	for (size_t i = 0; i < c->family_count; i++) {
		const struct tstrace_gradient_family *f = &c->families[i];
		uint64_t members;

		if (ts_text_is_blank(f->family))
			return "a family's name is blank";
		for (size_t k = 0; k < i; k++)
			if (!strcmp(c->families[k].family, f->family))
				return "a family is declared twice";
		members = members_of(c, f->family);
		if (!members)
			return "a family has no member";
		if ((unsigned)f->expectation > TSTRACE_DATA_CONDITIONAL)
			return "a family's expectation is none of the three";
		if (f->expectation == TSTRACE_INACTIVE ? f->min_present != 0
						       : !f->min_present ||
							     f->min_present > members)
			return "min_present must be 0 for an inactive family, else 1 to the number "
			       "of its members";
		declared += members;
	}
	return declared == c->expected_count ? NULL : "an entry's family is not declared";
}

const char *ts_gradient_contract_flaw(const struct tstrace_gradient_contract *c)
{
	const char *flaw = entry_flaw(c);
	char digest[TS_MANIFEST_DIGEST];

	if (!flaw)
		flaw = family_flaw(c);
	if (flaw || !c->manifest_sha256)
		return flaw;
	ts_gradient_manifest(c->expected, c->expected_count, digest);
	return strcmp(digest, c->manifest_sha256) ? "manifest_sha256 is not the entries' digest"
						  : NULL;
}

void ts_gradient_contract_print(struct ts_lines *line, const struct tstrace_gradient_contract *c)
{
	static const char *const expectations[] = { "active", "inactive", "data_conditional" };
	char digest[TS_MANIFEST_DIGEST];

	ts_gradient_manifest(c->expected, c->expected_count, digest);
	ts_line_raw(line, ",\"gradient_contract\":{\"manifest_sha256\":\"");
	ts_line_raw(line, digest);
	ts_line_raw(line, "\",\"expected\":[");
	for (size_t i = 0; i < c->expected_count; i++) {
		const struct tstrace_gradient_entry *e = &c->expected[i];

		ts_line_raw(line, i ? ",{\"root\":" : "{\"root\":");
		ts_line_quoted(line, e->root, strlen(e->root));
		ts_line_string(line, "key", e->key);
		ts_line_string(line, "family", e->family);
		ts_line_raw(line, "}");
	}
	ts_line_raw(line, "],\"families\":[");
	for (size_t i = 0; i < c->family_count; i++) {
		const struct tstrace_gradient_family *f = &c->families[i];

		ts_line_raw(line, i ? ",{\"family\":" : "{\"family\":");
		ts_line_quoted(line, f->family, strlen(f->family));
		ts_line_word(line, "expectation", expectations[f->expectation]);
		ts_line_u64(line, "min_present", f->min_present);
		ts_line_raw(line, "}");
	}
	ts_line_raw(line, "]}");
}

/* --- events --- */

static bool fits(enum tstrace_gradient state, double norm)
{
	switch (state) {
	case TSTRACE_PRESENT:
		return isfinite(norm) && norm > 0;
	case TSTRACE_ZERO:
		return norm == 0 && !signbit(norm);
	case TSTRACE_MISSING:
	case TSTRACE_NON_FINITE:
		return isnan(norm);
	}
	return false;
}

TS_EXPORT int tstrace_record_gradient(tstrace_session *session, const char *root, const char *key,
				      enum tstrace_gradient state, double norm)
{
	static const char *const states[] = { "present", "missing", "zero", "non_finite" };
	struct ts_event event;
	char id[40];
	int error;

	(void)session;
	if (!ts_event_begin(&event, "gradient"))
		return 0;
	if (ts_text_is_blank(root) || ts_text_is_blank(key))
		return ts_event_refuse(&event, -EINVAL,
				       "a gradient's root and key must not be blank");
	if (!fits(state, norm))
		return ts_event_refuse(&event, -EINVAL,
				       "gradient %s/%s: present needs a finite norm above 0, zero "
				       "needs 0.0, the others NAN", root, key);
	ts_line_string(event.line, "root", root);
	ts_line_string(event.line, "key", key);
	ts_line_word(event.line, "state", states[state]);
	if (!isnan(norm))
		ts_line_f64(event.line, "norm", norm);
	/* Last: what is refused takes no number. */
	error = ts_event_room(&event, sizeof(",\"event_id\":\"\"") + sizeof(id));
	if (error)
		return error;
	snprintf(id, sizeof(id), "gradient-%llu",
		 (unsigned long long)atomic_fetch_add(&events, 1) + 1);
	ts_line_word(event.line, "event_id", id);
	return ts_event_put(&event);
}

void ts_gradient_child(void)
{
	atomic_store(&events, 0);
}
