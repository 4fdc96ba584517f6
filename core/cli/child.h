/* Running a program as if it had been started without us in between. */
#ifndef TS_CLI_CHILD_H
#define TS_CLI_CHILD_H

#include <sys/types.h>

/* Runs `path` with `argv` and waits.  Signals sent to this process reach the program, stopping and
 * continuing work as with one process, and the program dies if this process is killed.  Returns 0
 * and the wait status, or -errno of fork or of exec (then nothing has run). */
int ts_child_run(const char *path, char *const argv[], pid_t *pid, int *status);

/* Ends this process as the child ended: with its exit status, or by the signal that killed it. */
void ts_child_pass_on(int status) __attribute__((noreturn));

#endif
