/* A program that annotates itself with NVTX, in all the ways there are.  It prints what it is told
 * back, which must not depend on a tool. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <nvtx3/nvToolsExt.h>

#define THREADS 4
#define ROUNDS 500
#define DEPTH 5000

static nvtxDomainHandle_t domain, other;
static nvtxRangeId_t handed_over;

static nvtxEventAttributes_t attributes(const char *message)
{
	nvtxEventAttributes_t a = { 0 };

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = message;
	return a;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void nested(void)
{
	char name[32] = "changing 1";
	int results[6];

	errno = 77;
	results[0] = nvtxRangePushA("outer");
	results[1] = nvtxRangePushA(name);
	results[2] = nvtxRangePop();
	strcpy(name, "changing 2");
	results[3] = nvtxRangePushA(name);
	results[4] = nvtxRangePop();
	results[5] = nvtxRangePop();
	for (int i = 0; i < 6; i++)
		printf("%d ", results[i]);
	printf("errno %d\n", errno);
	printf("%d %d\n", nvtxRangePop(), nvtxDomainRangePop(domain));
	nvtxRangePushA(NULL);
	nvtxRangePushW(NULL);
	nvtxRangePushEx(NULL);
	for (int i = 0; i < 3; i++)
		nvtxRangePop();
	nvtxRangePushW(L"gr\x00fc\x00df \x4e2d \x1f600 \xd800!");
	nvtxRangePop();
}

static void deep(void)
{
	nvtxRangePushA("bottom");
	for (int i = 0; i < DEPTH; i++)
		nvtxRangePushA("deep");
	for (int i = 0; i < DEPTH; i++)
		nvtxRangePop();
	nvtxRangePushA("shallow again");
	nvtxRangePop();
	nvtxRangePop();
}

/* Payloads of every type, colour, category, registered strings. */
static void attributed(void)
{
	nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered");
	nvtxStringHandle_t wide = nvtxDomainRegisterStringW(domain, L"wide \x20ac");
	nvtxEventAttributes_t a = attributes("payloads");

	nvtxDomainNameCategoryA(domain, 7, "copies");
	nvtxDomainNameCategoryW(domain, 8, L"caf\x00e9");
	nvtxNameCategoryA(7, "not these");
	a.category = 7;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff00a0c0;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = registered;
	for (int type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64; type <= NVTX_PAYLOAD_TYPE_FLOAT; type++) {
		a.payloadType = type;
		a.payload.ullValue = UINT64_MAX;
		if (type == NVTX_PAYLOAD_TYPE_INT64)
			a.payload.llValue = -5;
		if (type == NVTX_PAYLOAD_TYPE_DOUBLE)
			a.payload.dValue = 0.1;
		if (type == NVTX_PAYLOAD_TYPE_INT32)
			a.payload.iValue = -6;
		if (type == NVTX_PAYLOAD_TYPE_FLOAT)
			a.payload.fValue = 0.5f;
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	a = attributes("");
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = wide;
	a.category = 8;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	a = attributes("never seen");
	a.size = 8;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
}

static void marks(void)
{
	nvtxEventAttributes_t a = attributes("loss");

	nvtxRangePushA("with marks");
	nvtxMarkA("here");
	nvtxMarkW(L"d\x00e0");
	a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	a.payload.dValue = -2.25;
	nvtxMarkEx(&a);
	a.payload.dValue = __builtin_nan("");
	nvtxMarkEx(&a);
	a.messageType = NVTX_MESSAGE_UNKNOWN;
	nvtxDomainMarkEx(domain, &a);
	nvtxRangePop();
}

/* Each domain has a stack of its own. */
static void crossing(void)
{
	nvtxEventAttributes_t a = attributes("a"), b = attributes("b"), c = attributes("c");

	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePushEx(other, &b);
	nvtxDomainRangePushEx(other, &c);
	pause_ms(2);
	nvtxDomainRangePop(domain);
	pause_ms(2);
	nvtxRangePushA("in c");
	nvtxRangePop();
	nvtxDomainRangePop(other);
	nvtxDomainRangePop(other);
}

static void *thread(void *arg)
{
	char name[32];

	sprintf(name, "thread %d", *(int *)arg);
	for (int i = 0; i < ROUNDS; i++) {
		nvtxRangeId_t id = nvtxRangeStartA("overlapping");

		nvtxRangePushA(name);
		nvtxRangePushA("inner");
		nvtxRangePop();
		nvtxRangePop();
		nvtxRangeEnd(id);
	}
	if (*(int *)arg == 0)
		nvtxRangeEnd(handed_over);
	return NULL;
}

static void threads(void)
{
	pthread_t made[THREADS];
	int numbers[THREADS];

	handed_over = nvtxRangeStartW(L"handed over");
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&made[i], NULL, thread, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(made[i], NULL);
	nvtxRangeEnd(handed_over);
	nvtxRangeEnd(0);
	nvtxRangeEnd(12345678);
}

int main(void)
{
	nvtxEventAttributes_t a = attributes("range");
	nvtxRangeId_t id;

	domain = nvtxDomainCreateA("a domain");
	other = nvtxDomainCreateW(L"another \x03a9");
	nested();
	deep();
	attributed();
	marks();
	crossing();
	threads();
	id = nvtxDomainRangeStartEx(domain, &a);
	nvtxDomainRangeEnd(domain, id);
	nvtxRangeStartA("never ended");
	nvtxRangePushA("never popped");
	nvtxDomainDestroy(other);
	printf("done\n");
	return 0;
}
