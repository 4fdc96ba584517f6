/* C++ names for people. */
#ifndef TS_TRACE_DEMANGLE_H
#define TS_TRACE_DEMANGLE_H

/* The readable form of `name`, or a copy of it when it is no mangled name or there is no demangler
 * here.  For free(). */
char *ts_demangle(const char *name);

#endif
