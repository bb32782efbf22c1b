// The host memory that holds saved rows, and what is known about it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "cache/spans.h"

namespace rollback {

/// How a save moves its bytes.
enum class CopyMode { sync, async, pinned };

inline const char* word(CopyMode mode) {
  switch (mode) {
    case CopyMode::sync: return "sync";
    case CopyMode::async: return "async";
    case CopyMode::pinned: break;
  }
  return "pinned";
}

/// What the runtime said about one staging buffer, next to what was asked for and what was used.
struct BufferObservation {
  CopyMode requested;
  CopyMode recorded;
  std::size_t bytes;
  gpu::PointerAnswer before;  ///< first byte, before the first copy
  gpu::PointerAnswer first;   ///< first byte, after the last copy
  gpu::PointerAnswer last;    ///< last byte, after the last copy
};

struct AlignedDelete {
  void operator()(std::byte* memory) const;
};

/// One allocation for one copy mode; it stays where it is as long as it lives.
class Staging {
 public:
  /// Page-locked memory for `pinned`, where there is any that the runtime itself calls so;
  /// else ordinary memory, which is recorded as `async`.
  Staging(std::size_t bytes, CopyMode requested);

  std::byte* data() const { return data_; }
  CopyMode requested() const { return requested_; }
  CopyMode recorded() const { return recorded_; }

  /// Asks the runtime once more; meant for after the last copy.
  BufferObservation observe() const;

 private:
  void use_page_locked();
  void use_ordinary();

  std::size_t bytes_;
  CopyMode requested_;
  CopyMode recorded_;
  std::optional<gpu::HostMemory> page_locked_;
  std::unique_ptr<std::byte, AlignedDelete> ordinary_;
  std::byte* data_ = nullptr;
  gpu::PointerAnswer before_;
};

}  // namespace rollback
