// Every way to copy and set, with data that shows where it went.
#include <cstring>

#include "check.h"

static void flat()
{
	char in[64] = "one-dimensional", out[64] = "";
	char *a, *b;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&a, 64));
	CHECK(cudaMalloc(&b, 64));
	CHECK(cudaMemcpy(a, in, 64, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(b, a, 64, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpyAsync(a, b, 64, cudaMemcpyDefault, stream));
	CHECK(cudaMemcpyAsync(out, a, 64, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	std::printf("%s\n", out);
	CHECK(cudaMemset(a, 'x', 8));
	CHECK(cudaMemsetAsync(a + 8, 0, 8, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpy(out, a, 64, cudaMemcpyDefault));
	std::printf("%s\n", out);
	CHECK(cudaMemcpy(out, in, 64, cudaMemcpyHostToHost));
	std::printf("%s\n", out);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaStreamDestroy(stream));
}

static void planes()
{
	char in[4][16], out[4][16];
	char *p;
	size_t pitch;

	for (int y = 0; y < 4; y++)
		std::memset(in[y], 'a' + y, 16);
	std::memset(out, '.', sizeof(out));
	CHECK(cudaMallocPitch(&p, &pitch, 16, 4));
	CHECK(cudaMemset2D(p, pitch, '-', 16, 4));
	CHECK(cudaMemcpy2D(p + 4, pitch, in, 16, 8, 3, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2DAsync(out, 16, p, pitch, 16, 4, cudaMemcpyDeviceToHost, 0));
	CHECK(cudaMemset2DAsync(p, pitch, 0, 16, 4, 0));
	CHECK(cudaDeviceSynchronize());
	for (auto &row : out)
		std::printf("%.16s\n", row);
	CHECK(cudaFree(p));
}

static void arrays()
{
	int in[8][8], out[8][8] = {};
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	cudaArray_t a, b;

	for (int i = 0; i < 64; i++)
		in[i / 8][i % 8] = i;
	CHECK(cudaMallocArray(&a, &desc, 8, 8));
	CHECK(cudaMallocArray(&b, &desc, 8, 8));
	CHECK(cudaMemcpy2DToArray(a, 0, 0, in, sizeof(in[0]), sizeof(in[0]), 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, sizeof(in[0]), 8, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpy2DFromArray(out, sizeof(out[0]), b, 0, 0, sizeof(out[0]), 8, cudaMemcpyDeviceToHost));
	std::printf("array: %d %d\n", out[0][1], out[7][7]);
	CHECK(cudaFreeArray(a));
	CHECK(cudaFreeArray(b));
}

static void volumes()
{
	static int in[4][4][4], out[4][4][4];
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	cudaPitchedPtr p;
	cudaArray_t array;
	cudaMemcpy3DParms to = {}, across = {}, from = {};

	for (int i = 0; i < 64; i++)
		in[i / 16][i / 4 % 4][i % 4] = 100 + i;
	CHECK(cudaMalloc3D(&p, make_cudaExtent(4 * sizeof(int), 4, 4)));
	CHECK(cudaMemset3D(p, 0, make_cudaExtent(4 * sizeof(int), 4, 4)));
	CHECK(cudaMemset3DAsync(p, 1, make_cudaExtent(4 * sizeof(int), 4, 4), 0));
	CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(4, 4, 4)));
	to.srcPtr = make_cudaPitchedPtr(in, 4 * sizeof(int), 4, 4);
	to.dstPtr = p;
	to.extent = make_cudaExtent(4 * sizeof(int), 4, 4);
	to.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&to));
	across.srcPtr = p;
	across.dstArray = array;
	across.extent = make_cudaExtent(4, 4, 4);
	across.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaMemcpy3D(&across));
	from.srcArray = array;
	from.dstPtr = make_cudaPitchedPtr(out, 4 * sizeof(int), 4, 4);
	from.extent = make_cudaExtent(4, 4, 4);
	from.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3DAsync(&from, 0));
	CHECK(cudaDeviceSynchronize());
	std::printf("volume: %d %d\n", out[0][0][1], out[3][3][3]);
	CHECK(cudaFreeArray(array));
	CHECK(cudaFree(p.ptr));
}

int main()
{
	flat();
	planes();
	arrays();
	volumes();
	return 0;
}
