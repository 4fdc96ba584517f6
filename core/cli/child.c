/* One parent that is as good as none.  A terminal sends its signals to the whole foreground group,
 * so those have reached the program already; what a person or a job manager sends to our pid alone
 * is passed on. */
#include "core/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals that are not passed on: those that report on this process itself, and job control's own.
 */
static const int own_signals[] = {
    SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE,
};

/* What this process got from its parent, for the program to get as it was. */
struct inherited {
	sigset_t mask;
	struct sigaction on_child;
	pid_t parent;
};

/* In the child, between fork and exec.  Reports a failed exec through `report`, which exec closes
 * otherwise. */
static void start_program(const char *path, char *const argv[], const struct inherited *inherited,
			  int report)
{
	int error;

	/* If this process is killed, the user has killed the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == inherited->parent) {
		sigaction(SIGCHLD, &inherited->on_child, NULL);
		sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
		/* execvp and not execv: it runs a script without a #! line by a shell, as a shell
		 * would. */
		execvp(path, argv);
	} else {
		errno = ESRCH;
	}
	error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		continue;
	_exit(127);
}

/* Whether the sender aimed at this process alone; the terminal's signals come from the kernel to
 * the whole group. */
static int is_for_us_alone(const siginfo_t *info, pid_t child)
{
	return info->si_code <= 0 && info->si_pid != child;
}

/* Takes in what has become of the child.  Returns 1 when it has ended. */
static int reap(pid_t child, int *status)
{
	int changed;

	while (waitpid(child, &changed, WNOHANG | WUNTRACED | WCONTINUED) == child) {
		if (WIFEXITED(changed) || WIFSIGNALED(changed)) {
			*status = changed;
			return 1;
		}
		if (WIFSTOPPED(changed)) {
			/* Stop as well, so that whoever watches this process sees it; go on
			 * together. */
			raise(SIGSTOP);
			kill(child, SIGCONT);
		}
	}
	return 0;
}

static int wait_for_end(pid_t child, const sigset_t *waited, int *status)
{
	for (;;) {
		siginfo_t info;
		int number = sigwaitinfo(waited, &info);

		if (number < 0) {
			if (errno != EINTR)
				return -errno;
		} else if (number != SIGCHLD && is_for_us_alone(&info, child)) {
			kill(child, number);
		}
		if (reap(child, status))
			return 0;
	}
}

int ts_child_run(const char *path, char *const argv[], pid_t *pid, int *status)
{
	struct inherited inherited = {.parent = getpid()};
	sigset_t waited;
	int report[2], error = 0;
	ssize_t got;

	sigfillset(&waited);
	for (size_t i = 0; i < sizeof(own_signals) / sizeof(own_signals[0]); i++)
		sigdelset(&waited, own_signals[i]);
	if (pipe2(report, O_CLOEXEC))
		return -errno;
	sigprocmask(SIG_BLOCK, &waited, &inherited.mask);
	/* An inherited SIG_IGN would throw the program's exit status away; the program itself gets
	 * it back. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &inherited.on_child);
	*pid = fork();
	if (!*pid) {
		close(report[0]);
		start_program(path, argv, &inherited, report[1]);
	}
	if (*pid < 0)
		error = errno;
	close(report[1]);
	if (!error) {
		do {
			got = read(report[0], &error, sizeof(error));
		} while (got < 0 && errno == EINTR);
	}
	close(report[0]);
	if (error) {
		if (*pid > 0)
			waitpid(*pid, NULL, 0);
		sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
		return -error;
	}
	return wait_for_end(*pid, &waited, status);
}

void ts_child_pass_on(int status)
{
	sigset_t all;
	int number;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	/* The program has left its core; ours would overwrite it. */
	number = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&all);
	sigaddset(&all, number);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	raise(number);
	_exit(128 + number);
}
