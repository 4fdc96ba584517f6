/* Looks at a program before it is run: the loader ignores LD_PRELOAD, or dies of it, in several
 * cases, and silence would leave the user with no trace and no reason. */
#include "core/cli/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4 /* as deep as the kernel follows interpreters of interpreters */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "tstrace does not know this machine"
#endif

static int usable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return access(path, X_OK) ? -EACCES : 0;
}

/* As execvp(3): a name with a slash is a path, any other is looked up in PATH; a hit that may not
 * be run is remembered while the search goes on. */
static int find_program(const char *name, char *path)
{
	const char *search = getenv("PATH");
	int result = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		if ((size_t)snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		return usable(path);
	}
	if (!search)
		search = "/bin:/usr/bin";
	for (;;) {
		size_t length = strcspn(search, ":");
		int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, search,
				 length ? "/" : "./", name);

		if (n > 0 && n < PATH_MAX) {
			int found = usable(path);

			if (!found)
				return 0;
			if (found == -EACCES)
				result = -EACCES;
		}
		if (!search[length])
			return result;
		search += length + 1;
	}
}

static bool is_privileged(int fd)
{
	struct stat st;
	struct statvfs fs;

	if (fstat(fd, &st) || (!fstatvfs(fd, &fs) && (fs.f_flag & ST_NOSUID)))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())
		return true;
	return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* glibc's loaders are called ld-linux*.so.N (ld-linux-x86-64.so.2, ld-linux-aarch64.so.1), wherever
 * they lie. */
static bool is_glibc_loader(const char *interpreter)
{
	const char *base = strrchr(interpreter, '/');

	base = base ? base + 1 : interpreter;
	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-2.", 5) ||
	       !strncmp(base, "ld.so", 5);
}

static void inspect_segments(int fd, const Elf64_Ehdr *ehdr, struct ts_target *target)
{
	target->kind = TS_TARGET_STATIC;
	for (unsigned i = 0; i < ehdr->e_phnum; i++) {
		Elf64_Phdr phdr;
		size_t length;
		off_t at = (off_t)(ehdr->e_phoff + (Elf64_Off)i * ehdr->e_phentsize);

		if (pread(fd, &phdr, sizeof(phdr), at) != (ssize_t)sizeof(phdr))
			return;
		if (phdr.p_type != PT_INTERP)
			continue;
		length = phdr.p_filesz < PATH_MAX ? phdr.p_filesz : PATH_MAX - 1;
		if (pread(fd, target->detail, length, (off_t)phdr.p_offset) != (ssize_t)length)
			return;
		target->detail[length] = '\0';
		target->kind =
		    is_glibc_loader(target->detail) ? TS_TARGET_DYNAMIC : TS_TARGET_OTHER_LIBC;
		return;
	}
}

