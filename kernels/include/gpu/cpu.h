// The CPU backend: kernels are plain functions, the device is this process, streams are imitated.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "gpu/emulated.h"
#include "gpu/types.h"

#define __global__
#define __device__
#define __host__

namespace gpu {

inline constexpr const char* backend_name = "cpu";
inline constexpr bool has_page_locked_memory = false;
inline constexpr std::uint32_t block_threads = 64;

emulated::Queues& queues();

/// Chooses the order in which queued work runs from here on; throws std::invalid_argument.
void use_schedule(std::string_view name);

inline void before_restore() { queues().before_restore(); }

class Event;

class Stream {
 public:
  Stream() : number_(queues().open()) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { queues().drain(number_); }

  void synchronize() { queues().drain(number_); }
  void wait(const Event& event);

  template <class Function>
  void submit(Function function) {
    queues().submit(number_, emulated::Task(function));
  }

 private:
  friend class Event;
  std::size_t number_;
};

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(Stream& stream) { ticket_ = queues().record(stream.number_); }

 private:
  friend class Stream;
  emulated::Queues::Ticket ticket_ = 0;
};

inline void Stream::wait(const Event& event) { queues().wait(number_, event.ticket_); }

inline void synchronize_device() { queues().drain(); }

/// Memory of the device, which is the heap here, so that the sanitizers watch its bounds.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : data_(std::malloc(bytes)) {
    if (data_ == nullptr) throw Error("malloc", ENOMEM, "ENOMEM");
  }
  DeviceMemory(DeviceMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() { std::free(data_); }

  void* data() const noexcept { return data_; }

 private:
  void* data_;
};

/// Page-locked memory: a CPU has none to offer, so that asking for it always fails.
class HostMemory {
 public:
  explicit HostMemory(std::size_t) {
    take_host_allocation_fault();
    throw Error("allocate page-locked memory", ENOTSUP, "ENOTSUP");
  }
  std::byte* data() const noexcept { return nullptr; }
};

/// Queues a copy; nothing is read or written before the stream gets there.
inline void copy_async(void* to, const void* from, std::size_t bytes, Direction, Stream& stream) {
  stream.submit([=] { std::memcpy(to, from, bytes); });
}

/// Copies after all that the stream holds; done at return.
inline void copy(void* to, const void* from, std::size_t bytes, Direction, Stream& stream) {
  stream.synchronize();
  std::memcpy(to, from, bytes);
}

namespace cpu {
inline thread_local std::uint32_t global_index = 0;
}

inline std::uint32_t global_index() noexcept { return cpu::global_index; }

/// Queues a kernel over at least `items` threads; whole blocks run, as on a device.
template <auto Kernel, class... Arguments>
void launch(Stream& stream, std::uint32_t items, Arguments... arguments) {
  const std::uint32_t threads = (items + block_threads - 1) / block_threads * block_threads;
  stream.submit([=] {
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      cpu::global_index = thread;
      Kernel(arguments...);
    }
  });
}

/// There is no runtime to ask about an address.
inline PointerAnswer pointer_kind(const void*) { return {MemoryKind::not_asked, 0, ""}; }

/// The processor, as the only device.
DeviceList list_devices();

inline void use_device(int) noexcept {}

}  // namespace gpu
