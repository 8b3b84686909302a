#include "app/run/demo_run.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "load/python_world.h"

namespace stint {
namespace {

constexpr double kSlower = 10;  // The emulated accelerator, than one core of this computer.
constexpr Seconds kAlone = 100 * kSecond;  // That one machine would train.
constexpr int kBatch = 96;
constexpr Seconds kNotice = 6 * kSecond;
constexpr Seconds kTakenAt = 20 * kSecond;
constexpr Seconds kBackAt = 35 * kSecond;
constexpr int kMachinesMax = 4;

/// So many steps that one machine alone needs too long for the deadline.
int steps_of(const JobProfile& job) {
  const ComputeSample& largest = job.compute.back();
  const Seconds step = largest.forward.median + largest.backward.median + largest.update.median;
  return std::clamp(static_cast<int>(kAlone / step), 60, 600);
}

Result<JobProfile> profile(const std::string& python) {
  auto found = profile_job({.command = {python, "-m", "stint.demo", "--steps", "40"},
                            .steps = 12,
                            .warmup = 3,
                            .batches = {32, 96},
                            .name = "demo",
                            .device = "Local-1x",
                            .silent = true});
  if (!found.ok()) return found.error();
  JobProfile job = std::move(found->job);
  // Four workers share two cores here, so that the machines are given the pace of a slower device.
  for (ComputeSample& sample : job.compute) {
    for (Timing* timing : {&sample.forward, &sample.backward, &sample.update}) {
      timing->median = kSlower * timing->median;
      if (timing->spread) timing->spread = kSlower * *timing->spread;
    }
  }
  job.batch = BatchRange{.reference = kBatch, .min = kBatch, .max = kBatch};
  const int steps = steps_of(job);
  job.goal = Goal{.samples = static_cast<double>(steps) * kBatch};
  job.learning_rate_rule = LearningRateRule::kFixed;
  job.command = {python, "-m", "stint.demo", "--steps", fmt::format("{}", steps)};
  return job;
}

}  // namespace

Result<RunReport> demonstrate_run(const Environment& environment, const std::string& python,
                                  const DemoListeners& listeners) {
  const Status torch = check_torch(python);
  if (!torch.ok()) return torch.error();
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  listeners.begins("Profile: measure the training on this computer");
  const auto job = profile(python);
  if (!job.ok()) return job.error();
  listeners.profiled(*job);
  const std::string job_file = folder->path() + "/demo.json";
  Status written = write_file(job_file, write_job(*job));
  if (!written.ok()) return written.error();

  listeners.begins("Plan: the cheapest machines, within a minute");
  const auto planned = plan_job(environment, {.job = job_file,
                                              .constraints = {.deadline = kMinute,
                                                              .confidence = 0.8,
                                                              .markets = {Market::kSpot},
                                                              .providers = {"local"},
                                                              .vms_max = kMachinesMax},
                                              .rows = 3});
  if (!planned.ok()) return planned.error();
  listeners.planned(*planned);

  listeners.begins("Run: rent the machines, train, and lose one");
  int machines = 0;
  if (!planned->answer.plans.empty()) {
    for (const VmGroup& group : planned->answer.plans[0].cluster.groups) machines += group.count;
  }
  const std::string trace = folder->path() + "/market.csv";
  written = write_file(
      trace, fmt::format("time_s,running_instances\n0,{0}\n{1:.0f},{2}\n{3:.0f},"
                         "{0}\n3600,{0}\n",
                         machines, kTakenAt.in(kSecond), machines - 1, kBackAt.in(kSecond)));
  if (!written.ok()) return written.error();
  // The plan's minute leaves no room for a loss, and what this shows is one.
  auto prepared = prepare_run(environment, {.plan = "1",
                                            .job = job_file,
                                            .deadline = 2 * kMinute,
                                            .life = "trace:" + trace,
                                            .expect = "spells:60s/15s",
                                            .notice = kNotice});
  if (!prepared.ok()) return prepared.error();
  listeners.prepared(*prepared);
  const auto run = start_run(environment, std::move(*prepared), listeners.running);
  if (!run.ok()) return run.error();
  listeners.begins("Report: predicted against measured");
  return report_run(environment, run->name);
}

}  // namespace stint
