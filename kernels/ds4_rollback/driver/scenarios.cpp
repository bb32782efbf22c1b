#include "driver/scenarios.h"

namespace driver {
namespace {

using rollback::CopyMode;
using rollback::CopyRequest;

CopyRequest request(Session& session, const CopyPlan& plan) {
  return {plan.mode, plan.side_stream ? &session.side_stream() : nullptr};
}

void commit_accepted(Session& session) { session.commit(session.transaction().accepted); }

/// The mode that a switch comes from: one that queues its copies, so that some are still to be made.
CopyMode other(CopyMode mode) { return mode == CopyMode::async ? CopyMode::pinned : CopyMode::async; }

template <class Action>
void require_refused(Session& session, Action action) {
  try {
    action();
  } catch (const rollback::Refused&) {
    return;
  }
  session.require(false, "request", "refused", "granted");
}

}  // namespace

void save_write_commit(Session& session, const CopyPlan& plan) {
  session.make_tokens();
  session.save(request(session, plan));
  session.write();
  commit_accepted(session);
}

void bring_tokens_instead(Session& session, const CopyPlan& plan) {
  session.bring_tokens();
  session.save(request(session, plan));
  session.write();
  commit_accepted(session);
}

void commit_twice(Session& session, const CopyPlan& plan) {
  session.make_tokens();
  session.save(request(session, plan));
  session.write();
  session.commit(session.transaction().first);
  commit_accepted(session);
}

void apply_before_save(Session& session, const CopyPlan&) {
  session.renew_rollback();
  require_refused(session, [&] { session.rollback().apply(session.transaction().pos); });
}

void save_too_many(Session& session, const CopyPlan& plan) {
  require_refused(session, [&] { session.save(request(session, plan)); });
}

/// Two transactions at one place, the first rejected as a whole, with nobody waiting in between.
void back_to_back(Session& session, const CopyPlan& plan) {
  session.make_tokens();
  session.save(request(session, plan));
  session.write();
  session.commit(0);
  save_write_commit(session, plan);
}

void switch_mode(Session& session, const CopyPlan& plan) {
  session.make_tokens();
  session.save({other(plan.mode), nullptr});
  session.write();
  session.commit(0);
  save_write_commit(session, plan);
}

void switch_stream(Session& session, const CopyPlan& plan) {
  session.make_tokens();
  session.save(request(session, {plan.mode, !plan.side_stream}));
  session.write();
  session.commit(0);
  save_write_commit(session, plan);
}

/// Asks for page-locked memory that is not to be had: ordinary memory must do, and be recorded.
void fail_allocation(Session& session, const CopyPlan& plan) {
  session.renew_rollback();
  gpu::faults().host_allocations = 1;
  save_write_commit(session, {CopyMode::pinned, plan.side_stream});
  session.require(gpu::faults().host_allocations == 0, "fault", "taken", "not taken");
  session.require(session.recorded() == word(CopyMode::async), "recorded", "async", session.recorded());
}

}  // namespace driver
