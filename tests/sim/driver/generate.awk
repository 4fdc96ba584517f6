# Read by ./generate: params, typedefs, known names, prototypes -> impl.h, exports.c.

FILENAME ~ /params$/ { has_params[$1] = 1; next }

FILENAME ~ /typedefs$/ {
	n = match($1, /_v[0-9]+(_pt[ds][sz])?$/)
	base = substr($1, 1, n - 1)
	version = substr($1, n + 2)
	suffix = ""
	if (match(version, /_pt[ds][sz]$/)) {
		suffix = substr(version, RSTART)
		version = substr(version, 1, RSTART - 1)
	}
	bases[base] = 1
	if (suffix == "")
		plain[base] = plain[base] " " version
	else
		threaded[base] = threaded[base] " " version suffix
	next
}

FILENAME ~ /known$/ { known[$1] = 1; next }

{ protos[++nprotos] = $0 }

# `type *name` or `type name` -> name; "" for (void).
function argument(text) {
	sub(/ *$/, "", text)
	if (text == "void" || text == "")
		return ""
	sub(/\[[^]]*\]$/, "", text)
	match(text, /[A-Za-z0-9_]+$/)
	return substr(text, RSTART)
}

function arguments(list,    parts, n, i, text, name) {
	n = split(list, parts, ",")
	text = ""
	for (i = 1; i <= n; i++) {
		name = argument(parts[i])
		if (name != "")
			text = text (text == "" ? "" : ", ") name
	}
	return text
}

function wrapper(proto,    name, args, names, body, kernel) {
	match(proto, /cu[A-Za-z0-9_]+\(/)
	name = substr(proto, RSTART, RLENGTH - 1)
	args = substr(proto, RSTART + RLENGTH)
	sub(/\);$/, "", args)
	body = name
	thread = sub(/_pt[ds][sz]$/, "", body)
	names = arguments(args)
	if (!(body in declared)) {
		declared[body] = 1
		printf "CUresult sim_%s(%s);\n", body, args > impl
		printf "#pragma weak sim_%s\n", body > exports
	}
	kernel = match(name, /^cuLaunch/) && match(args, /CUfunction f(,|$)/)
	row = add_entry(name)
	printf "EXPORT CUresult %s(%s)\n{\n", name, args > exports
	if ((name "_params") in has_params && names != "")
		printf "\tstruct %s_params_st params = {%s};\n", name, names > exports
	printf "\tstruct sim_call call = {.entry = &sim_entries[%d], .per_thread = %d", row, thread > exports
	if ((name "_params") in has_params && names != "")
		printf ", .params = &params" > exports
	if (kernel)
		printf ", .function = f" > exports
	printf "};\n" > exports
	printf "\tif (sim_begin(&call))\n\t\tcall.result = sim_%s ? sim_%s(%s) : sim_unsupported(&call);\n",
		body, body, names > exports
	printf "\treturn sim_end(&call);\n}\n\n" > exports
}

function add_entry(name) {
	entries[nentries] = name
	index_of[name] = nentries
	return nentries++
}

function bare(name,    row) {
	row = add_entry(name)
	printf "EXPORT CUresult %s(void);\nEXPORT CUresult %s(void)\n{\n", name, name > exports
	printf "\tstruct sim_call call = {.entry = &sim_entries[%d]};\n", row > exports
	printf "\tif (sim_begin(&call))\n\t\tcall.result = sim_unsupported(&call);\n" > exports
	printf "\treturn sim_end(&call);\n}\n\n" > exports
}

function sorted(list, result,    n, i, j, t) {
	n = split(list, result, " ")
	for (i = 2; i <= n; i++) {
		t = result[i]
		for (j = i - 1; j >= 1 && result[j] + 0 > t + 0; j--)
			result[j + 1] = result[j]
		result[j + 1] = t
	}
	return n
}

# The symbol of the newest plain form not newer than `version`: the first has no suffix, then _v2 ...
function symbol(base, version, versions, n,    i, best) {
	best = 1
	for (i = 1; i <= n; i++)
		if (versions[i] + 0 <= version + 0)
			best = i
	return base (best > 1 ? "_v" best : "")
}

function version_rows(base,    v, t, n, m, i, name, suffix) {
	n = sorted(plain[base], v)
	for (i = 1; i <= n; i++)
		version_row(base, v[i], 0, symbol(base, v[i], v, n))
	# CUDA 12 made the short name mean the three-argument form.
	if (base == "cuGraphInstantiate")
		version_row(base, 12000, 0, "cuGraphInstantiateWithFlags")
	m = split(threaded[base], t, " ")
	for (i = 1; i <= m; i++) {
		suffix = t[i]
		sub(/^[0-9]+/, "", suffix)
		version_row(base, t[i] + 0, 1, symbol(base, t[i], v, n) suffix)
	}
}

function version_row(base, version, per_thread, name) {
	if (name in index_of)
		printf "\t{\"%s\", %d, %d, %d},\n", base, version, per_thread, index_of[name] > exports
	else
		printf "generate: %s@%d would be %s, which does not exist\n", base, version, name > "/dev/stderr"
}

# GL, EGL and VDPAU functions are in no stub library: their names come from the typedefs alone.
function foreign_names(    base, v, t, n, m, i, suffix) {
	for (base in bases) {
		if (base in known || (base "_v2") in known || base !~ /GL|EGL|VDPAU|Egl/)
			continue
		n = sorted(plain[base], v)
		for (i = 1; i <= n; i++)
			known[symbol(base, v[i], v, n)] = 1
		m = split(threaded[base], t, " ")
		for (i = 1; i <= m; i++) {
			suffix = t[i]
			sub(/^[0-9]+/, "", suffix)
			known[symbol(base, t[i], v, n) suffix] = 1
		}
	}
}

END {
	impl = out "/impl.h"
	exports = out "/exports.c"
	nentries = 0
	printf "/* Made by generate from the installed headers. */\n" > impl
	printf "#pragma GCC visibility push(hidden)\n" > impl
	printf "/* Made by generate from the installed headers. */\n" > exports
	printf "#include \"sim.h\"\n#include <generated_cuda_meta.h>\n#include \"names.h\"\n" > exports
	printf "extern struct sim_entry sim_entries[];\n\n" > exports
	for (i = 1; i <= nprotos; i++)
		wrapper(protos[i])
	printf "#pragma GCC visibility pop\n" > impl
	foreign_names()
	for (name in known)
		if (!(name in index_of))
			bare(name)
	printf "struct sim_entry sim_entries[] = {\n" > exports
	for (i = 0; i < nentries; i++)
		printf "\t{.name = \"%s\", .fn = (void *)(uintptr_t)%s},\n", entries[i], entries[i] > exports
	printf "};\nconst unsigned sim_nentries = %d;\n\n", nentries > exports
	printf "const struct sim_version sim_versions[] = {\n" > exports
	for (base in bases)
		version_rows(base)
	printf "};\nconst unsigned sim_nversions = sizeof sim_versions / sizeof *sim_versions;\n" > exports
}
