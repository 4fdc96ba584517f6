/* P10: a program that never touches CUDA.  Exit status 1 when it has a thread it did not start. */
#include <dirent.h>

int main(int argc, char **argv)
{
	DIR *tasks;
	int count = 0;

	(void)argv;
	if (argc < 2)
		return 0;
	tasks = opendir("/proc/self/task");
	while (tasks && readdir(tasks))
		count++;
	/* "." and ".." and the one thread */
	return count != 3;
}
