// Checks of the portability layer that need no kernel suite: prints each that fails.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "gpu/gpu.h"

namespace {

int failures = 0;

void expect(bool holds, const char* statement) {
  if (holds) return;
  ++failures;
  std::printf("does not hold: %s\n", statement);
}

std::string* trace = nullptr;

void note(gpu::Stream& stream, char letter) {
  stream.submit([letter] { trace->push_back(letter); });
}

/// Queues a b on the first stream and x y on the second, where y waits for a.
std::string order_under(const char* schedule) {
  std::string order;
  trace = &order;
  gpu::use_schedule(schedule);
  gpu::Stream first;
  gpu::Stream second;
  gpu::Event after_a;
  note(second, 'x');
  note(first, 'a');
  after_a.record(first);
  note(first, 'b');
  second.wait(after_a);
  note(second, 'y');
  order += '|';
  gpu::before_restore();
  order += '|';
  gpu::synchronize_device();
  return order;
}

void streams() {
  expect(order_under("eager") == "xaby||", "eager runs work as it is queued");
  expect(order_under("lazy") == "||abxy", "lazy waits, then runs the first stream first");
  expect(order_under("lazy-reversed") == "||xayb", "lazy-reversed prefers the second, but events hold");
  expect(order_under("split") == "|abxy|", "split runs everything at a restore");
  expect(gpu::emulated::make_schedule("fast") == nullptr, "there is no other schedule");

  std::string order;
  trace = &order;
  gpu::use_schedule("lazy");
  gpu::Stream first;
  gpu::Stream second;
  note(first, 'a');
  note(second, 'x');
  first.synchronize();
  expect(order == "a", "waiting for one stream leaves the other alone");
  gpu::Event never;
  first.wait(never);
  first.synchronize();
  expect(order == "a", "an event that was never recorded holds nobody up");
  int from = 1;
  int to = 0;
  gpu::copy_async(&to, &from, sizeof to, gpu::Direction::to_host, second);
  from = 2;
  expect(to == 0, "a queued copy has not happened");
  second.synchronize();
  expect(to == 2, "a queued copy of ordinary memory reads late");
  gpu::use_schedule("eager");
}

__global__ void count_threads(std::uint32_t* counts, std::uint32_t capacity) {
  const std::uint32_t index = gpu::global_index();
  if (index < capacity) ++counts[index];
}

void launches() {
  std::uint32_t counts[3 * gpu::block_threads] = {};
  gpu::Stream stream;
  gpu::launch<count_threads>(stream, gpu::block_threads + 1, counts, 3 * gpu::block_threads);
  bool whole_blocks = true;
  for (std::uint32_t at = 0; at < 3 * gpu::block_threads; ++at) {
    whole_blocks = whole_blocks && counts[at] == (at < 2 * gpu::block_threads ? 1U : 0U);
  }
  expect(whole_blocks, "whole blocks run, each thread once");
}

void maths() {
  double worst = 0;
  for (std::uint32_t bits = 0x80000000U; bits <= 0xc2ae0000U; bits += 977) {
    const float x = gpu::float_of(bits);
    const double exact = std::exp(double{x});
    worst = std::max(worst, std::abs(gpu::exp_nonpositive(x) - exact) / exact);
  }
  expect(worst < 0x1p-22, "exp_nonpositive is as accurate as it says");
  expect(worst > 0, "its error was measured");
  expect(gpu::exp_nonpositive(0.0F) == 1.0F, "exp(0) is 1");
  expect(gpu::exp_nonpositive(-1000.0F) == 0.0F, "far below it is 0");
  bool exact = true;
  for (std::uint32_t half = 0; half < 0x10000U; ++half) {
    const int exponent = static_cast<int>(half >> 10 & 31U);
    const int mantissa = static_cast<int>(half & 0x3ffU);
    if (exponent == 31) continue;
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    const double value = (half & 0x8000U) != 0 ? -magnitude : magnitude;
    exact = exact && double{gpu::half_to_float(static_cast<std::uint16_t>(half))} == value;
  }
  expect(exact, "half_to_float is exact for every finite half");
}

void answers() {
  int here = 0;
  expect(gpu::pointer_kind(&here).kind == gpu::MemoryKind::not_asked, "a CPU has nobody to ask");
  gpu::faults().host_allocations = 1;
  try {
    const gpu::HostMemory memory(64);
    expect(false, "a CPU has no page-locked memory");
  } catch (const gpu::Error& error) {
    expect(error.status() != 0 && error.status_name() == "ENOTSUP", "an error carries status and name");
  }
  expect(gpu::faults().host_allocations == 0, "an injected fault is used up");
}

}  // namespace

int main() {
  streams();
  launches();
  maths();
  answers();
  return failures == 0 ? 0 : 1;
}
