#include "load/job_overrides.h"

#include <cmath>
#include <fmt/format.h>
#include <string>

#include "base/limits.h"
#include "base/text.h"

namespace stint {
namespace {

Error bad_goal(std::string_view text) {
  return bad_usage(
      fmt::format("'{}' is not a goal; write epochs=90, samples=1e6, or a level such as "
                  "'accuracy>=0.93' or 'loss<=0.2'",
                  printable(text)));
}

std::optional<double> positive(std::string_view text) {
  const auto number = parse_double(std::string(trim(text)));
  return number && *number > 0 ? number : std::nullopt;
}

}  // namespace

Result<Goal> parse_goal(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0) return bad_goal(text);
  const std::string_view value = text.substr(sign + 1);
  const char before = text[sign - 1];
  if (before == '<' || before == '>') {
    const std::string_view metric = trim(text.substr(0, sign - 1));
    const auto level = parse_double(std::string(trim(value)));
    if (metric.empty() || !level || std::abs(*level) > NumberLimits().max) return bad_goal(text);
    Target target{.metric = std::string(metric), .level = *level, .lower_is_better = {}};
    if (before == '<') target.lower_is_better = true;
    return Goal{.epochs = {}, .samples = {}, .target = std::move(target)};
  }
  const std::string_view name = trim(text.substr(0, sign));
  const auto amount = positive(value);
  if (!amount || (name != "epochs" && name != "samples")) return bad_goal(text);
  if (*amount < NumberLimits().min || *amount > kSamplesMax) {
    return bad_usage(
        fmt::format("'{}' is out of range: the maximum is {:g}", printable(text), kSamplesMax));
  }
  Goal goal;
  (name == "epochs" ? goal.epochs : goal.samples) = amount;
  return goal;
}

bool any_override(const JobOverrides& overrides) {
  return overrides.name || overrides.goal || overrides.samples_per_epoch;
}

Status check_overrides(const JobOverrides& overrides) {
  if (overrides.name && overrides.name->empty()) return bad_usage("the name of the job is empty");
  if (overrides.samples_per_epoch.value_or(1) < 1) {
    return bad_usage("an epoch must have 1 sample or more");
  }
  if (!overrides.goal) return {};
  const auto goal = parse_goal(*overrides.goal);
  return goal.ok() ? Status() : Status(goal.error());
}

Status apply_overrides(const JobOverrides& overrides, JobProfile& job) {
  const Status right = check_overrides(overrides);
  if (!right.ok()) return right;
  const auto epoch =
      overrides.samples_per_epoch ? overrides.samples_per_epoch : job.samples_per_epoch;
  auto goal = job.goal;
  if (overrides.goal) {
    auto parsed = parse_goal(*overrides.goal);
    if (!parsed.ok()) return parsed.error();
    goal = std::move(*parsed);
  }
  if (goal && goal->epochs && !epoch) {
    return bad_usage(
        "a goal in epochs needs the size of the data set; give it with --samples-per-epoch");
  }
  const double samples = goal && goal->epochs ? *goal->epochs * static_cast<double>(*epoch) : 0;
  if (samples > kSamplesMax) {
    return bad_usage(fmt::format("the epochs of the goal are {:.3g} samples; the maximum is {:g}",
                                 samples, kSamplesMax));
  }
  if (overrides.name) job.name = *overrides.name;
  job.samples_per_epoch = epoch;
  job.goal = std::move(goal);
  return {};
}

std::optional<double> goal_samples(const JobProfile& job) {
  if (!job.goal) return std::nullopt;
  if (job.goal->samples) return job.goal->samples;
  if (!job.goal->epochs || !job.samples_per_epoch) return std::nullopt;
  return *job.goal->epochs * static_cast<double>(*job.samples_per_epoch);
}

}  // namespace stint
