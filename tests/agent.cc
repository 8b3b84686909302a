// An agent for tests of what speaks with one, without the rest of Stint: "agent" works as one on
// standard input and output, and everything else fails, as a receiver that cannot start.
#include <string_view>

#include "provider/agent/agent_carrier.h"
#include "run/worker_environment.h"

int main(int count, char** words) {
  if (count != 2 || std::string_view(words[1]) != "agent") return 1;
  const stint::AgentSettings settings{
      .version = "test",
      .processes = {.program = "/proc/self/exe", .inherits = stint::is_machine_variable}};
  return stint::pipe_agent(settings, 0, 1).ok() ? 0 : 1;
}
