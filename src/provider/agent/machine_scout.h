#pragma once

#include "base/process.h"
#include "base/result.h"
#include "provider/agent/agent_protocol.h"
#include "provider/agent/metadata_watch.h"

namespace stint {

/// Starts a process that finds out what this machine is, and then asks its metadata service for
/// notices; so that neither delays the agent. It reports lines of AgentNews, all with number 1:
/// facts first, then each notice once. It ends with its parent, and after the facts where there is
/// no service to watch.
Result<Child> start_scout(const AgentTerms& terms);

/// Notices that were not reported yet.
class NoticeFilter {
 public:
  /// Whether to report it: the first, and one whose time comes at least ten seconds earlier.
  bool is_news(const MachineNotice& notice, Seconds now);

 private:
  std::optional<Seconds> takes_at_ = {};
  bool told_ = false;
};

}  // namespace stint
