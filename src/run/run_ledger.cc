#include "run/run_ledger.h"

#include <utility>

namespace stint {

Result<std::vector<RunAction>> RunLedger::handle(const RunEvent& event, const RunPlan& plan) {
  if (event.kind == RunEventKind::kTerms && event.count) plan_ = *event.count;
  std::vector<RunAction> actions = supervisor_.handle(event);
  const Status kept = journal_.append(event, actions);
  if (!kept.ok()) return kept.error();
  teller_.see(supervisor_, moment_of(event, actions, supervisor_, plan));
  return actions;
}

RunSnapshot RunLedger::snapshot() const {
  return {.plan = plan_, .supervisor = supervisor_.snapshot(), .told = teller_.told()};
}

Status RunLedger::shorten() {
  if (!journal_.is_long()) return {};
  const Status done = journal_.replace_by(snapshot());
  if (done.ok()) supervisor_.settle();
  return done;
}

}  // namespace stint
