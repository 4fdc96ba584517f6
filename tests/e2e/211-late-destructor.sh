# 2.11: a static destructor of a linked library frees after our own destructor ran: the call passes through, the status
# is the program's, and the call is in the trace or counted as late.
. "$(dirname "$0")/lib.sh"
cat >late.c <<'C'
#include <stdio.h>
int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);
static void *kept;
void keep(void) { cudaMalloc(&kept, 64); }
__attribute__((destructor)) static void give_back(void)
{
	printf("free %d\n", cudaFree(kept));
	fflush(stdout);
}
C
${CC:-gcc} -g -O1 -fPIC -shared late.c -o liblate.so -L"$B/sim" -l:libcudart.so.13 || fail "does not compile"
LD_LIBRARY_PATH=$B/sim:$T
sim_program late -L. -llate <<'C'
void keep(void);
int main(void)
{
	keep();
	return 5;
}
C
for backend in auto event off; do
	TSTRACE_DEVICE=$backend transparent late.$backend ./late
	grep -q 'free 0' late.$backend.out || fail "the free did not work"
	holds late.$backend.jsonl <<'PY'
assert len(t.allocs()) == 1 and t.terminal["outcome"] == "complete"
assert len(t.frees()) <= 1 and set(t.terminal["lost"]) <= {"late"}, t.terminal
PY
done
exit 0
