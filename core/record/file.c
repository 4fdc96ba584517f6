#include "core/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"

#define PAGE 4096u
#define LOOK_AT 16u /* threads that are looked at for being gone, before a ring is made */
#define ARENA_SPACE ((size_t)TS_ARENA_CHUNKS * TS_ARENA_CHUNK)

struct ts_file *ts_file;

static char path[4200];                 /* "": private memory */
static uint64_t file_bytes;
static unsigned char *arena;
static uint64_t arena_mapped;
static struct ts_ring *rings[TS_MAX_RINGS];
static uint32_t looked_at;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Reserve and map `bytes` more of the file, at `where` or anywhere; *offset is where they lie in
 * it.  No descriptor is kept: the program's descriptors are its own. */
static void *extend_file(uint64_t bytes, void *where, uint64_t *offset)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	void *memory = MAP_FAILED;
	int fd, error;

	/* Beyond the limit on the size of files there is not only an error, but a signal that
	 * kills. */
	getrlimit(RLIMIT_FSIZE, &limit);
	if (!path[0] || file_bytes + bytes > limit.rlim_cur)
		return NULL;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	/* On tmpfs a signal interrupts it. */
	for (int tries = 0;
	     (error = posix_fallocate(fd, (off_t)file_bytes, (off_t)bytes)) == EINTR &&
	     tries < 100;)
		tries++;
	if (!error)
		memory = mmap(where, bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_POPULATE | (where ? MAP_FIXED : 0), fd,
			      (off_t)file_bytes);
	close(fd);
	if (memory == MAP_FAILED)
		return NULL;
	*offset = file_bytes;
	file_bytes += bytes;
	return memory;
}

/* The same, or private memory when the file's folder is full: then *offset is 0, and what lies
 * there is lost if the program is killed. */
