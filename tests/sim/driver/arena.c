/* Where device and pinned memory lies: address space reserved in large pieces, pages given back to
 * the system when nothing in them lives.  A freed address does not come back unless
 * TSTRACE_SIM_REUSE says so: use after free and mistaken identity then show in tests instead of
 * hiding.
 *
 * Small blocks are cut from slabs of 2 MiB with a count of what lives in them; a large block is its
 * own slab.  Every slab begins on a 2 MiB border, so that a block finds its slab by its address. */
#include "sim.h"
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SLAB ((size_t)2 << 20)
#define ALIGN ((size_t)512)
#define PIECE ((size_t)1 << 40) /* address space taken at a time, if the system lets us */
#define KEEP 16			/* used-up pieces kept reserved, so that no address returns */
#define STACK 4096		/* freed blocks remembered for reuse */

struct slab {
	uintptr_t address;
	size_t size, filled, live;
	struct piece *piece;
};
struct piece {
	uintptr_t address;
	size_t size, filled, live; /* live: slabs with memory */
	struct piece *next;
};
static struct piece *pieces; /* newest first */
static unsigned npieces;
static struct slab *small; /* where small blocks are cut now */
static void *slabs;	   /* tree by address range */

static struct freed {
	uintptr_t address;
	size_t capacity;
} freed[STACK];
static unsigned nfreed;

static struct {
	uintptr_t address;
	size_t capacity;
	const struct sim_thread *giver;
	bool taken;
} offer;
static pthread_cond_t offer_taken = PTHREAD_COND_INITIALIZER, offer_over = PTHREAD_COND_INITIALIZER;

static int by_range(const void *a, const void *b)
{
	const struct slab *x = a, *y = b;
	if (x->address + x->size <= y->address)
		return -1;
	return x->address >= y->address + y->size;
}

static void retire_pieces(void)
{
	struct piece **link = &pieces;
	for (unsigned n = 0; *link; n++) {
		struct piece *p = *link;
		if (n < KEEP || p->live) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		munmap((void *)p->address, p->size);
		free(p);
		npieces--;
	}
}

static struct piece *new_piece(size_t least)
{
	struct piece *p = calloc(1, sizeof *p);
	void *where = MAP_FAILED;
	size_t size;
	if (!p)
		return NULL;
	for (size = PIECE; where == MAP_FAILED && size >= least + SLAB; size /= 4) {
		where = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		p->size = size;
	}
	if (where == MAP_FAILED) {
		free(p);
		return NULL;
	}
	madvise(where, p->size, MADV_DONTDUMP);
	p->address = (uintptr_t)where;
	p->filled = (SLAB - p->address % SLAB) % SLAB;
	p->next = pieces;
	pieces = p;
	npieces++;
	if (npieces > KEEP)
		retire_pieces();
	return p;
}

static struct slab *new_slab(size_t size)
{
	size = (size + SLAB - 1) / SLAB * SLAB;
	struct piece *p = pieces;
	if (!p || p->size - p->filled < size)
		p = new_piece(size);
	struct slab *slab = p ? calloc(1, sizeof *slab) : NULL;
	if (!slab)
		return NULL;
	slab->address = p->address + p->filled;
	slab->size = size;
	slab->piece = p;
	if (!tsearch(slab, &slabs, by_range)) {
		free(slab);
		return NULL;
	}
	p->filled += size;
	p->live++;
	return slab;
}

static void drop_slab(struct slab *slab)
{
	madvise((void *)slab->address, slab->size, MADV_DONTNEED);
	tdelete(slab, &slabs, by_range);
	slab->piece->live--;
	free(slab);
}

static uintptr_t fresh(size_t size)
{
	if (size > SLAB / 2) {
		struct slab *slab = new_slab(size);
		if (!slab)
			return 0;
		slab->live = 1;
		slab->filled = slab->size;
		return slab->address;
	}
	if (!small || small->size - small->filled < size) {
		struct slab *slab = new_slab(SLAB);
		if (!slab)
			return 0;
		if (small && !small->live)
			drop_slab(small);
		small = slab;
	}
	uintptr_t address = small->address + small->filled;
	small->filled += size;
	small->live++;
	return address;
}

static void really_give(uintptr_t address)
{
	const struct slab key = {.address = address, .size = 1};
	struct slab **found = tfind(&key, &slabs, by_range);
	if (found && !--(*found)->live && *found != small)
		drop_slab(*found);
}

static bool take_freed(size_t size, uintptr_t *address, size_t *capacity)
{
	if (offer.address && !offer.taken && offer.giver != sim_thread() &&
	    offer.capacity >= size) {
		offer.taken = true;
		*address = offer.address;
		*capacity = offer.capacity;
		pthread_cond_broadcast(&offer_taken);
		return true;
	}
	for (unsigned i = nfreed; i-- > 0;) {
		if (freed[i].capacity < size)
			continue;
		*address = freed[i].address;
		*capacity = freed[i].capacity;
		nfreed--;
		for (; i < nfreed; i++)
			freed[i] = freed[i + 1];
		return true;
	}
	return false;
}

/* Address of at least `size` bytes, 0 when there is none. */
uintptr_t sim_arena_take(size_t size, size_t *capacity)
{
	uintptr_t address;
	if (size > SIZE_MAX / 2)
		return 0;
	size = size ? (size + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
	if (sim_config.reuse != REUSE_NEVER && take_freed(size, &address, capacity))
		return address;
	*capacity = size;
	return fresh(size);
}

/* Stay in the free until another thread was given the address, as a test of orderings wants it. */
static void shake_hands(uintptr_t address, size_t capacity)
{
	uint64_t deadline = sim_now() + sim_config.handshake_ns;
	while (offer.address)
		if (!sim_cond_wait(&offer_over, deadline)) {
			really_give(address);
			return;
		}
	offer.address = address;
	offer.capacity = capacity;
	offer.giver = sim_thread();
	offer.taken = false;
	while (!offer.taken && sim_cond_wait(&offer_taken, deadline))
		;
	if (!offer.taken)
		really_give(address);
	offer.address = 0;
	pthread_cond_broadcast(&offer_over);
}

/* `handshake`: this is the free that the handshake mode is about. */
void sim_arena_give(uintptr_t address, size_t capacity, bool handshake)
{
	if (sim_config.reuse == REUSE_HANDSHAKE && handshake) {
		shake_hands(address, capacity);
		return;
	}
	if (sim_config.reuse != REUSE_LIFO) {
		really_give(address);
		return;
	}
	if (nfreed == STACK) {
		really_give(freed[0].address);
		for (unsigned i = 1; i < STACK; i++)
			freed[i - 1] = freed[i];
		nfreed--;
	}
	freed[nfreed++] = (struct freed){address, capacity};
}
