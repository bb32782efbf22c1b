// The portability layer: one set of names for CUDA, HIP and the CPU.
//
// Kernels are ordinary `__global__` functions over `gpu::global_index()`, host code uses the
// names below, and CMake chooses the backend with one macro.  What every backend offers:
//
//   Stream, Event                       order of queued work; `stream.wait(event)`
//   DeviceMemory                        memory of the device, owned
//   HostMemory                          page-locked host memory, owned
//   copy, copy_async                    blocking and queued copies
//   launch<kernel>(stream, items, ...)  at least `items` threads, rounded up to whole blocks
//   synchronize_device                  wait for everything
//   before_restore                      a point of a schedule; work on real devices ignores it
//   pointer_kind                        what the runtime says of an address
//   list_devices, use_device            enumeration and choice
//   backend_name
#pragma once

#include "gpu/types.h"

#if defined(HARNESS_BACKEND_CUDA) + defined(HARNESS_BACKEND_HIP) + defined(HARNESS_BACKEND_CPU) != 1
#error "exactly one of HARNESS_BACKEND_CUDA, HARNESS_BACKEND_HIP and HARNESS_BACKEND_CPU must be defined"
#endif

#if defined(HARNESS_BACKEND_CPU)
#include "gpu/cpu.h"
#else
#include "gpu/device.h"
#endif

#include "gpu/maths.h"