static void *extend(uint64_t bytes, void *where, uint64_t *offset)
{
	void *memory;

	bytes = round_up(bytes);
	memory = extend_file(bytes, where, offset);
	if (memory)
		return memory;
	if (path[0])
		ts_say_once("the recovery file %s cannot grow; some events would be lost if the "
			    "program were killed",
			    path);
	*offset = 0;
	memory = mmap(where, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | (where ? MAP_FIXED : 0), -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static bool create(const char *folder)
{
	struct timespec now;
	int fd, length;

	clock_gettime(CLOCK_REALTIME, &now);
	length = snprintf(path, sizeof(path), "%s/tstrace.%u.%d.%lx.ring", folder,
			  (unsigned)getuid(), (int)getpid(),
			  (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec);
	if (length < 0 || (size_t)length >= sizeof(path))
		goto fail;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		goto fail;
	close(fd);
	return true;
fail:
	path[0] = '\0';
	return false;
}

/* The header in `folder` (NULL: private memory). */
static bool make_header(const char *folder)
{
	uint64_t offset;

	file_bytes = 0;
	path[0] = '\0';
	if (folder && !create(folder))
		return false;
	ts_file = folder ? extend_file(round_up(sizeof(struct ts_file)), NULL, &offset) :
			   extend(sizeof(struct ts_file), NULL, &offset);
	if (!ts_file && path[0]) {
		unlink(path);
		path[0] = '\0';
	}
	return ts_file != NULL;
}

static bool make_anywhere(const char *dir, const char *trace_path)
{
	char folder[4096];
	char *slash;

	if (dir && *dir)
		return make_header(dir);
	if (make_header("/dev/shm"))
		return true;
	snprintf(folder, sizeof(folder), "%s", trace_path);
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	return make_header(slash == folder ? "/" : slash ? folder : ".");
}

int ts_file_make(const char *dir, const char *trace_path, uint64_t ring_bytes, bool *recoverable)
{
	*recoverable = make_anywhere(dir, trace_path);
	if (!*recoverable && !make_header(NULL))
		return -ENOMEM;
	arena =
	    mmap(NULL, ARENA_SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED) {
		ts_file_unlink();
		return -ENOMEM;
	}
	arena_mapped = 0;
	memset(rings, 0, sizeof(rings));
	ts_file->version = TS_FILE_VERSION;
	ts_file->header_bytes = sizeof(struct ts_file);
	ts_file->slots_per_ring = ring_bytes / TS_SLOT;
	ts_file->pid = getpid();
	snprintf(ts_file->trace_path, sizeof(ts_file->trace_path), "%s", trace_path);
	atomic_thread_fence(memory_order_release);
	ts_file->magic = TS_FILE_MAGIC;
	return 0;
}

static struct ts_ring *new_ring(void)
{
	uint32_t count = atomic_load(&ts_file->rings);
	uint64_t slots = ts_file->slots_per_ring, offset;
	struct ts_ring *ring;

	if (count == TS_MAX_RINGS)
		return NULL;
	ring = extend(sizeof(struct ts_ring) + slots * TS_SLOT, NULL, &offset);
	if (!ring)
		return NULL;
	ring->mask = (uint32_t)slots - 1;
	rings[count] = ring;
	atomic_store(&ts_file->ring_offset[count], offset);
	atomic_store_explicit(&ts_file->rings, count + 1, memory_order_release);
	return ring;
}

static bool can_be_given_on(struct ts_ring *ring)
{
	return atomic_load(&ring->state) == TS_RING_EXITED &&
	       atomic_load(&ring->head) - atomic_load(&ring->tail) < ring->mask / 2;
}

/* A destructor of the program's own may have called us after our last one ran: that thread never
 * gave its ring back, but the kernel knows that it is gone. */
static void reap(struct ts_ring *ring)
{
	if (atomic_load(&ring->state) == TS_RING_LIVE &&
	    syscall(SYS_tgkill, ts_file->pid, atomic_load(&ring->tid), 0) && errno == ESRCH) {
		atomic_store(&ring->busy, 0);
		atomic_store(&ring->state, TS_RING_EXITED);
	}
}

void ts_file_ring_reap(struct ts_ring *ring)
{
	/* The lock: else the ring may be given to another thread meanwhile. */
	if (pthread_mutex_trylock(&lock))
		return;
	reap(ring);
	pthread_mutex_unlock(&lock);
}

struct ts_ring *ts_file_ring(int tid)
{
	struct ts_ring *ring = NULL;
	uint32_t count;

	pthread_mutex_lock(&lock);
	count = atomic_load(&ts_file->rings);
	for (uint32_t i = 0; i < count && !ring; i++) {
		/* The kernel gives the number of a thread again only after its end. */
		if (atomic_load(&rings[i]->state) == TS_RING_LIVE &&
		    atomic_load(&rings[i]->tid) == tid)
			atomic_store(&rings[i]->state, TS_RING_EXITED);
		if (can_be_given_on(rings[i]))
			ring = rings[i];
	}
	for (uint32_t i = 0; i < LOOK_AT && i < count && !ring; i++) {
		struct ts_ring *old = rings[looked_at++ % count];

		reap(old);
		if (can_be_given_on(old))
			ring = old;
	}
	if (!ring)
		ring = new_ring();
	if (ring) {
		atomic_store(&ring->tid, tid);
		/* see ts_reserve_slow */
		ring->tail_seen = atomic_load(&ring->tail) - (ring->mask / 2 + 1);
		ring->stalled = 0;
		atomic_store(&ring->busy, 0);
		atomic_store_explicit(&ring->state, TS_RING_LIVE, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return ring;
}

struct ts_ring *ts_file_ring_at(uint32_t i)
{
	return rings[i];
}

unsigned char *ts_file_arena(void)
{
	return arena;
}

int ts_file_arena_grow(uint64_t end)
{
	int result = 0;

	pthread_mutex_lock(&lock);
	while (arena_mapped < end && !result) {
		uint32_t chunk = atomic_load(&ts_file->chunks);
		uint64_t offset;

		if (chunk == TS_ARENA_CHUNKS ||
		    !extend(TS_ARENA_CHUNK, arena + arena_mapped, &offset)) {
			result = -ENOSPC;
			break;
		}
		arena_mapped += TS_ARENA_CHUNK;
		atomic_store(&ts_file->chunk_offset[chunk], offset);
		atomic_store_explicit(&ts_file->chunks, chunk + 1, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void ts_file_unlink(void)
{
	if (path[0])
		unlink(path);
	path[0] = '\0';
}

const char *ts_file_path(void)
{
	return path;
}

void ts_file_child(void)
{
	pthread_mutex_init(&lock, NULL);
	ts_file = NULL;
	path[0] = '\0';
}
