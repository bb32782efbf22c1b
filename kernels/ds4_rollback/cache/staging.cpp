#include "cache/staging.h"

#include <new>

namespace rollback {

void AlignedDelete::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t{kSpanAlignment});
}

Staging::Staging(std::size_t bytes, CopyMode requested)
    : bytes_(bytes), requested_(requested), recorded_(requested) {
  if (requested == CopyMode::pinned) use_page_locked();
  if (data_ == nullptr) use_ordinary();
  before_ = gpu::pointer_kind(data_);
}

void Staging::use_page_locked() {
  try {
    page_locked_.emplace(bytes_);
  } catch (const gpu::Error&) {
    return;  // a legal fallback; what is recorded says that it happened
  }
  const gpu::PointerAnswer first = gpu::pointer_kind(page_locked_->data());
  const gpu::PointerAnswer last = gpu::pointer_kind(page_locked_->data() + bytes_ - 1);
  if (first.kind != gpu::MemoryKind::page_locked || last.kind != gpu::MemoryKind::page_locked) {
    page_locked_.reset();
    return;
  }
  data_ = page_locked_->data();
}

void Staging::use_ordinary() {
  if (recorded_ == CopyMode::pinned) recorded_ = CopyMode::async;
  ordinary_.reset(static_cast<std::byte*>(::operator new(bytes_, std::align_val_t{kSpanAlignment})));
  data_ = ordinary_.get();
}

BufferObservation Staging::observe() const {
  return {requested_,
          recorded_,
          bytes_,
          before_,
          gpu::pointer_kind(data_),
          gpu::pointer_kind(data_ + bytes_ - 1)};
}

}  // namespace rollback
