/* The headers at hand are those of CUDA 13: move their form of what changed out of the way, so that
 * the form of CUDA 12 can be written under the same name. */
#define cudaDeviceProp                       cudaDeviceProp13
#define cudaGetDeviceProperties              cudaGetDeviceProperties13
#define cudaMemAdvise                        cudaMemAdvise13
#define cudaMemPrefetchAsync                 cudaMemPrefetchAsync13
#define cudaMemcpyBatchAsync                 cudaMemcpyBatchAsync13
#define cudaMemcpy3DBatchAsync               cudaMemcpy3DBatchAsync13
#define cudaStreamGetCaptureInfo             cudaStreamGetCaptureInfo13
#define cudaStreamUpdateCaptureDependencies  cudaStreamUpdateCaptureDependencies13
#define cudaGraphAddNode                     cudaGraphAddNode13
#define cudaGraphGetEdges                    cudaGraphGetEdges13
#define cudaGraphNodeGetDependencies         cudaGraphNodeGetDependencies13
#define cudaGraphNodeGetDependentNodes       cudaGraphNodeGetDependentNodes13
#define cudaGraphAddDependencies             cudaGraphAddDependencies13
#define cudaGraphRemoveDependencies          cudaGraphRemoveDependencies13

#include "tests/sim/runtime/runtime.h"

#undef cudaDeviceProp
#undef cudaGetDeviceProperties
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaMemcpyBatchAsync
#undef cudaMemcpy3DBatchAsync
#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies
#undef cudaGraphAddNode
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphAddDependencies
#undef cudaGraphRemoveDependencies