static void inspect_elf(int fd, const unsigned char *head, struct ts_target *target)
{
	Elf64_Ehdr ehdr;

	memcpy(&ehdr, head, sizeof(ehdr));
	if (head[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != OWN_MACHINE) {
		target->kind = TS_TARGET_OTHER_MACHINE;
		snprintf(target->detail, sizeof(target->detail), "%s-bit, machine %u",
			 head[EI_CLASS] == ELFCLASS64 ? "64" : "32", ehdr.e_machine);
		return;
	}
	inspect_segments(fd, &ehdr, target);
}

/* Takes the interpreter out of a "#!" line; false when there is none. */
static bool interpreter_of(const unsigned char *head, size_t size, char *interpreter)
{
	size_t start = 2, end;

	while (start < size && (head[start] == ' ' || head[start] == '\t'))
		start++;
	for (end = start; end < size && !strchr(" \t\r\n", head[end]); end++)
		continue;
	if (end == start || end - start >= PATH_MAX)
		return false;
	memcpy(interpreter, head + start, end - start);
	interpreter[end - start] = '\0';
	return true;
}

static void inspect_file(const char *path, struct ts_target *target, int depth)
{
	unsigned char head[512];
	ssize_t size;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	target->kind = TS_TARGET_UNREADABLE;
	if (fd < 0)
		return;
	size = pread(fd, head, sizeof(head), 0);
	if (size >= (ssize_t)sizeof(Elf64_Ehdr) && !memcmp(head, ELFMAG, SELFMAG)) {
		inspect_elf(fd, head, target);
		if (target->kind == TS_TARGET_DYNAMIC && is_privileged(fd))
			target->kind = TS_TARGET_PRIVILEGED;
	} else if (size >= 2 && head[0] == '#' && head[1] == '!') {
		char interpreter[PATH_MAX];

		target->kind = TS_TARGET_SHELL;
		if (depth < SCRIPT_DEPTH && interpreter_of(head, (size_t)size, interpreter)) {
			inspect_file(interpreter, target, depth + 1);
			if (target->kind == TS_TARGET_DYNAMIC)
				target->kind = TS_TARGET_SCRIPT;
			if (target->kind != TS_TARGET_SHELL)
				strcpy(target->interpreter, interpreter);
		}
	} else if (size >= 0) {
		target->kind = TS_TARGET_SHELL;
	}
	close(fd);
}

int ts_target_inspect(const char *name, struct ts_target *target)
{
	int result;

	*target = (struct ts_target){.kind = TS_TARGET_UNREADABLE};
	result = find_program(name, target->path);
	if (result)
		return result;
	inspect_file(target->path, target, 0);
	return 0;
}

bool ts_target_is_traceable(const struct ts_target *target)
{
	switch (target->kind) {
	case TS_TARGET_DYNAMIC:
	case TS_TARGET_SCRIPT:
	case TS_TARGET_SHELL:
	case TS_TARGET_UNREADABLE:
		return true;
	case TS_TARGET_STATIC:
	case TS_TARGET_OTHER_MACHINE:
	case TS_TARGET_OTHER_LIBC:
	case TS_TARGET_PRIVILEGED:
		break;
	}
	return false;
}

void ts_target_explain(const struct ts_target *target, char *text, size_t size)
{
	const char *path = target->path;
	char subject[2 * PATH_MAX + 40];

	text[0] = '\0';
	snprintf(subject, sizeof(subject), "%s%s%s", path,
		 target->interpreter[0] ? " is a script: its interpreter " : "",
		 target->interpreter);
	switch (target->kind) {
	case TS_TARGET_DYNAMIC:
		break;
	case TS_TARGET_SCRIPT:
		snprintf(text, size, "%s and the programs it starts are traced", subject);
		break;
	case TS_TARGET_SHELL:
		snprintf(text, size,
			 "%s is neither an ELF program nor a script with a readable #! line: "
			 "/bin/sh runs it, and the programs it starts are traced",
			 path);
		break;
	case TS_TARGET_STATIC:
		snprintf(text, size,
			 "%s is a static executable: nothing can be preloaded, it runs untraced; "
			 "link it "
			 "dynamically (only cudart may be static)",
			 subject);
		break;
	case TS_TARGET_OTHER_MACHINE:
		snprintf(text, size, "%s is built for another machine (%s): it runs untraced",
			 subject, target->detail);
		break;
	case TS_TARGET_OTHER_LIBC:
		snprintf(text, size,
			 "%s uses the loader %s, not that of glibc: a preloaded glibc library "
			 "would stop "
			 "it, so it runs untraced",
			 subject, target->detail);
		break;
	case TS_TARGET_PRIVILEGED:
		snprintf(
		    text, size,
		    "%s is setuid, setgid or has file capabilities: the loader ignores LD_PRELOAD, "
		    "it runs untraced; run a copy without them",
		    subject);
		break;
	case TS_TARGET_UNREADABLE:
		snprintf(text, size,
			 "%s cannot be read, so it is not known whether it can be traced", subject);
		break;
	}
}
