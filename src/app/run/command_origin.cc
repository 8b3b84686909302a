#include "app/run/command_origin.h"

#include "base/text.h"
#include "load/file_maker.h"
#include "load/plan_files.h"

namespace stint {

CommandOrigin command_origin(const Environment& environment, const RunRequest& request,
                             const PreparedRun& run) {
  CommandOrigin origin{.command = run.record.command};
  const bool from_plan = run.answer && !run.answer->command.empty();
  const JobProfile& job = run.inputs.job;
  if (!request.command.empty() || (!from_plan && job.command.empty())) return origin;
  if (from_plan) {
    const auto file = plan_file(environment, request.plan);
    origin.file = file.ok() ? *file : request.plan;
    origin.foreign = foreign_reason(origin.file, maker_of(*run.answer));
    return origin;
  }
  origin.file = request.job;
  if (origin.file.empty() && run.answer) origin.file = run.answer->profile.value_or(job.name);
  origin.foreign = foreign_reason(origin.file, maker_of(job));
  return origin;
}

std::string command_words(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(shell_quoted(word));
  return harmless(join(words, " "));
}

}  // namespace stint
