#include "driver/plants.h"

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "gpu/gpu.h"

namespace driver {
namespace {

// Every operand goes through a volatile, so that no compiler can see the defect and remove it.

volatile int sink = 0;

template <class Value>
Value opaque(Value value) {
  volatile Value hidden = value;
  return hidden;
}

struct Free {
  void operator()(int* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<int, Free>;

Block five_numbers() { return Block(static_cast<int*>(std::calloc(5, sizeof(int)))); }

constexpr int kHeapOutOfBounds = __LINE__ + 4;
void heap_out_of_bounds() {
  const Block block = five_numbers();
  volatile int* const numbers = block.get();
  numbers[opaque(5)] = 1;
}

constexpr int kUseAfterFree = __LINE__ + 5;
void use_after_free() {
  int* const numbers = five_numbers().release();
  volatile int* const stale = opaque(numbers);
  std::free(numbers);
  sink = stale[opaque(1)];
}

constexpr int kSignedOverflow = __LINE__ + 3;
void signed_overflow() {
  const int greatest = opaque(INT_MAX);
  sink = greatest + opaque(1);
}

constexpr int kMisalignedAccess = __LINE__ + 5;
void misaligned_access() {
  alignas(int) unsigned char bytes[2 * sizeof(int)] = {};
  const auto address = opaque(reinterpret_cast<std::uintptr_t>(bytes) + 1);
  const int* const crooked = reinterpret_cast<const int*>(address);  // clang does not check volatile ones
  sink = *crooked;
}

#if defined(HARNESS_BACKEND_CPU)
// The last thread of the block has no element: what a kernel without its bounds check does.
constexpr int kKernelOutOfBounds = __LINE__ + 2;
__global__ void unguarded(int* numbers) {
  numbers[gpu::global_index()] = 0;
}

void kernel_out_of_bounds() {
  gpu::Stream stream;
  const gpu::DeviceMemory numbers((gpu::block_threads - 1) * sizeof(int));
  gpu::launch<unguarded>(stream, gpu::block_threads - 1, static_cast<int*>(numbers.data()));
  stream.synchronize();
}
#endif

}  // namespace

const std::vector<Plant>& plants() {
  static const std::vector<Plant> all = {
      {"heap-out-of-bounds", "address", "heap-buffer-overflow", kHeapOutOfBounds, heap_out_of_bounds},
      {"use-after-free", "address", "heap-use-after-free", kUseAfterFree, use_after_free},
      {"signed-overflow", "undefined", "signed integer overflow", kSignedOverflow, signed_overflow},
      {"misaligned-access", "undefined", "misaligned address", kMisalignedAccess, misaligned_access},
#if defined(HARNESS_BACKEND_CPU)
      {"kernel-out-of-bounds", "address", "heap-buffer-overflow", kKernelOutOfBounds, kernel_out_of_bounds},
#endif
  };
  return all;
}

}  // namespace driver
