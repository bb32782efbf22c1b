// Streams imitated on the CPU: queued work is kept and run later, in an order that a schedule chooses.
//
// A real device runs a tiny copy at once and so hides a missing wait.  Here nothing that was
// queued need have happened before somebody waits for it, ordinary memory included.  This file
// knows nothing about copies or kernels: it orders tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpu::emulated {

/// A callable that is kept without an allocation of its own: queues are filled millions of times.
class Task {
 public:
  Task() = default;

  template <class Function>
  explicit Task(Function function) : run_(&call<Function>) {
    static_assert(std::is_trivially_copyable_v<Function> && std::is_trivially_destructible_v<Function>,
                  "a task must not own anything");
    static_assert(sizeof(Function) <= kCapacity && alignof(Function) <= alignof(std::max_align_t),
                  "a task's captures must fit; pass a pointer to something larger");
    ::new (static_cast<void*>(storage_)) Function(function);
  }

  void operator()() const { run_(storage_); }

 private:
  static constexpr std::size_t kCapacity = 320;

  template <class Function>
  static void call(const std::byte* storage) {
    (*std::launder(reinterpret_cast<const Function*>(storage)))();
  }

  void (*run_)(const std::byte*) = nullptr;
  alignas(std::max_align_t) std::byte storage_[kCapacity];
};

/// When queued work runs, and which stream comes first where several could go on.
class Schedule {
 public:
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  /// True if work runs as soon as it is queued.
  virtual bool at_once() const { return false; }
  /// True if everything queued so far runs when the program says that a restore is next.
  virtual bool before_restore() const { return false; }
  /// An element of `ready`: stream numbers in the order of creation, never empty.
  virtual std::size_t choose(const std::vector<std::size_t>& ready) { return ready.front(); }
};

/// Everything runs when it is queued.
class Eager final : public Schedule {
 public:
  bool at_once() const override { return true; }
};

/// Nothing runs before somebody waits; then the oldest stream first.
class Lazy final : public Schedule {};

/// Nothing runs before somebody waits; then the youngest stream first.
class LazyReversed final : public Schedule {
 public:
  std::size_t choose(const std::vector<std::size_t>& ready) override { return ready.back(); }
};

/// All before a restore is done when the restore is queued; the restore waits to the end.
class Split final : public Schedule {
 public:
  bool before_restore() const override { return true; }
};

/// The schedule of a name, or nullptr.
std::unique_ptr<Schedule> make_schedule(std::string_view name);

/// The streams of one imitated device.
class Queues {
 public:
  using Ticket = std::uint64_t;  ///< one recording of an event; 0 is an event never recorded

  Queues();

  /// Replaces the schedule; whatever is pending runs first.
  void use(std::unique_ptr<Schedule> schedule);

  /// A new stream's number.
  std::size_t open();

  void submit(std::size_t stream, const Task& task);
  Ticket record(std::size_t stream);
  void wait(std::size_t stream, Ticket ticket);

  /// Runs until this stream has nothing left.  Throws std::logic_error if it waits for itself.
  void drain(std::size_t stream);
  /// Runs until no stream has anything left.
  void drain();
  /// The program says that a restore is next.
  void before_restore();

 private:
  enum class Kind { run, record, wait };

  struct Operation {
    Kind kind;
    Ticket ticket;
    Task task;
  };

  void add(std::size_t stream, const Operation& operation);
  bool runnable(const Operation& operation) const;
  void perform(const Operation& operation);
  void step();

  std::unique_ptr<Schedule> schedule_;
  std::vector<std::deque<Operation>> streams_;
  std::vector<bool> done_;
  std::vector<std::size_t> ready_;
};

}  // namespace gpu::emulated
