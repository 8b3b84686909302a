#include "app/run/demo_run.h"

#include <algorithm>
#include <fmt/format.h>

#include "app/run/run_conduct.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "cloud/local_cluster.h"
#include "load/python_world.h"

namespace stint {
namespace {

constexpr double kSlower = 10;  // The emulated accelerator, than one core of this computer.
constexpr Seconds kAlone = 100 * kSecond;  // That one machine would train.
constexpr int kBatch = 96;
constexpr Seconds kNotice = 6 * kSecond;
constexpr double kLostAfter = 0.4;  // Of the steps, so that it happens in every demonstration.
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

/// Interrupts the last machine that trains, once, after some of the steps.
class Interrupter {
 public:
  explicit Interrupter(const Environment& environment) : environment_(environment) {}

  void see(const ReplayedRun& run, const RunMoment& moment) {
    const auto& attempt = run.supervisor->attempt();
    const double steps = kLostAfter * static_cast<double>(run.record.steps);
    const bool reached = static_cast<double>(run.supervisor->reached()) >= steps;
    if (done_ || !reached || !attempt || moment.event.kind != RunEventKind::kStepDone) return;
    done_ = true;
    const auto cluster = LocalCluster::open(cluster_root(environment_), cluster_name(run.record));
    if (cluster.ok()) (void)cluster->preempt(vm_name(attempt->vms.back()), kNotice);
  }

 private:
  const Environment& environment_;
  bool done_ = false;
};

/// What the forecast believes of spot machines: one of them is lost in a run, on average.
std::string one_loss_in(const Plan& plan) {
  int machines = 0;
  for (const VmGroup& group : plan.cluster.groups) machines += group.count;
  return fmt::format("hazard:{:.0f}s", machines * plan.time.mean.in(kSecond));
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
  if (planned->answer.plans.empty()) return failed("no machines train the example in a minute");
  // The plan's minute leaves no room for a loss, and what this shows is one.
  auto prepared = prepare_run(environment, {.plan = "1",
                                            .job = job_file,
                                            .deadline = 2 * kMinute,
                                            .expect = one_loss_in(planned->answer.plans[0]),
                                            .notice = kNotice});
  if (!prepared.ok()) return prepared.error();
  listeners.prepared(*prepared);
  Interrupter interrupter(environment);
  RunAudience audience = listeners.running;
  audience.happened = [&](const ReplayedRun& run, const RunMoment& moment) {
    if (listeners.running.happened) listeners.running.happened(run, moment);
    interrupter.see(run, moment);
  };
  const auto run = start_run(environment, std::move(*prepared), audience);
  if (!run.ok()) return run.error();
  listeners.begins("Report: predicted against measured");
  return report_run(environment, run->name);
}

}  // namespace stint
