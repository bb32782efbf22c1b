#include "gpu/emulated.h"

#include <stdexcept>

namespace gpu::emulated {

std::unique_ptr<Schedule> make_schedule(std::string_view name) {
  if (name == "eager") return std::make_unique<Eager>();
  if (name == "lazy") return std::make_unique<Lazy>();
  if (name == "lazy-reversed") return std::make_unique<LazyReversed>();
  if (name == "split") return std::make_unique<Split>();
  return nullptr;
}

Queues::Queues() : schedule_(std::make_unique<Eager>()) {}

void Queues::use(std::unique_ptr<Schedule> schedule) {
  drain();
  schedule_ = std::move(schedule);
}

std::size_t Queues::open() {
  streams_.emplace_back();
  return streams_.size() - 1;
}

void Queues::submit(std::size_t stream, const Task& task) { add(stream, {Kind::run, 0, task}); }

Queues::Ticket Queues::record(std::size_t stream) {
  done_.push_back(false);
  const Ticket ticket = done_.size();
  add(stream, {Kind::record, ticket, Task()});
  return ticket;
}

void Queues::wait(std::size_t stream, Ticket ticket) {
  if (ticket != 0) add(stream, {Kind::wait, ticket, Task()});
}

void Queues::drain(std::size_t stream) {
  while (!streams_[stream].empty()) step();
}

void Queues::drain() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) drain(stream);
}

void Queues::before_restore() {
  if (schedule_->before_restore()) drain();
}

void Queues::add(std::size_t stream, const Operation& operation) {
  if (schedule_->at_once() && streams_[stream].empty() && runnable(operation)) {
    perform(operation);
    return;
  }
  streams_[stream].push_back(operation);
  if (schedule_->at_once()) drain(stream);
}

bool Queues::runnable(const Operation& operation) const {
  return operation.kind != Kind::wait || done_[operation.ticket - 1];
}

void Queues::perform(const Operation& operation) {
  if (operation.kind == Kind::run) operation.task();
  if (operation.kind == Kind::record) done_[operation.ticket - 1] = true;
}

void Queues::step() {
  ready_.clear();
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    if (!streams_[stream].empty() && runnable(streams_[stream].front())) ready_.push_back(stream);
  }
  if (ready_.empty()) throw std::logic_error("emulated streams wait for each other");
  std::deque<Operation>& chosen = streams_[schedule_->choose(ready_)];
  perform(chosen.front());
  chosen.pop_front();
}

}  // namespace gpu::emulated
