#include "app/plan/predict_cases.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "app/sound_answer.h"
#include "base/file.h"
#include "base/text.h"
#include "load/predict_inputs.h"
#include "predict/predictor.h"
#include "predict/sharded/layout_choices.h"
#include "predict/timeline.h"
#include "simulate/step_simulation.h"

namespace stint {
namespace {

// For jobs whose profile does not say with which batch they train.
constexpr int kHintBatch = 32;

/// Everything that a question is asked of.
struct Inputs : PredictInputs {
  Cluster cluster;
  std::vector<std::string> doubts;
};

Result<Inputs> load(const Environment& environment, const PredictRequest& request) {
  const auto cluster = parse_cluster(request.cluster);
  if (!cluster.ok()) return cluster.error();
  auto inputs = load_predict_inputs(environment, request.job, request.calibration, *cluster);
  if (!inputs.ok()) return inputs.error();
  return Inputs{std::move(*inputs), *cluster, {}};
}

/// A warning as it stands among assumptions.
std::string sentence(const std::string& warning) {
  std::string text = warning + ".";
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

void note_doubts(Inputs& inputs, ResolvedJob& resolved) {
  for (const std::string& warning : resolved.warnings) {
    resolved.assumptions.push_back(sentence(warning));
    const auto& told = inputs.doubts;
    if (std::find(told.begin(), told.end(), warning) == told.end()) {
      inputs.doubts.push_back(warning);
    }
  }
}

/// The picture plays the profile's buckets, whatever the answer does.
Predicted drawn(const Inputs& inputs, ResolvedJob resolved, const Predicted& predicted) {
  resolved.options.plays_buckets = true;
  const PredictContext context = inputs.context();
  if (context.law.buckets) return predicted;  // It has played them already.
  Predicted picture = predicted;
  const ClusterView view(resolved);
  picture.setup =
      step_setup(context.job, view.workers(), context.law.fabric, law_of(context.known()));
  picture.prediction.iteration.parts = step_parts(picture.setup);
  return picture;
}

/// An answer, and the question that it is for.
struct Answered {
  ResolvedJob resolved;
  Predicted predicted;
};

/// Where replicas do not fit: the layout of a known transformer that would, on equal VMs.
void add_fitting_layout(const Inputs& inputs, const ResolvedJob& resolved, Prediction& it) {
  if (!it.memory || it.memory->fits || !inputs.sharded || resolved.groups.size() != 1) return;
  const auto cluster = sharded_cluster(inputs.catalog, resolved.groups[0].type,
                                       inputs.sharded->precision, resolved.vms());
  if (!cluster) return;
  const auto best = best_layouts({.model = *inputs.sharded,
                                  .cluster = *cluster,
                                  .global_batch = static_cast<int>(resolved.global_batch())},
                                 1);
  if (!best.empty()) it.fitting_layout = to_text(best.front().layout);
}

Result<Answered> answer(Inputs& inputs, const PredictRequest& request) {
  PredictOptions options = request.options;
  options.plays_buckets = request.event_driven;
  auto resolved = resolve(inputs.context(), inputs.cluster, options);
  if (!resolved.ok()) return resolved.error();
  const bool knows_memory =
      std::any_of(inputs.job.compute.begin(), inputs.job.compute.end(),
                  [](const ComputeSample& sample) { return sample.peak_memory.has_value(); });
  // Where the states alone are too large, the answer says so instead.
  const bool too_large = std::any_of(
      resolved->groups.begin(), resolved->groups.end(), [&](const ResolvedGroup& group) {
        const auto verdict = worker_verdict(inputs.job, memory_of(group), group.batch_max());
        return verdict && !verdict->fits;
      });
  if (!knows_memory && !too_large) {
    resolved->assumptions.emplace_back(
        "The profile has no peak memory: the batch is assumed to fit.");
  }
  note_doubts(inputs, *resolved);
  auto predicted = predict(inputs.context(), *resolved, [&](const StepSetup& setup) {
    return request.event_driven ? simulate_step(setup) : step_parts(setup);
  });
  add_fitting_layout(inputs, *resolved, predicted.prediction);
  const Status sound = check_answer(check_fields(predicted.prediction, "prediction"));
  if (!sound.ok()) return sound.error();
  return Answered{.resolved = std::move(*resolved), .predicted = std::move(predicted)};
}

Status write_timeline(const Predicted& predicted, const std::string& path) {
  if (path.empty()) return {};
  std::vector<std::string> names;
  for (const VmGroup& group : predicted.prediction.cluster.groups) {
    names.push_back(to_text(Cluster{.groups = {group}}));
  }
  const auto events = timeline(predicted.setup, predicted.prediction.iteration.parts);
  return write_output(path, chrome_trace(events, names));
}

/// The types of the cluster's VMs, to be changed.
Result<std::vector<VmType*>> types_of(Inputs& inputs) {
  std::vector<VmType*> types;
  for (const VmGroup& group : inputs.cluster.groups) {
    const auto found = find_type(inputs.catalog, group.vm);
    if (!found.ok()) return found.error();
    types.push_back(inputs.catalog.types.data() + (*found - inputs.catalog.types.data()));
  }
  return types;
}

Status put_gpu(Inputs& inputs, const std::vector<VmType*>& types, const std::string& name) {
  const Gpu* gpu = find_gpu(inputs.catalog, name);
  if (gpu == nullptr) {
    std::vector<std::string> names;
    for (const Gpu& known : inputs.catalog.gpus) names.push_back(known.name);
    return bad_usage(fmt::format("the catalogue has no figures of a GPU '{}'.{}", printable(name),
                                 did_you_mean(nearest_names(name, names, 3))));
  }
  for (VmType* type : types) {
    const int count = type->accelerator ? type->accelerator->count : 1;
    type->accelerator = Accelerator{.name = gpu->name, .count = count, .gpu = gpu->name};
    for (Offer& offer : type->offers) {
      offer.on_demand.reset();
      offer.spot.reset();
    }
  }
  return {};
}

Status apply(const WhatIf& change, Inputs& inputs, PredictRequest& request) {
  const auto types = types_of(inputs);
  if (!types.ok()) return types.error();
  if (change.network) {
    for (VmType* type : *types) {
      Network imagined{.baseline = change.network};
      if (type->network) {
        imagined.transport = type->network->transport;
        imagined.gpu_direct = type->network->gpu_direct;
      }
      type->network = imagined;
    }
  }
  if (change.gpu) {
    const Status put = put_gpu(inputs, *types, *change.gpu);
    if (!put.ok()) return put.error();
  }
  if (change.batch_per_worker) {
    request.options.batch_per_worker = change.batch_per_worker;
    request.options.global_batch.reset();
  }
  if (change.collective) request.options.collective = *change.collective;
  if (!change.vms) return {};
  if (inputs.cluster.groups.size() != 1) {
    return bad_usage(
        "--vms needs a cluster with one group; write the other cluster in full instead");
  }
  inputs.cluster.groups[0].count = *change.vms;
  return {};
}

}  // namespace

Result<PredictAnswer> predict_job(const Environment& environment, const PredictRequest& request) {
  auto inputs = load(environment, request);
  if (!inputs.ok()) return inputs.error();
  auto answered = answer(*inputs, request);
  if (!answered.ok()) return answered.error();
  Predicted& predicted = answered->predicted;
  // What was simulated is drawn as it was.
  const Predicted picture =
      request.event_driven ? predicted : drawn(*inputs, answered->resolved, predicted);
  const Status written = write_timeline(picture, request.timeline);
  if (!written.ok()) return written.error();
  return PredictAnswer{.job = inputs->job.name,
                       .prediction = std::move(predicted.prediction),
                       .warnings = std::move(inputs->warnings),
                       .doubts = std::move(inputs->doubts),
                       .calibration = std::move(inputs->calibration)};
}

std::optional<std::string> predict_command(const Environment& environment, const std::string& job) {
  for (const char* type : {"g4dn.xlarge", "local.large", "local.cpu"}) {
    for (const bool with_batch : {false, true}) {
      PredictRequest request{.job = job, .cluster = fmt::format("4x {}", type)};
      if (with_batch) request.options.batch_per_worker = kHintBatch;
      if (!predict_job(environment, request).ok()) continue;
      return fmt::format("stint predict --job {} --cluster {}{}", shell_quoted(job),
                         shell_quoted(request.cluster),
                         with_batch ? fmt::format(" --batch-per-worker {}", kHintBatch) : "");
    }
  }
  return std::nullopt;
}

Result<WhatIfAnswer> predict_change(const Environment& environment, const PredictRequest& request,
                                    const WhatIf& change) {
  auto inputs = load(environment, request);
  if (!inputs.ok()) return inputs.error();
  auto before = answer(*inputs, request);
  if (!before.ok()) return before.error();
  PredictRequest changed = request;
  const Status applied = apply(change, *inputs, changed);
  if (!applied.ok()) return applied.error();
  auto after = answer(*inputs, changed);
  if (!after.ok()) return after.error();
  std::move(inputs->doubts.begin(), inputs->doubts.end(), std::back_inserter(inputs->warnings));
  return WhatIfAnswer{.job = inputs->job.name,
                      .before = std::move(before->predicted.prediction),
                      .after = std::move(after->predicted.prediction),
                      .warnings = std::move(inputs->warnings)};
}

}  // namespace stint
