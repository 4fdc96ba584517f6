/* Virtual memory management: reserved addresses, physical memory, mappings between them.  Physical
 * memory is a range of one anonymous file, so that the same bytes can be mapped at several places.
 */
#include "sim.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)

struct physical {
	struct object obj;
	size_t size;
	off_t offset;
	int device, refs; /* the handle and each mapping */
	bool released;
	CUmemAllocationProp prop;
};
struct mapping {
	struct mapping *next;
	uintptr_t address;
	size_t size;
	struct physical *memory;
};
static int file = -1;
static off_t file_end;
static struct free_range {
	struct free_range *next;
	off_t offset;
	size_t size;
} * free_ranges;

static bool valid_prop(const CUmemAllocationProp *prop)
{
	return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
	       prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       !sim_device_check(prop->location.id);
}

CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
					   CUmemAllocationGranularity_flags option)
{
	if (!granularity || !valid_prop(prop) ||
	    (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = GRANULARITY;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
				 unsigned long long flags)
{
	(void)addr; /* a wish; the simulated device grants none */
	if (!ptr || !size || size % GRANULARITY || flags || (alignment & (alignment - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	if (alignment < GRANULARITY)
		alignment = GRANULARITY;
	size_t span;
	if (__builtin_add_overflow(size, alignment, &span))
		return CUDA_ERROR_OUT_OF_MEMORY;
	void *base =
	    mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	uintptr_t start = ((uintptr_t)base + alignment - 1) & ~(alignment - 1);
	if (start > (uintptr_t)base)
		munmap(base, start - (uintptr_t)base);
	if ((uintptr_t)base + span > start + size)
		munmap((void *)(start + size), (uintptr_t)base + span - start - size);
	struct alloc *alloc = sim_memory_name(start, size, MEM_RESERVED, 0, NULL);
	if (!alloc) {
		munmap((void *)start, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ptr = start;
	return CUDA_SUCCESS;
}

static struct alloc *reservation(CUdeviceptr ptr, size_t size)
{
	struct alloc *alloc = sim_memory_find(ptr);
	if (!alloc || alloc->kind != MEM_RESERVED || !size ||
	    size > alloc->size - (ptr - alloc->address))
		return NULL;
	return alloc;
}

CUresult sim_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	struct alloc *alloc = reservation(ptr, size);
	if (!alloc || alloc->address != ptr || alloc->size != size || alloc->extra)
		return CUDA_ERROR_INVALID_VALUE;
	munmap((void *)(uintptr_t)ptr, size);
	sim_memory_drop(alloc, false);
	return CUDA_SUCCESS;
}

static bool place_in_file(struct physical *p)
{
	for (struct free_range **link = &free_ranges; *link; link = &(*link)->next) {
		struct free_range *range = *link;
		if (range->size != p->size)
			continue;
		p->offset = range->offset;
		*link = range->next;
		free(range);
		return true;
	}
	if (file < 0)
		file = memfd_create("simulated CUDA device memory", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, file_end + (off_t)p->size))
		return false;
	p->offset = file_end;
	file_end += (off_t)p->size;
	return true;
}

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
			 const CUmemAllocationProp *prop, unsigned long long flags)
{
	if (!handle || !size || size % GRANULARITY || flags || !valid_prop(prop))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_charge(prop->location.id, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct physical *p = sim_object_new(OBJ_PHYSICAL, sizeof *p, NULL);
	if (p)
		p->size = size;
	if (!p || !place_in_file(p)) {
		if (p)
			sim_object_drop(p);
		sim_devices[prop->location.id].used -= size;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p->device = prop->location.id;
	p->refs = 1;
	p->prop = *prop;
	*handle = (CUmemGenericAllocationHandle)(uintptr_t)p;
	return CUDA_SUCCESS;
}

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
	struct physical *p = sim_object_get((void *)(uintptr_t)handle, OBJ_PHYSICAL);
	return p && !p->released ? p : NULL;
}

/* The memory goes with the handle and the last mapping. */
static void unref(struct physical *p)
{
	if (--p->refs)
		return;
	struct free_range *range = malloc(sizeof *range);
	if (range) {
		*range = (struct free_range){free_ranges, p->offset, p->size};
		free_ranges = range;
	}
	fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, p->offset, (off_t)p->size);
	sim_devices[p->device].used -= p->size;
	sim_object_drop(p);
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *p = physical_of(handle);
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	p->released = p->refs > 1;
	unref(p);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
		      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct alloc *alloc = reservation(ptr, size);
	struct physical *p = physical_of(handle);
	if (!alloc || !p || flags || offset || size != p->size || ptr % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct mapping *m = alloc->extra; m; m = m->next)
		if (ptr < m->address + m->size && m->address < ptr + size)
			return CUDA_ERROR_INVALID_VALUE;
	struct mapping *m = malloc(sizeof *m);
	SIM_ALLOC_CHECK(m);
	if (mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, file,
		 p->offset) == MAP_FAILED) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*m = (struct mapping){alloc->extra, ptr, size, p};
	alloc->extra = m;
	alloc->device = p->device;
	p->refs++;
	return CUDA_SUCCESS;
}

static bool covered(const struct alloc *alloc, CUdeviceptr ptr, size_t size)
{
	size_t n = 0;
	for (const struct mapping *m = alloc->extra; m; m = m->next)
		if (m->address >= ptr && m->address + m->size <= ptr + size)
			n += m->size;
	return n == size;
}

CUresult sim_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	struct alloc *alloc = reservation(ptr, size);
	if (!alloc || !covered(alloc, ptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	for (struct mapping **link = (struct mapping **)&alloc->extra; *link;) {
		struct mapping *m = *link;
		if (m->address < ptr || m->address + m->size > ptr + size) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		unref(m->memory);
		free(m);
	}
	mmap((void *)(uintptr_t)ptr, size, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	struct alloc *alloc = reservation(ptr, size);
	if (!alloc || !desc || !count || !covered(alloc, ptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	int prot = PROT_NONE;
	for (size_t i = 0; i < count; i++)
		if (desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			prot = PROT_READ | PROT_WRITE;
		else if (desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ && prot == PROT_NONE)
			prot = PROT_READ;
	alloc->flags = (unsigned)prot;
	return mprotect((void *)(uintptr_t)ptr, size, prot) ? CUDA_ERROR_INVALID_VALUE
							    : CUDA_SUCCESS;
}

CUresult sim_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
			    CUdeviceptr ptr)
{
	struct alloc *alloc = reservation(ptr, 1);
	if (!flags || !location || !alloc)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = alloc->flags & PROT_WRITE  ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
		 : alloc->flags & PROT_READ ? CU_MEM_ACCESS_FLAGS_PROT_READ
					    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
						    CUmemGenericAllocationHandle handle)
{
	struct physical *p = physical_of(handle);
	if (!prop || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*prop = p->prop;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
	struct alloc *alloc = reservation((uintptr_t)addr, 1);
	for (struct mapping *m = alloc ? alloc->extra : NULL; m && handle; m = m->next)
		if ((uintptr_t)addr - m->address < m->size) {
			if (!m->memory->released)
				m->memory->refs++;
			m->memory->released = false;
			*handle = (CUmemGenericAllocationHandle)(uintptr_t)m->memory;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}
