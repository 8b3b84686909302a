#include "load/plan_files.h"

#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "load/job_overrides.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

constexpr const char* kMakeOne = "create one with 'stint plan --job FILE'";

Result<std::string> last_plan_file(const Environment& environment) {
  if (environment.state_folder) return *environment.state_folder + "/last-plan.json";
  return failed("there is no folder for the last plan: set HOME or XDG_STATE_HOME");
}

/// The file that holds the answer.
Result<std::string> file_of(const Environment& environment, const std::string& which, bool is_row) {
  if (!is_row) return which;
  const auto path = last_plan_file(environment);
  if (!path.ok()) return path.error();
  std::error_code ignored;
  if (std::filesystem::exists(*path, ignored)) return *path;
  return bad_input(fmt::format("there is no plan yet; {}", kMakeOne));
}

}  // namespace

Status keep_plan(const Environment& environment, const PlanAnswer& answer) {
  const auto path = last_plan_file(environment);
  if (!path.ok()) return path.error();
  return write_file(*path, write_plan(answer));
}

namespace {

/// The job as it was planned, with what the flags of the plan said of it.
Result<Loaded<JobProfile>> with_overrides(const PlanAnswer& answer,
                                          Result<Loaded<JobProfile>> job) {
  if (!job.ok() || !answer.job_overrides) return job;
  const Status set = apply_overrides(*answer.job_overrides, job->noun);
  if (!set.ok()) return set.error();
  return job;
}

}  // namespace

Result<Loaded<JobProfile>> load_planned_job(const PlanAnswer& answer) {
  constexpr const char* kGive = "give its path with --job FILE";
  const std::string named =
      answer.job ? "the job " + printable(*answer.job) : "a job without a name";
  if (!answer.profile) {
    auto shipped = load_job(answer.job.value_or(""));
    if (answer.job && shipped.ok()) return with_overrides(answer, std::move(shipped));
    return bad_usage(fmt::format(
        "the plan is for {}, whose profile is not shipped; give it with --job FILE", named));
  }
  auto profile = with_overrides(answer, load_job(*answer.profile));
  const std::string path = without_controls(*answer.profile);
  std::error_code ignored;
  if (!profile.ok() && !std::filesystem::exists(*answer.profile, ignored)) {
    return bad_usage(fmt::format("the profile of {} has moved: {} is not there any more; {}", named,
                                 path, kGive));
  }
  if (!profile.ok()) return profile.error();
  if (answer.job && profile->noun.name != *answer.job) {
    return bad_usage(fmt::format("the plan is for {}, but {} is now the profile of {}; {}", named,
                                 path, printable(profile->noun.name), kGive));
  }
  return profile;
}

Result<std::string> keep_job(const Environment& environment, const JobProfile& job) {
  if (!environment.state_folder) {
    return failed("there is no folder for the last plan: set HOME or XDG_STATE_HOME");
  }
  std::string path = *environment.state_folder + "/last-job.json";
  const Status kept = write_file(path, write_job(job));
  if (!kept.ok()) return kept.error();
  return path;
}

Result<std::string> plan_file(const Environment& environment, const std::string& which) {
  return file_of(environment, which, parse_int(which).has_value());
}

Result<PickedPlan> load_plan(const Environment& environment, const std::string& which) {
  const std::optional<int> row = parse_int(which);
  const auto path = file_of(environment, which, row.has_value());
  if (!path.ok()) return path.error();
  const auto text = read_file(*path);
  if (!text.ok()) return text.error();
  auto loaded = read_plan(*text, *path);
  if (!loaded.ok()) return loaded.error();
  const auto& answer = loaded->noun;
  if (answer.plans.empty()) {
    const std::string why = answer.nearest ? answer.nearest->binding + " " : "";
    return Error{ErrorKind::kInfeasible,
                 fmt::format("{} has no plan. {}Relax a constraint and plan again.",
                             row ? "the last answer" : printable(which), why)};
  }
  const int wanted = row.value_or(1);
  if (wanted < 1 || static_cast<std::size_t>(wanted) > answer.plans.size()) {
    return bad_usage(fmt::format("--plan {}: the last answer has {}, counted from 1", wanted,
                                 counted(answer.plans.size(), "plan")));
  }
  return PickedPlan{.answer = std::move(loaded->noun),
                    .row = static_cast<std::size_t>(wanted) - 1,
                    .warnings = std::move(loaded->warnings)};
}

}  // namespace stint
