// The Tracy peer: zones, in a shared object of its own so that the probe runs without it too.
#include <tracy/Tracy.hpp>

#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

// Whether a capture is attached, within some seconds: without one Tracy only fills its memory.
EXPORT int peer_connected()
{
	for (int ms = 0; ms < 10000 && !TracyIsConnected; ms += 10)
		usleep(10000);
	return TracyIsConnected;
}

EXPORT void peer_zones(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		ZoneScopedN("decoder.layer.0.attention");
	}
}
