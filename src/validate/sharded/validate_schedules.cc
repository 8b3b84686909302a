#include "validate/sharded/validate_schedules.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "app/calibrate/bucket_runs.h"
#include "calibrate/score.h"
#include "measure/layout_step.h"
#include "simulate/layout_schedule.h"

namespace stint {
namespace {

constexpr const char* kSum = "no overlap";
constexpr Bytes kNumber = 4 * kByte;

/// Numbers of a layer of one worker, as python/stint/paced_layout.py has them: attention with
/// 4 w² weights and 3 w biases, the feed-forward part with 8 w² and 4 w, and 6 w of norms and
/// biases that tensor parallelism does not divide.
double layer_numbers(const PacedModel& model, double tensor) {
  const double width = model.width;
  return (12 * width * width + 7 * width) / tensor + 6 * width;
}

double embedding_numbers(const PacedModel& model) {
  return (static_cast<double>(model.letters) + model.length) * model.width;
}

double head_numbers(const PacedModel& model) {
  return (static_cast<double>(model.letters) + 2) * model.width;
}

/// The paced update of a worker takes as much of the time of the whole model as it updates of it.
double update_share(const LayoutStep& step) {
  const PacedModel& model = step.model;
  const double ends = embedding_numbers(model) + head_numbers(model);
  const double whole =
      model.layers * (12.0 * model.width * model.width + 13.0 * model.width) + ends;
  const ParallelLayout& layout = step.layout;
  const double shards = layout.zero >= 1 ? layout.data : 1;
  const double layers = model.layers / static_cast<double>(layout.pipeline);
  const double own = layers * layer_numbers(model, layout.tensor) +
                     (layout.pipeline > 1 ? embedding_numbers(model) : ends);
  return own / shards / whole;
}

LayoutScript script_of(const LayoutStep& step) {
  const ParallelLayout& layout = step.layout;
  const double samples = static_cast<double>(step.batch) / layout.data / step.micro_batches;
  const PacedModel& model = step.model;
  return {.layout = layout,
          .micro_batches = step.micro_batches,
          .layers = model.layers / layout.pipeline,
          .forward = samples / layout.tensor * step.compute.forward,
          .backward = samples / layout.tensor * step.compute.backward,
          .layer = layer_numbers(model, layout.tensor) * kNumber,
          .embedding = embedding_numbers(model) * kNumber,
          .head = head_numbers(model) * kNumber,
          .activations = samples * model.length * model.width * kNumber,
          .update = update_share(step) * step.compute.update};
}

/// Why the step cannot be played; empty when it can.
std::string why_not(const LayoutStep& step) {
  const ParallelLayout& it = step.layout;
  std::int64_t vms = 0;
  for (const VmGroup& group : step.cluster.groups) vms += group.count;
  if (workers(it) != vms) {
    return fmt::format("the layout has {} workers and the cluster {} VMs", workers(it), vms);
  }
  if (it.virtual_stages > 1 || it.context > 1 || it.expert > 1 || it.hybrid) {
    return "virtual stages, context, expert and hybrid parallelism are not played";
  }
  if (step.model.layers % it.pipeline != 0) return "the stages do not divide the layers";
  if (step.batch % (it.data * step.micro_batches) != 0) {
    return "the micro-batches do not divide the batch";
  }
  return "";
}

/// Compute and communication one after the other: the schedule with links that take no time, and
/// with compute that takes none.
Seconds without_overlap(const LayoutScript& script, const Link& link) {
  LayoutScript idle = script;
  idle.forward = idle.backward = idle.update = Seconds{};
  return play_layout(script, Link{}) + play_layout(idle, link);
}

Validation scored(std::vector<Scored> rows) {
  Validation it{.what = "schedules"};
  it.overall = score(rows);
  it.jobs = score_by_job(rows);
  it.mean_over_jobs = mean_over(it.jobs);
  return it;
}

}  // namespace

Result<ValidationReport> validate_schedules(const SchedulesRequest& request) {
  if (request.test.empty()) return bad_usage("--test FILE is required: the steps to predict");
  const auto steps = read_all(request.test, read_layout_steps);
  if (!steps.ok()) return steps.error();
  if (steps->empty()) return bad_input("the test files have no step");
  const auto calibration = load_calibration(request.calibration);
  if (!calibration.ok()) return calibration.error();
  const auto buckets = calibrated_buckets(calibration->noun);
  if (!buckets.ok()) return buckets.error();
  if (!*buckets) {
    return bad_usage(fmt::format("the calibration {} has no law of single messages; try local",
                                 calibration->noun.name));
  }
  ValidationReport report;
  std::vector<Scored> ours;
  std::vector<Scored> plain;
  for (const LayoutStep& step : *steps) {
    PredictionLine line{.row = report.predictions.size(), .note = why_not(step)};
    Scored row{.job = to_text(step.layout)};
    if (step.iteration) row.measured = step.iteration->median;
    Scored sum = row;
    if (line.note.empty()) {
      const int vms = static_cast<int>(workers(step.layout));
      const Link link = vms > 1 ? bucket_link((*buckets)->law, step.link, vms) : Link{};
      const LayoutScript script = script_of(step);
      row.predicted = play_layout(script, link);
      sum.predicted = without_overlap(script, link);
      line.predicted = row.predicted->in(kSecond);
    }
    report.predictions.push_back(std::move(line));
    ours.push_back(std::move(row));
    plain.push_back(std::move(sum));
  }
  report.validation = scored(std::move(ours));
  report.beside.push_back(scored(std::move(plain)));
  report.beside.back().baseline = kSum;
  return report;
}

}  // namespace stint
