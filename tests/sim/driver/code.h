/* Containers of code, as far as the simulated driver looks into them. */
#ifndef TSTRACE_SIM_CODE_H
#define TSTRACE_SIM_CODE_H

#include "sim.h"

struct named {
	const char *name; /* interned; first, so that a tree can compare by it */
	void *data;
};

/* Sizes of the variables of an ELF inside a fat binary; bounded = false: the container is
 * unreadable (compressed, PTX only), every name is given the default size. */
struct symbols {
	void *tree;
	const char **kernels; /* interned names of the entry points, some perhaps twice */
	size_t nkernels;
	bool readable;
};
void sim_symbols_read(struct symbols *symbols, const void *image);
size_t sim_symbols_size(const struct symbols *symbols, const char *name); /* 0: no such variable */
void sim_symbols_free(struct symbols *symbols);

struct module {
	struct object obj;
	void *functions, *globals; /* trees of struct named */
	struct function *newest;
	unsigned nfunctions;
	struct symbols symbols;
	struct module *as_module; /* of a library */
	struct module *library;	  /* of a module that is a library's */
};
void sim_module_destroy(struct module *module);
void sim_function_defaults(struct function *function);
CUresult sim_jit_options(unsigned n, const CUjit_option *options, void **values);
/* A whole file, with a zero byte behind it. */
CUresult sim_read_file(const char *path, void **data, size_t *size);

#endif
