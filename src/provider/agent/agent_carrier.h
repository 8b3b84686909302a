#pragma once

#include <string>

#include "base/result.h"
#include "provider/agent/agent.h"

namespace stint {

/// Works as the agent of a folder, which has one at a time, until the work is over. Runners reach
/// it through attach_agent.
Status serve_agent(const std::string& folder, const AgentSettings& settings);

/// Connects two descriptors with the agent of a folder until one side ends. Where the folder has no
/// agent one is started, which stays when this process and its session end; its complaints go to
/// agent.log there.
Status attach_agent(const std::string& folder, const AgentSettings& settings, int in, int out);

/// Works as an agent that has one stream and cannot be found again once that ends.
Status pipe_agent(const AgentSettings& settings, int in, int out);

}  // namespace stint
