// What a transaction of each kind of case does between start and finish.
#pragma once

#include "driver/session.h"

namespace driver {

/// How a case copies.
struct CopyPlan {
  rollback::CopyMode mode = rollback::CopyMode::sync;
  bool side_stream = false;
};

using Scenario = void (*)(Session&, const CopyPlan&);

void save_write_commit(Session& session, const CopyPlan& plan);
void bring_tokens_instead(Session& session, const CopyPlan& plan);
void commit_twice(Session& session, const CopyPlan& plan);
void apply_before_save(Session& session, const CopyPlan& plan);
void save_too_many(Session& session, const CopyPlan& plan);
void back_to_back(Session& session, const CopyPlan& plan);
void switch_mode(Session& session, const CopyPlan& plan);
void switch_stream(Session& session, const CopyPlan& plan);
void fail_allocation(Session& session, const CopyPlan& plan);

}  // namespace driver
