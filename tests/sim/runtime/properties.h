/* Fill struct cudaDeviceProp.  The struct differs between CUDA 12 and 13, the fields of props.def
 * are in both: each generation includes this once, after it has declared `struct cudaDeviceProp`.
 */
static int fill_properties(const struct rt_driver *d, struct cudaDeviceProp *prop, int device)
{
	int count = 0, value;
	int r = d->cuDeviceGetCount(&count);

	if (r)
		return r;
	if (!prop)
		return cudaErrorInvalidValue;
	if (device < 0 || device >= count)
		return cudaErrorInvalidDevice;
	memset(prop, 0, sizeof(*prop));
	d->cuDeviceGetName(prop->name, sizeof(prop->name), device);
	d->cuDeviceTotalMem(&prop->totalGlobalMem, device);
	d->cuDeviceGetUuid((CUuuid *)&prop->uuid, device);
#define RT_PROP(field, attribute)                                                              \
	value = 0;                                                                             \
	d->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_##attribute, device);              \
	prop->field = (__typeof__(prop->field))value;
#include "tests/sim/runtime/props.def"
#undef RT_PROP
	return 0;
}
