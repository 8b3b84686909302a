#include "app/import/profile_job.h"

#include <algorithm>
#include <fmt/format.h>

#include "app/import/profile_run.h"
#include "base/text.h"
#include "converge/noise.h"
#include "load/job_overrides.h"

namespace stint {
namespace {

constexpr double kQuantile = 1.2816;  // Of a normal distribution, for 10–90 %.

/// Φ of one run's gradients; nothing where fewer than two iterations tell of it.
std::optional<ProfiledNoise> noise_of(const ProfileSummary& run) {
  NoiseEstimator estimator;
  ProfiledNoise noise;
  for (const GradientSample& sample : run.gradients) {
    std::vector<WorkerGradient> workers;
    for (const double square : sample.squares) {
      workers.push_back({.batch = static_cast<double>(sample.batch), .square = square});
    }
    noise.record.batch = sample.batch * static_cast<int>(workers.size());
    estimator.add(gradient_moments(workers, sample.mean_square));
    ++noise.samples;
  }
  if (noise.samples < 2) return std::nullopt;
  const NoiseScale scale = estimator.estimate(kQuantile);
  noise.record.gradient_square = scale.mean.square;
  noise.record.gradient_variance = scale.mean.variance;
  noise.scale = scale.scale;
  noise.lower = scale.lower;
  noise.upper = scale.upper;
  return noise;
}

/// Bad usage when the script went on with its own batch whatever it was asked.
Status check_asked(const ProfileRequest& request, const std::vector<ProfileSummary>& runs) {
  const int first = runs[0].seen_batch;
  const auto& fixed = runs[0].start.batch_fixed;
  const bool one_changed =
      runs.size() == 1 && (runs[0].own || !fixed || !request.batch_flag.empty() ||
                           first == runs[0].compute.batch_per_worker);
  const bool differ =
      std::any_of(runs.begin(), runs.end(), [&](const auto& it) { return it.seen_batch != first; });
  if (first == 0 || one_changed || differ) return {};
  return bad_usage(fmt::format(
      "the script trained with a batch of {} regardless of the request{}; call stint.batch_size() "
      "in it, or name its flag with --batch-flag",
      first, fixed ? " (" + *fixed + ")" : ""));
}

/// Runs every batch that is named. One that fails is left out if another did not.
Result<std::vector<ProfileSummary>> run_named(const ProfileRequest& request,
                                              std::vector<std::string>& warnings) {
  std::vector<std::optional<int>> batches(request.batches.begin(), request.batches.end());
  if (request.own) batches.emplace_back();
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  std::vector<ProfileSummary> runs;
  std::optional<Error> first;
  for (const std::optional<int> batch : batches) {
    auto run = run_script(request, {.batch = batch}, warnings);
    if (run.ok()) {
      runs.push_back(std::move(run->summary));
      continue;
    }
    if (run.error().kind != ErrorKind::kFailed) return run.error();
    if (!first) first = run.error();
    if (batch) warnings.push_back(fmt::format("a batch of {}: {}", *batch, run.error().message));
  }
  if (runs.empty()) return *first;
  const Status asked = check_asked(request, runs);
  if (!asked.ok()) return asked.error();
  return runs;
}

/// What to ask for beside the script's own batch: half of it and twice as much, or what there is
/// room for.
std::vector<BatchAsk> asks_around(const ProfileSummary& own) {
  if (!own.start.batch_from || !own.start.own_batch) return {};
  const int batch = *own.start.own_batch;
  const double epoch = static_cast<double>(own.start.dataset.value_or(0));
  const bool small_data = epoch > 0 && 2.0 * batch * own.passes * own.start.world > epoch;
  std::vector<double> scales = {0.5, 2};
  if (small_data) scales = {0.25, 0.5};
  if (batch < 2) scales = {2, 4};
  std::vector<BatchAsk> asks;
  for (const double scale : scales) {
    const int asked = static_cast<int>(batch * scale);
    if (asked < 1) continue;
    asks.push_back(*own.start.batch_from == "script" ? BatchAsk{.batch = asked}
                                                     : BatchAsk{.scale = scale});
  }
  return asks;
}

/// The script's own batch, and two around it where it can be asked for them. Nothing but the first
/// has to succeed.
Result<std::vector<ProfileSummary>> run_around(const ProfileRequest& request,
                                               ProfileReport& report) {
  auto own = run_script(request, {}, report.warnings);
  if (!own.ok()) return own.error();
  std::vector<ProfileSummary> runs = {std::move(own->summary)};
  // A script that hangs or dies would do so again.
  const bool ended_well = report.warnings.empty();
  const std::vector<BatchAsk> asks = ended_well ? asks_around(runs[0]) : std::vector<BatchAsk>();
  std::vector<std::string> left_out = {
      ended_well ? runs[0].start.batch_fixed.value_or("it has no batch size that can be changed")
                 : "it did not end well"};
  for (const BatchAsk& ask : asks) {
    std::vector<std::string> warnings;
    auto run = run_script(request, ask, warnings);
    if (!run.ok() && run.error().kind != ErrorKind::kFailed) return run.error();
    const bool changed = run.ok() && run->summary.seen_batch != 0 &&
                         std::none_of(runs.begin(), runs.end(), [&](const ProfileSummary& it) {
                           return it.seen_batch == run->summary.seen_batch;
                         });
    if (!changed) {
      left_out.push_back(run.ok() ? "asked for another batch, it trained with its own"
                                  : "asked for another batch, " + run.error().message);
      continue;
    }
    run->summary.compute.batch_per_worker = run->summary.seen_batch;
    report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
    runs.push_back(std::move(run->summary));
  }
  if (runs.size() == 1) {
    report.one_batch = left_out.back();
  } else if (left_out.size() > 1) {
    report.warnings.push_back("one batch is left out: " + left_out.back());
  }
  return runs;
}

}  // namespace

Result<ProfileReport> profile_job(const ProfileRequest& request) {
  for (const Status& possible :
       {check_overrides(request.overrides), check_training_command(request.command)}) {
    if (!possible.ok()) return possible.error();
  }
  ProfileReport report;
  const bool named = request.own || !request.batches.empty();
  auto runs = named ? run_named(request, report.warnings) : run_around(request, report);
  if (!runs.ok()) return runs.error();
  report.runs = std::move(*runs);
  std::sort(report.runs.begin(), report.runs.end(),
            [](const ProfileSummary& a, const ProfileSummary& b) {
              return a.compute.batch_per_worker < b.compute.batch_per_worker;
            });
  report.job = profile_of(profiled_name(request), report.runs);
  if (request.keep_command) report.job.command = request.command;
  if (!request.device.empty()) {
    for (ComputeSample& sample : report.job.compute) sample.device = request.device;
  }
  for (const ProfileSummary& run : report.runs) {
    auto noise = noise_of(run);
    if (!noise) continue;
    // A profile's noise is a fact only where both figures are; a lower bound is told, not kept.
    if (noise->scale) report.job.noise.push_back(noise->record);
    report.noise.push_back(std::move(*noise));
  }
  const std::string& communication = report.runs.back().start.communication;
  if (communication != "timed") report.communication = communication;
  set_goal(request, report.job, report.warnings);
  const Status kept = keep_profile(request, report.job);
  if (!kept.ok()) return kept.error();
  return report;
}

}  // namespace stint
