#include "app/run/agent_work.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "agent";

Result<AgentRequest> request_of(const Invocation& invocation) {
  if (invocation.has("--attach") && invocation.has("--serve")) {
    return bad_usage("--attach and --serve exclude each other; give one of them");
  }
  AgentRequest request;
  if (invocation.has("--attach")) {
    request = {.mode = AgentMode::kAttach, .folder = invocation.get("--attach")};
  }
  if (invocation.has("--serve")) {
    request = {.mode = AgentMode::kServe, .folder = invocation.get("--serve")};
  }
  if (request.mode != AgentMode::kPipe && request.folder.empty()) {
    return bad_usage("the folder of the agent must have a name");
  }
  return request;
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const Status worked = work_as_agent(*request);
  return worked.ok() ? kExitOk : report(invocation, kVerb, worked.error());
}

}  // namespace

Verb agent_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kRun,
      .summary = "Start and watch workers on a machine for a runner.",
      .details =
          "A runner starts this verb on each machine and speaks JSON lines with it on standard "
          "input and output; there is no need to call it by hand. The agent starts workers, "
          "carries "
          "their messages and output, and watches for interruption notices. When the runner is "
          "gone "
          "for longer than the lease it gave, the agent ends the workers (SIGTERM, then SIGKILL "
          "after "
          "a grace) and runs the release command that it was given, if any. With --attach workers "
          "survive a broken connection: the agent stays, and the next call finds it again.",
      .options = {{.name = "--attach",
                   .value = "FOLDER",
                   .help = "Folder of the agent to connect to; it is started where there is none."},
                  {.name = "--serve",
                   .value = "FOLDER",
                   .help = "Folder in which to wait for --attach, in the foreground."}},
      .examples = {{"stint agent --attach ~/.cache/stint/run-7-vm1", "As it is called over SSH."},
                   {"stint agent --serve /tmp/stint-vm1", "As the body of a batch job."}},
      .run = run};
}

}  // namespace stint::cli
