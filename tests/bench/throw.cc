// C++ in a dlopened library: throws and catches ten frames up, the shape of a Python extension.
#include <stdexcept>

namespace {

__attribute__((noinline)) void descend(int depth)
{
	if (!depth)
		throw std::runtime_error("bench");
	descend(depth - 1);
	__asm__ volatile("" ::: "memory");
}

} // namespace

extern "C" __attribute__((visibility("default"))) int throw_and_catch(int depth)
{
	try {
		descend(depth);
	} catch (const std::exception &e) {
		return e.what()[0];
	}
	return 0;
}
