// Device functions that AMD's device libraries give and that a machine without ROCm lacks.
//
// Included before every source on the route "clang with the distribution's HIP headers", where
// -nogpulib leaves the bitcode libraries out.  Only what the HIP headers call for indices, sizes,
// fences and a failed assert is here; a kernel that needs device mathematics (sinf, powf, …) does
// not link on this route and needs ROCm.
#pragma once

#include <hip/hip_runtime.h>

#if defined(__HIP_DEVICE_COMPILE__)

#define HARNESS_SHIM extern "C" __device__ __attribute__((weak))

HARNESS_SHIM size_t __ockl_get_local_id(unsigned dimension) {
  switch (dimension) {
    case 0: return __builtin_amdgcn_workitem_id_x();
    case 1: return __builtin_amdgcn_workitem_id_y();
    case 2: return __builtin_amdgcn_workitem_id_z();
    default: return 0;
  }
}

HARNESS_SHIM size_t __ockl_get_group_id(unsigned dimension) {
  switch (dimension) {
    case 0: return __builtin_amdgcn_workgroup_id_x();
    case 1: return __builtin_amdgcn_workgroup_id_y();
    case 2: return __builtin_amdgcn_workgroup_id_z();
    default: return 0;
  }
}

HARNESS_SHIM size_t __ockl_get_local_size(unsigned dimension) {
  switch (dimension) {
    case 0: return __builtin_amdgcn_workgroup_size_x();
    case 1: return __builtin_amdgcn_workgroup_size_y();
    case 2: return __builtin_amdgcn_workgroup_size_z();
    default: return 1;
  }
}

HARNESS_SHIM size_t __ockl_get_global_size(unsigned dimension) {
  switch (dimension) {
    case 0: return __builtin_amdgcn_grid_size_x();
    case 1: return __builtin_amdgcn_grid_size_y();
    case 2: return __builtin_amdgcn_grid_size_z();
    default: return 1;
  }
}

HARNESS_SHIM size_t __ockl_get_num_groups(unsigned dimension) {
  const size_t size = __ockl_get_local_size(dimension);
  return (__ockl_get_global_size(dimension) + size - 1) / size;
}

HARNESS_SHIM size_t __ockl_get_global_id(unsigned dimension) {
  return __ockl_get_group_id(dimension) * __ockl_get_local_size(dimension) + __ockl_get_local_id(dimension);
}

// The strongest fence: the headers ask for several orders and scopes, and more order is never wrong.
// Under a name of its own, since later headers no longer have the types of its arguments (enums).
HARNESS_SHIM void harness_work_item_fence(unsigned, unsigned, unsigned) __asm__("__atomic_work_item_fence");
HARNESS_SHIM void harness_work_item_fence(unsigned, unsigned, unsigned) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

// A failed assert ends the kernel; without the libraries its text cannot reach the host.
HARNESS_SHIM uint64_t __ockl_fprintf_stderr_begin() { return 0; }
HARNESS_SHIM uint64_t __ockl_fprintf_append_args(uint64_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                 uint64_t, uint64_t, uint64_t, uint32_t) {
  return 0;
}
HARNESS_SHIM uint64_t __ockl_fprintf_append_string_n(uint64_t, const char*, uint64_t, uint32_t) { return 0; }

#undef HARNESS_SHIM

#endif
