#pragma once

#include <string>

#include "base/result.h"

namespace stint {

/// How the agent of a machine is found by runners.
enum class AgentMode {
  kPipe,    // On the descriptors, until its lease is over.
  kAttach,  // The descriptors are connected with the agent of the folder, started where needed.
  kServe    // In the folder, by others that attach.
};

struct AgentRequest {
  AgentMode mode = AgentMode::kPipe;
  std::string folder = {};  // Except for kPipe.
  int in = 0;
  int out = 1;
};

/// Works as an agent, or as the carrier of one, until that is over; see provider/agent_protocol.h.
Status work_as_agent(const AgentRequest& request);

}  // namespace stint
