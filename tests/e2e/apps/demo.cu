// A small training run: a two-layer network, synthetic batches, plain SGD.  Workspace comes from the
// stream-ordered pool on a second stream, and one buffer per epoch is forgotten, as happens.
#include <vector>

#include "check.h"

constexpr int batch = 64, inputs = 256, hidden = 512, steps = 6, epochs = 2;

__global__ void forward(const float *x, const float *w, float *y, int n, int in, int out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n * out)
		return;
	float sum = 0;
	for (int k = 0; k < in; k++)
		sum += x[i / out * in + k] * w[k * out + i % out];
	y[i] = sum > 0 ? sum : 0;
}

__global__ void loss_gradient(const float *y, const float *target, float *gradient, float *loss, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float d = y[i] - target[i];
	gradient[i] = 2 * d / n;
	atomicAdd(loss, d * d / n);
}

__global__ void backward(const float *x, const float *gradient, float *dw, int n, int in, int out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= in * out)
		return;
	float sum = 0;
	for (int b = 0; b < n; b++)
		sum += x[b * in + i / out] * gradient[b * out + i % out];
	dw[i] = sum;
}

__global__ void sgd(float *w, const float *dw, float rate, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		w[i] -= rate * dw[i];
}

static int blocks(int n) { return (n + 255) / 256; }

struct Network {
	float *w, *dw, *x, *y, *target, *gradient, *loss;
	cudaStream_t compute, copy;
	cudaEvent_t loaded;
};

static float *device_floats(size_t n)
{
	float *p;
	CHECK(cudaMalloc(&p, n * sizeof(float)));
	return p;
}

static void build(Network &net)
{
	std::vector<float> start(inputs * hidden, 0.01f);

	net.w = device_floats(inputs * hidden);
	net.dw = device_floats(inputs * hidden);
	net.x = device_floats(batch * inputs);
	net.y = device_floats(batch * hidden);
	net.target = device_floats(batch * hidden);
	net.gradient = device_floats(batch * hidden);
	net.loss = device_floats(1);
	CHECK(cudaMemcpy(net.w, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(net.target, 0, batch * hidden * sizeof(float)));
	CHECK(cudaStreamCreate(&net.compute));
	CHECK(cudaStreamCreateWithFlags(&net.copy, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&net.loaded, cudaEventDisableTiming));
}

static void step(Network &net, const float *host)
{
	float *scratch;

	CHECK(cudaMemcpyAsync(net.x, host, batch * inputs * sizeof(float), cudaMemcpyHostToDevice,
			      net.copy));
	CHECK(cudaEventRecord(net.loaded, net.copy));
	CHECK(cudaStreamWaitEvent(net.compute, net.loaded, 0));
	CHECK(cudaMallocAsync((void **)&scratch, batch * hidden * sizeof(float), net.compute));
	CHECK(cudaMemsetAsync(net.loss, 0, sizeof(float), net.compute));
	forward<<<blocks(batch * hidden), 256, 0, net.compute>>>(net.x, net.w, net.y, batch, inputs, hidden);
	loss_gradient<<<blocks(batch * hidden), 256, 0, net.compute>>>(net.y, net.target, net.gradient,
								      net.loss, batch * hidden);
	backward<<<blocks(inputs * hidden), 256, 0, net.compute>>>(net.x, net.gradient, net.dw, batch,
								  inputs, hidden);
	sgd<<<blocks(inputs * hidden), 256, 0, net.compute>>>(net.w, net.dw, 0.1f, inputs * hidden);
	CHECK(cudaGetLastError());
	CHECK(cudaFreeAsync(scratch, net.compute));
}

static void validate(Network &net)
{
	float *forgotten = device_floats(batch * hidden), *workspace, loss;
	cudaEvent_t done;

	CHECK(cudaMallocAsync((void **)&workspace, 1 << 20, net.copy));
	CHECK(cudaMemcpyAsync(forgotten, net.y, batch * hidden * sizeof(float), cudaMemcpyDeviceToDevice,
			      net.compute));
	CHECK(cudaFreeAsync(workspace, net.copy));
	CHECK(cudaEventCreate(&done));
	CHECK(cudaEventRecord(done, net.compute));
	CHECK(cudaEventSynchronize(done));
	CHECK(cudaEventDestroy(done));
	CHECK(cudaMemcpy(&loss, net.loss, sizeof(loss), cudaMemcpyDeviceToHost));
	// `forgotten` is never freed.
}

int main()
{
	Network net;
	float *host;

	build(net);
	CHECK(cudaMallocHost(&host, batch * inputs * sizeof(float)));
	for (int epoch = 0; epoch < epochs; epoch++) {
		for (int s = 0; s < steps; s++) {
			for (int i = 0; i < batch * inputs; i++)
				host[i] = (float)((i * 31 + s * 17 + epoch) % 97) / 97;
			step(net, host);
			CHECK(cudaStreamSynchronize(net.copy));
		}
		validate(net);
		std::printf("epoch %d: %d steps of %d samples\n", epoch + 1, steps, batch);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFreeHost(host));
	for (float *p : { net.w, net.dw, net.x, net.y, net.target, net.gradient, net.loss })
		CHECK(cudaFree(p));
	CHECK(cudaEventDestroy(net.loaded));
	CHECK(cudaStreamDestroy(net.copy));
	CHECK(cudaStreamDestroy(net.compute));
	std::printf("done\n");
	return 0;
}
