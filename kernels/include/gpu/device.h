// CUDA and HIP: the same runtime under two prefixes, so one source says it once.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "gpu/types.h"

#if defined(HARNESS_BACKEND_CUDA)
#include <cuda_runtime.h>
#define GPU_API(name) cuda##name
#define GPU_ALLOC_HOST cudaHostAlloc
#define GPU_FREE_HOST cudaFreeHost
#else
#if !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime.h>
#include <hip/hip_version.h>
#define GPU_API(name) hip##name
#define GPU_ALLOC_HOST hipHostMalloc
#define GPU_FREE_HOST hipHostFree
#endif

namespace gpu {

#if defined(HARNESS_BACKEND_CUDA)
inline constexpr const char* backend_name = "cuda";
#else
inline constexpr const char* backend_name = "hip";
#endif
inline constexpr bool has_page_locked_memory = true;
inline constexpr std::uint32_t block_threads = 64;

using Status = GPU_API(Error_t);

inline const char* status_name(Status status) {
  const char* name = GPU_API(GetErrorName)(status);
  return name != nullptr ? name : "unnamed status";
}

/// Throws Error unless the call succeeded; also takes the error out of the runtime's memory.
inline void check(Status status, const char* call) {
  if (status == GPU_API(Success)) return;
  static_cast<void>(GPU_API(GetLastError)());
  throw Error(call, static_cast<int>(status), status_name(status));
}

/// For destructors: a failure there is one that an earlier call has already reported.
inline void ignore(Status) noexcept {}

/// Real devices run work when they can; schedules are for imitated streams.
inline void use_schedule(std::string_view) noexcept {}
inline void before_restore() noexcept {}

class Event {
 public:
  Event() { check(GPU_API(EventCreateWithFlags)(&event_, GPU_API(EventDisableTiming)), "create event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { ignore(GPU_API(EventDestroy)(event_)); }

  GPU_API(Event_t) native() const noexcept { return event_; }
  inline void record(class Stream& stream);

 private:
  GPU_API(Event_t) event_ = nullptr;
};

class Stream {
 public:
  Stream() { check(GPU_API(StreamCreateWithFlags)(&stream_, GPU_API(StreamNonBlocking)), "create stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ignore(GPU_API(StreamDestroy)(stream_)); }

  GPU_API(Stream_t) native() const noexcept { return stream_; }
  void synchronize() { check(GPU_API(StreamSynchronize)(stream_), "synchronize stream"); }
  void wait(const Event& event) {
    check(GPU_API(StreamWaitEvent)(stream_, event.native(), 0), "wait for event");
  }

 private:
  GPU_API(Stream_t) stream_ = nullptr;
};

inline void Event::record(Stream& stream) {
  check(GPU_API(EventRecord)(event_, stream.native()), "record event");
}

inline void synchronize_device() { check(GPU_API(DeviceSynchronize)(), "synchronize device"); }

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    check(GPU_API(Malloc)(&data_, bytes), "allocate device memory");
  }
  DeviceMemory(DeviceMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() {
    if (data_ != nullptr) ignore(GPU_API(Free)(data_));
  }

  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
};

/// Page-locked host memory; throws Error where there is none to be had.
class HostMemory {
 public:
  explicit HostMemory(std::size_t bytes) {
    if (take_host_allocation_fault()) {
      const Status failed = GPU_API(ErrorMemoryAllocation);
      throw Error("allocate page-locked memory (injected)", static_cast<int>(failed), status_name(failed));
    }
    check(GPU_ALLOC_HOST(&data_, bytes, 0), "allocate page-locked memory");
  }
  HostMemory(HostMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory() {
    if (data_ != nullptr) ignore(GPU_FREE_HOST(data_));
  }

  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

/// Queues a copy; with ordinary host memory the runtime may finish it earlier.
inline void copy_async(void* to, const void* from, std::size_t bytes, Direction direction, Stream& stream) {
  const auto kind =
      direction == Direction::to_device ? GPU_API(MemcpyHostToDevice) : GPU_API(MemcpyDeviceToHost);
  check(GPU_API(MemcpyAsync)(to, from, bytes, kind, stream.native()), "copy");
}

/// Copies after all that the stream holds; done at return.  A plain blocking copy *to* a device may
/// return while the last transfer is still under way, and is ordered with another stream than ours.
inline void copy(void* to, const void* from, std::size_t bytes, Direction direction, Stream& stream) {
  copy_async(to, from, bytes, direction, stream);
  stream.synchronize();
}

__device__ inline std::uint32_t global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Queues a kernel over at least `items` threads, in whole blocks.
template <auto Kernel, class... Arguments>
void launch(Stream& stream, std::uint32_t items, Arguments... arguments) {
  if (items == 0) return;
  const dim3 blocks((items + block_threads - 1) / block_threads);
  Kernel<<<blocks, dim3(block_threads), 0, stream.native()>>>(arguments...);
  check(GPU_API(GetLastError)(), "launch");
}

/// What the runtime says of one address.  Releases of HIP before 6 call an address that they do not
/// know an invalid value; before 6 the field had another name and managed memory was a flag.
inline PointerAnswer pointer_kind(const void* address) {
#if defined(HARNESS_BACKEND_CUDA)
  cudaPointerAttributes attributes{};
#else
  hipPointerAttribute_t attributes{};
#endif
  const Status status = GPU_API(PointerGetAttributes)(&attributes, address);
  PointerAnswer answer{MemoryKind::unknown, static_cast<int>(status), status_name(status)};
  if (status != GPU_API(Success)) {
    static_cast<void>(GPU_API(GetLastError)());
    if (status == GPU_API(ErrorInvalidValue)) answer.kind = MemoryKind::unregistered;
    return answer;
  }
#if defined(HARNESS_BACKEND_HIP) && HIP_VERSION_MAJOR < 6
  if (attributes.isManaged != 0) {
    answer.kind = MemoryKind::managed;
  } else if (attributes.memoryType == hipMemoryTypeHost) {
    answer.kind = MemoryKind::page_locked;
  } else if (attributes.memoryType == hipMemoryTypeDevice) {
    answer.kind = MemoryKind::device;
  }
#else
  if (attributes.type == GPU_API(MemoryTypeUnregistered)) answer.kind = MemoryKind::unregistered;
  if (attributes.type == GPU_API(MemoryTypeHost)) answer.kind = MemoryKind::page_locked;
  if (attributes.type == GPU_API(MemoryTypeDevice)) answer.kind = MemoryKind::device;
  if (attributes.type == GPU_API(MemoryTypeManaged)) answer.kind = MemoryKind::managed;
#endif
  return answer;
}

/// A version as people write it, of the one number that the runtime gives.
inline std::string version_text(int version) {
#if defined(HARNESS_BACKEND_CUDA)
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
#else
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100) + "." +
         std::to_string(version % 100000);
#endif
}

/// Sixteen bytes as `GPU-8-4-4-4-12` hexadecimal digits.
inline std::string uuid_text(const char* bytes) {
  std::string text = "GPU-";
  for (int at = 0; at < 16; ++at) {
    char digits[3];
    const auto byte = static_cast<unsigned char>(bytes[at]);
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(byte));
    text += digits;
    if (at == 3 || at == 5 || at == 7 || at == 9) text += '-';
  }
  return text;
}

inline DeviceInfo describe_device(int index) {
#if defined(HARNESS_BACKEND_CUDA)
  cudaDeviceProp properties{};
#else
  hipDeviceProp_t properties{};
#endif
  check(GPU_API(GetDeviceProperties)(&properties, index), "device properties");
  DeviceInfo device;
  device.index = index;
  device.name = properties.name;
  device.memory_bytes = properties.totalGlobalMem;
#if defined(HARNESS_BACKEND_CUDA)
  device.arch = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  device.uuid = uuid_text(properties.uuid.bytes);
#else
  const std::string_view full = properties.gcnArchName;
  device.arch = std::string(full.substr(0, full.find(':')));
  hipDevice_t handle{};
  hipUUID uuid{};
  if (hipDeviceGet(&handle, index) == hipSuccess && hipDeviceGetUuid(&uuid, handle) == hipSuccess) {
    device.uuid = uuid_text(uuid.bytes);
  }
#endif
  char pci[32] = "";
  if (GPU_API(DeviceGetPCIBusId)(pci, sizeof pci, index) == GPU_API(Success)) device.pci = pci;
  for (char& letter : device.pci) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return device;
}

/// Asks the runtime; a machine without a driver or a device is an answer, not an error.
inline DeviceList list_devices() {
  DeviceList list;
  int version = 0;
  if (GPU_API(DriverGetVersion)(&version) == GPU_API(Success) && version > 0) {
    list.driver_version = version_text(version);
  }
  version = 0;
  if (GPU_API(RuntimeGetVersion)(&version) == GPU_API(Success) && version > 0) {
    list.runtime_version = version_text(version);
  }
  int count = 0;
  const Status status = GPU_API(GetDeviceCount)(&count);
  list.status = static_cast<int>(status);
  list.status_name = status_name(status);
  if (status != GPU_API(Success)) {
    static_cast<void>(GPU_API(GetLastError)());
    return list;
  }
  for (int index = 0; index < count; ++index) list.devices.push_back(describe_device(index));
  return list;
}

inline void use_device(int index) { check(GPU_API(SetDevice)(index), "choose device"); }

}  // namespace gpu
