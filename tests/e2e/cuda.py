"""The CUDA runtime and driver for the end-to-end tests: every function returns its error code."""
import ctypes
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p  # noqa: F401

rt = ctypes.CDLL("libcudart.so.13")
drv = ctypes.CDLL("libcuda.so.1")


def malloc(size):
    """(error, address) of cudaMalloc."""
    p = c_void_p()
    return rt.cudaMalloc(byref(p), c_size_t(size)), p.value


def free(address):
    return rt.cudaFree(c_void_p(address))


def mem_alloc(size):
    """(error, address) of cuMemAlloc."""
    p = c_uint64()
    return drv.cuMemAlloc_v2(byref(p), c_size_t(size)), p.value


def mem_free(address):
    return drv.cuMemFree_v2(c_uint64(address))
