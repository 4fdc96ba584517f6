"""The runtime from Python through ctypes: every function comes from dlsym on an explicit handle."""
import ctypes
import sys


def load():
    for name in ("libcudart.so.13", "libcudart.so.12"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit("no libcudart")


def check(error):
    if error:
        sys.exit("cuda error %d" % error)


def main():
    rt = load()
    pointer = ctypes.c_void_p()
    source = (ctypes.c_int * 64)(*range(64))
    target = (ctypes.c_int * 64)()
    size = ctypes.c_size_t(ctypes.sizeof(source))
    check(rt.cudaMalloc(ctypes.byref(pointer), size))
    check(rt.cudaMemcpy(pointer, source, size, 1))
    check(rt.cudaMemcpy(target, pointer, size, 2))
    check(rt.cudaMemset(pointer, 0, size))
    check(rt.cudaDeviceSynchronize())
    check(rt.cudaFree(pointer))
    print("sum through the device:", sum(target))


main()
