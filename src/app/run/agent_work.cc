#include "app/run/agent_work.h"

#include "app/version.h"
#include "provider/agent/agent_carrier.h"
#include "run/worker_environment.h"

namespace stint {

Status work_as_agent(const AgentRequest& request) {
  // The file may be replaced while the agent works; this name stays with the present one.
  const AgentSettings settings{
      .version = version().number,
      .processes = {.program = "/proc/self/exe", .inherits = is_machine_variable}};
  switch (request.mode) {
    case AgentMode::kAttach:
      return attach_agent(request.folder, settings, request.in, request.out);
    case AgentMode::kServe:
      return serve_agent(request.folder, settings);
    case AgentMode::kPipe:
      break;
  }
  return pipe_agent(settings, request.in, request.out);
}

}  // namespace stint
