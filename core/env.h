/* The environment variables of core/env.def, read once. */
#ifndef TSTRACE_CORE_ENV_H
#define TSTRACE_CORE_ENV_H

#include "core/base.h"

struct ts_env {
#define TS_ENV_TYPE_TEXT const char *
#define TS_ENV_TYPE_UINT uint64_t
#define TS_ENV_TYPE_SIZE uint64_t
#define TS_ENV_TYPE_ENUM unsigned
#define TS_ENV(type, NAME, field, value, lo, hi, help) TS_ENV_TYPE_##type field;
#include "core/env.def"
#undef TS_ENV
};

/* The values in force; defaults before ts_env_read. Read-only after the session opened. */
extern struct ts_env ts_env;

/* Read `environ` once: each bad value and each unknown TSTRACE_ name gets one warning through
 * `warn` (variable, what is wrong, what would be right; NULL: silently) and the default stays.  No
 * allocation: texts point into the environment.  Returns the number of warnings.  Names that begin
 * with TSTRACE_SIM_ belong to the simulated device and are left alone. */
int ts_env_read(char **environment, void (*warn)(const char *text));

/* Whether the environment has the variable with this very value, before any of it is read.  Calls
 * no function of the C library. */
bool ts_env_has(char **environment, const char *name, const char *value);

/* The table itself, for `tstrace env`. */
struct ts_env_row {
	const char *name, *type, *value, *range, *help;
};
extern const struct ts_env_row ts_env_rows[];
extern const unsigned ts_env_row_count;

#endif
