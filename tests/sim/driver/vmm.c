/* Virtual memory management: reserved addresses, physical memory, mappings between them.  Physical
 * memory is a range of an anonymous file, so that the same bytes can be mapped at several places;
 * what may be exported has a file of its own, and its descriptor is the shareable handle. */
#include "sim.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)

struct physical {
	struct object obj;
	size_t size;
	int file;
	off_t offset;
	int device, handles, mappings; /* references */
	bool imported;
	CUmemAllocationProp prop;
};
struct mapping {
	struct mapping *next;
	uintptr_t address;
	size_t size;
	struct physical *memory;
};
static int common_file = -1;
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
	       !sim_device_check(prop->location.id) &&
	       !((unsigned)prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
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

#define FILE_NAME "simulated CUDA memory of device "

static bool own_file(struct physical *p)
{
	char name[64];
	snprintf(name, sizeof name, FILE_NAME "%d", p->device);
	p->file = memfd_create(name, MFD_CLOEXEC);
	if (p->file < 0)
		return false;
	if (!ftruncate(p->file, (off_t)p->size))
		return true;
	close(p->file);
	return false;
}

static bool place_in_file(struct physical *p)
{
	for (struct free_range **link = &free_ranges; *link; link = &(*link)->next) {
		struct free_range *range = *link;
		if (range->size != p->size)
			continue;
		p->file = common_file;
		p->offset = range->offset;
		*link = range->next;
		free(range);
		return true;
	}
	if (common_file < 0)
		common_file = memfd_create("simulated CUDA memory", MFD_CLOEXEC);
	if (common_file < 0 || ftruncate(common_file, file_end + (off_t)p->size))
		return false;
	p->file = common_file;
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
	if (p) {
		p->size = size;
		p->device = prop->location.id;
	}
	if (!p || !(prop->requestedHandleTypes ? own_file(p) : place_in_file(p))) {
		if (p)
			sim_object_drop(p);
		sim_devices[prop->location.id].used -= size;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p->handles = 1;
	p->prop = *prop;
	*handle = (CUmemGenericAllocationHandle)(uintptr_t)p;
	return CUDA_SUCCESS;
}

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
	struct physical *p = sim_object_get((void *)(uintptr_t)handle, OBJ_PHYSICAL);
	return p && p->handles ? p : NULL;
}

/* The memory goes with the last handle and the last mapping. */
static void drop_if_unused(struct physical *p)
{
	if (p->handles || p->mappings)
		return;
	struct free_range *range = p->file == common_file ? malloc(sizeof *range) : NULL;
	if (range) {
		*range = (struct free_range){free_ranges, p->offset, p->size};
		free_ranges = range;
	}
	if (p->file == common_file)
		fallocate(p->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, p->offset,
			  (off_t)p->size);
	else
		close(p->file); /* others may still have the memory */
	if (!p->imported)
		sim_devices[p->device].used -= p->size;
	sim_object_drop(p);
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *p = physical_of(handle);
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	p->handles--;
	drop_if_unused(p);
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
	if (mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, p->file,
		 p->offset) == MAP_FAILED) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*m = (struct mapping){alloc->extra, ptr, size, p};
	alloc->extra = m;
	alloc->device = p->device;
	p->mappings++;
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
		m->memory->mappings--;
		drop_if_unused(m->memory);
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
			m->memory->handles++;
			*handle = (CUmemGenericAllocationHandle)(uintptr_t)m->memory;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemExportToShareableHandle(void *shareableHandle,
					  CUmemGenericAllocationHandle handle,
					  CUmemAllocationHandleType handleType,
					  unsigned long long flags)
{
	const struct physical *p = physical_of(handle);
	if (!shareableHandle || !p || flags || !handleType ||
	    handleType != p->prop.requestedHandleTypes)
		return CUDA_ERROR_INVALID_VALUE;
	int copy = fcntl(p->file, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	memcpy(shareableHandle, &copy, sizeof copy);
	return CUDA_SUCCESS;
}

/* Which device's memory a descriptor is, by the name of its file; -1: none's. */
static int device_of(int fd)
{
	char link[64], name[128];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, sizeof name - 1);
	int device = -1;
	if (n > 0) {
		name[n] = 0;
		sscanf(name, "/memfd:" FILE_NAME "%d", &device);
	}
	return device;
}

/* The caller keeps its descriptor.  Memory of another process is charged there. */
CUresult sim_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
					    CUmemAllocationHandleType shHandleType)
{
	int fd = (int)(intptr_t)osHandle;
	struct stat stat;
	if (!handle || !shHandleType)
		return CUDA_ERROR_INVALID_VALUE;
	if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	int device = device_of(fd);
	if (sim_device_check(device) || fstat(fd, &stat))
		return CUDA_ERROR_INVALID_VALUE;
	struct physical *p = sim_object_new(OBJ_PHYSICAL, sizeof *p, NULL);
	SIM_ALLOC_CHECK(p);
	p->file = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (p->file < 0) {
		sim_object_drop(p);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	p->size = (size_t)stat.st_size;
	p->device = device;
	p->handles = 1;
	p->imported = true;
	p->prop = (CUmemAllocationProp){
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .requestedHandleTypes = shHandleType,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
	};
	*handle = (CUmemGenericAllocationHandle)(uintptr_t)p;
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 11070
CUresult sim_cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
					   CUmemRangeHandleType handleType,
					   unsigned long long flags)
{
	(void)flags;
	if (!handle || !size || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
	    !sim_memory_find_range(dptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_ERROR_NOT_SUPPORTED; /* CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED is 0 */
}
#endif
