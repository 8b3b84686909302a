#include "app/import/profile_for.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "app/import/profile_run.h"
#include "base/file.h"
#include "base/text.h"
#include "load/catalog_cases.h"
#include "load/file_maker.h"
#include "load/job_overrides.h"
#include "load/predict_inputs.h"
#include "measure/trace/timing_of.h"
#include "predict/law.h"
#include "predict/work_time.h"

namespace stint {
namespace {

constexpr int kBatchSmall = 8;  // Enough to train with batch norms, and quick on a processor.
constexpr std::size_t kSuggestions = 3;
// How far predictions from the operators of a script are from those of the shape of the same model,
// in logarithms (docs/measured/operators.md): what the law, which was fitted to shapes, does not
// know of scripts.
constexpr double kScriptSpread = 0.3;

/// The laws that predict from operators.
struct Laws {
  DeviceModel device;
  WorkModel work;
};

Result<Laws> load_laws() {
  const auto devices = load_calibration("device-model");
  if (!devices.ok()) return devices.error();
  const auto device = device_model(devices->noun);
  if (!device.ok()) return device.error();
  const auto works = load_calibration("work-model");
  if (!works.ok()) return works.error();
  const auto work = work_model(works->noun);
  if (!work.ok()) return work.error();
  return Laws{*device, *work};
}

/// The accelerators that are named. Bad usage when one is not in the catalogue.
Result<std::vector<const Gpu*>> named_gpus(const Catalog& catalog,
                                           const std::vector<std::string>& names) {
  std::vector<const Gpu*> found;
  std::vector<std::string> known;
  for (const VmType& type : catalog.types) {
    if (type.accelerator) known.push_back(type.accelerator->name);
  }
  for (const Gpu& gpu : catalog.gpus) known.push_back(gpu.name);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : names) {
    const std::size_t before = found.size();
    for (const Gpu& gpu : catalog.gpus) {
      const bool meant = name == kAllAccelerators || names_family(gpu.name, name);
      const bool there = std::find(found.begin(), found.end(), &gpu) != found.end();
      if (meant && !there) found.push_back(&gpu);
    }
    const bool any = found.size() > before ||
                     std::any_of(found.begin(), found.end(),
                                 [&](const Gpu* gpu) { return names_family(gpu->name, name); });
    if (any) continue;
    std::string help = did_you_mean(nearest_names(name, known, kSuggestions));
    if (help.empty()) help = " 'stint catalog list' shows those there are.";
    return bad_usage(
        fmt::format("the catalogue has no figures of a GPU '{}'.{}", printable(name), help));
  }
  if (found.empty()) return bad_usage("--for needs the name of a GPU, for example A100,H100");
  return found;
}

std::vector<std::string> precisions_of(const Gpu& gpu) {
  std::vector<std::string> names;
  for (const auto& [precision, name] : names_of(WorkPrecision{})) {
    const bool there = precision != WorkPrecision::kMixed && precision_on(gpu, precision);
    if (there) names.emplace_back(name);
  }
  return names;
}

bool runs_on(const Gpu& gpu, WorkPrecision precision) {
  const auto format = precision_on(gpu, precision);
  return format && device_figures(gpu, *format).ok();
}

/// Bad usage when one that was named cannot compute so; of all, those that can are taken.
Status check_precision(const std::vector<const Gpu*>& gpus, WorkPrecision precision, bool all) {
  for (const Gpu* gpu : gpus) {
    if (all || runs_on(*gpu, precision)) continue;
    const auto has = precisions_of(*gpu);
    return bad_usage(fmt::format(
        "{} lacks {}{}; choose another --precision, or another GPU", gpu->name, name_of(precision),
        has.empty() ? std::string(" and every other precision in the catalogue")
                    : ", it has " + join(has, ", ")));
  }
  return {};
}

/// What the script computes with, as far as it shows on a processor.
WorkPrecision script_precision(const ProfileSummary& summary, const OperatorRun& run,
                               const std::vector<const Gpu*>& gpus) {
  const auto& training = summary.start.training;
  if (run.total.autocast || (training && training->autocast)) return WorkPrecision::kMixed;
  if (training && training->parameters == std::vector<std::string>{"bfloat16"}) {
    return WorkPrecision::kBf16;
  }
  if (training && training->parameters == std::vector<std::string>{"float16"}) {
    return WorkPrecision::kFp16;
  }
  const bool allowed = training && std::find(training->tf32.begin(), training->tf32.end(),
                                             "matmul") != training->tf32.end();
  const bool everywhere = std::all_of(
      gpus.begin(), gpus.end(), [](const Gpu* gpu) { return runs_on(*gpu, WorkPrecision::kTf32); });
  return allowed && everywhere ? WorkPrecision::kTf32 : WorkPrecision::kFp32;
}

/// What the runs of the script tell.
struct Runs {
  std::vector<ProfileSummary> summaries;  // By batch.
  std::vector<OperatorRun> operators;
};

Status add_run(const ProfileRequest& request, const BatchAsk& ask, Runs& runs,
               std::vector<std::string>& warnings) {
  auto run = run_script(request, ask, warnings);
  if (!run.ok()) return run.error();
  auto operators = operator_run(run->records, run->summary);
  if (!operators.ok()) return failed(operators.error().message);
  runs.summaries.push_back(std::move(run->summary));
  runs.operators.push_back(std::move(*operators));
  return {};
}

/// The batch to run with after one of `seen`: half of it, or two after one.
std::optional<BatchAsk> second_ask(const ProfileSummary& first) {
  if (!first.start.batch_from || first.seen_batch < 1) return std::nullopt;
  const int other = first.seen_batch > 1 ? first.seen_batch / 2 : 2;
  if (*first.start.batch_from == "script") return BatchAsk{.batch = other};
  if (other > first.seen_batch) return BatchAsk{.scale = 2};
  return BatchAsk{.max = other};
}

Result<Runs> run_twice(const ProfileRequest& request, std::vector<std::string>& warnings) {
  Runs runs;
  if (!request.batches.empty()) {
    for (const int batch : request.batches) {
      const Status added = add_run(request, {.batch = batch}, runs, warnings);
      if (!added.ok()) return added.error();
    }
  } else {
    const BatchAsk first = request.own ? BatchAsk{} : BatchAsk{.max = kBatchSmall};
    const Status added = add_run(request, first, runs, warnings);
    if (!added.ok()) return added.error();
    const auto ask = second_ask(runs.summaries[0]);
    std::vector<std::string> ignored;
    // What a second run fails with is no reason to lose the first.
    if (ask) {
      const Status second = add_run(request, *ask, runs, ignored);
      if (!second.ok() && second.error().kind == ErrorKind::kInterrupted) return second.error();
    }
  }
  if (runs.operators.size() < 2) return runs;
  // The last two of different batches, the smaller one first.
  const bool same = runs.operators[0].batch == runs.operators[1].batch;
  if (same) {
    runs.summaries.resize(1);
    runs.operators.resize(1);
  } else if (runs.operators[0].batch > runs.operators[1].batch) {
    std::swap(runs.operators[0], runs.operators[1]);
    std::swap(runs.summaries[0], runs.summaries[1]);
  }
  return runs;
}

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string autocast_note(const ProfileForReport& report, const OperatorRun& run) {
  const OperatorCounts& counts = report.counts;
  const double matrices = counts.products + counts.convolutions + counts.batched;
  if (counts.in_half > 0) {
    return fmt::format(
        "Autocast is on: {:.0f} of {:.0f} products and convolutions computed in 16 bits here; on a "
        "GPU the list is that of CUDA, which leaves the same kinds in 32 bits.",
        counts.in_half, matrices);
  }
  const char* begin = run.total.autocast
                          ? "Autocast is asked for but off without a GPU, and is assumed: "
                          : "Autocast is off: with it ";
  return fmt::format(
      "{}{:.0f} products and convolutions compute in 16 bits, sweeps move about half the bytes, "
      "norms, softmax and losses stay in 32 bits, and the weights are cast once in a pass.",
      begin, matrices);
}

std::string attention_note(const OperatorCounts& counts) {
  if (counts.fused > 0) return "Attention is fused already (scaled_dot_product_attention).";
  if (counts.attentions <= 0) {
    return "No attention was found, so fused attention changes nothing.";
  }
  return fmt::format(
      "Attention is written out in {}: fused attention (scaled_dot_product_attention) "
      "removes {:.0f} sweeps over its scores and {:.2g} MB that reading and writing them moves for "
      "a sample; its products remain.",
      counted(static_cast<std::size_t>(counts.attentions), "place"), counts.scores,
      counts.score_bytes.in(kMB));
}

std::string compile_note(const ProfileForReport& report, double left) {
  if (report.job.training && report.job.training->compiled.value_or(false)) {
    return "torch.compile is used: the operators are those that it was given, and sweeps count "
           "as if none were fused.";
  }
  const OperatorCounts& counts = report.counts;
  if (counts.sweeps <= 0) return "torch.compile has no sweeps to fuse.";
  return fmt::format(
      "torch.compile would fuse {:.0f} sweeps into about {:.0f} kernels, which leaves {} of their "
      "bytes; products and convolutions remain.",
      counts.sweeps, counts.chains, percent_text(left));
}

double kernels_of(const JobWork& work) {
  double sum = 0;
  for (const WorkOperator& it : work.operators) {
    sum += it.count * it.kernels.value_or(1) * (it.forward.value_or(1) + it.backward);
  }
  return sum;
}

/// Everything that a prediction is made from.
struct Question {
  const Runs& runs;
  const std::vector<const Gpu*>& gpus;
  const Laws& laws;
};

Seconds step_on(const Gpu& gpu, const JobWork& work, const Laws& laws, double batch) {
  const auto precision = precision_on(gpu, work.precision);
  const auto device = device_figures(gpu, *precision);
  const WorkTimes times = work_times(work, *device, *precision, laws.device, laws.work, batch);
  return times.forward + times.backward + times.update;
}

Status add_effect(const Question& question, const char* name, const OperatorChange& change,
                  ProfileForReport& report) {
  const auto changed = operator_work(question.runs.operators, change);
  if (!changed.ok()) return failed(changed.error().message);
  ChangeEffect effect{.name = name, .kernels = kernels_of(changed->work)};
  for (const Gpu* gpu : question.gpus) {
    effect.steps.push_back(step_on(*gpu, changed->work, question.laws, report.batch));
  }
  report.effects.push_back(std::move(effect));
  return {};
}

/// The script as it is, and with each change alone that would change something.
Status set_effects(const Question& question, WorkPrecision precision, ProfileForReport& report) {
  const double left = question.laws.device.fusion_left;
  const OperatorCounts& counts = report.counts;
  const OperatorChange as_is{.precision = precision};
  Status status = add_effect(question, "as it is", as_is, report);
  if (status.ok() && precision == WorkPrecision::kFp32) {
    status = add_effect(question, "autocast", {.precision = WorkPrecision::kMixed}, report);
  }
  if (status.ok() && counts.attentions > 0) {
    OperatorChange fused = as_is;
    fused.fused_attention = true;
    status = add_effect(question, "fused attention", fused, report);
  }
  const bool compiled = report.job.training && report.job.training->compiled.value_or(false);
  if (status.ok() && counts.sweeps > 0 && !compiled) {
    OperatorChange fused = as_is;
    fused.compiled = left;
    status = add_effect(question, "torch.compile", fused, report);
  }
  report.changes = {autocast_note(report, question.runs.operators.back()), attention_note(counts),
                    compile_note(report, left)};
  return status;
}

void set_steps(const Question& question, ProfileForReport& report) {
  const JobWork& work = *report.job.work;
  for (const Gpu* gpu : question.gpus) {
    const auto precision = precision_on(*gpu, work.precision);
    const auto device = device_figures(*gpu, *precision);
    const WorkTimes times = work_times(work, *device, *precision, question.laws.device,
                                       question.laws.work, report.batch);
    PredictedStep step{.gpu = gpu->name,
                       .forward = times.forward,
                       .backward = times.backward,
                       .update = times.update,
                       .memory = work_memory(report.job, report.batch)};
    step.fits = !gpu->memory || step.memory <= *gpu->memory;
    double deviation = 0;
    for (const ComputeSample& it : report.job.compute) {
      if (it.device == gpu->name) deviation = it.predicted.value_or(0);
    }
    const double factor = std::exp(kEightInTen * deviation);
    step.lower = step.step() / factor;
    step.upper = step.step() * factor;
    report.steps.push_back(std::move(step));
  }
}

/// In 16 bits throughout, weights that the script has in 32 take half; with autocast they gain a
/// copy.
void set_states(WorkPrecision precision, bool script_in_half, JobProfile& job) {
  const bool wide = !script_in_half && job.training &&
                    job.training->parameters == std::vector<std::string>{"float32"};
  if (!wide) return;
  if (precision == WorkPrecision::kMixed || precision == WorkPrecision::kFp8) {
    *job.work->workspace += job.gradient_bytes / 2;
  }
  if (precision != WorkPrecision::kBf16 && precision != WorkPrecision::kFp16) return;
  job.gradient_bytes = job.gradient_bytes / 2;
  job.parameter_bytes = *job.parameter_bytes / 2;
  job.optimizer_bytes = *job.optimizer_bytes / 2;
  job.checkpoint = CheckpointSize{.bytes = *job.parameter_bytes + *job.optimizer_bytes};
}

std::vector<std::string> work_notes(const Runs& runs, const OperatorWork& found,
                                    const ProfileForReport& report) {
  std::vector<std::string> notes;
  notes.emplace_back(
      "Nobody measured the times: they are computed from the operators that the script ran on a "
      "processor.");
  if (found.by_shapes) {
    const auto& fixed = runs.summaries[0].start.batch_fixed;
    notes.push_back(fmt::format("What grows with the batch is told by shapes, from one run{}.",
                                fixed ? ": " + *fixed : ""));
  }
  for (const std::string& it : report.changes) notes.push_back(it);
  if (found.work.precision == WorkPrecision::kFp32 && report.counts.convolutions > 0) {
    notes.emplace_back(
        "Convolutions count in FP32; PyTorch runs them in TF32 on Ampere and later unless told "
        "otherwise (--precision tf32).");
  }
  const auto& training = runs.summaries[0].start.training;
  if (training && training->checkpointing.value_or(false)) {
    notes.emplace_back(
        "Activation checkpointing is used: memory of the part that is computed again is not "
        "counted.");
  }
  return notes;
}

/// The profile, without times.
Status set_job(const ProfileForRequest& request, const Question& question, WorkPrecision precision,
               ProfileForReport& report) {
  auto found = operator_work(question.runs.operators, {.precision = precision});
  if (!found.ok()) return failed(found.error().message);
  if (!(flops_per_sample(found->work) > Flops{})) {
    return failed(
        "the script computes no product and no convolution, so there is no arithmetic "
        "to predict");
  }
  report.counts = found->counts;
  JobProfile& job = report.job;
  // Times of the processor are none of the GPU's, and the watch slowed them down.
  job.compute.clear();
  job.buckets.clear();
  const Status effects = set_effects(question, precision, report);
  if (!effects.ok()) return effects.error();
  for (const std::string& it : found->warnings) report.warnings.push_back(it);
  job.work = std::move(found->work);
  job.work->model = job.name;
  job.work->spread = kScriptSpread;
  job.work->notes = work_notes(question.runs, *found, report);
  const bool all =
      std::find(request.gpus.begin(), request.gpus.end(), kAllAccelerators) != request.gpus.end();
  if (!all) job.work->accelerators = request.gpus;
  job.flops_per_sample = flops_per_sample(*job.work);
  job.gradient_bytes = question.runs.summaries.back().start.gradient_bytes;
  set_states(precision, computes_in_half(question.runs.operators[0]), job);
  job.description = fmt::format(
      "{}: {:.4g} GFLOP a sample in {:.0f} operators, found on a processor; times on GPUs are "
      "predicted, nobody measured them.",
      job.name, job.flops_per_sample->in(1e9 * kFlop), report.counts.all());
  return {};
}

}  // namespace

Result<ProfileForReport> profile_for(const Environment& environment,
                                     const ProfileForRequest& request) {
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  auto gpus = named_gpus(catalog->noun, request.gpus);
  if (!gpus.ok()) return gpus.error();
  const bool all =
      std::find(request.gpus.begin(), request.gpus.end(), kAllAccelerators) != request.gpus.end();
  if (request.precision) {
    const Status possible = check_precision(*gpus, *request.precision, all);
    if (!possible.ok()) return possible.error();
  }
  for (const Status& possible :
       {check_overrides(request.run.overrides), check_training_command(request.run.command)}) {
    if (!possible.ok()) return possible.error();
  }
  const auto laws = load_laws();
  if (!laws.ok()) return laws.error();
  ProfileForReport report;
  const auto runs = run_twice(request.run, report.warnings);
  if (!runs.ok()) return runs.error();
  for (const OperatorRun& run : runs->operators) report.batches.push_back(run.batch);
  const WorkPrecision precision = request.precision.value_or(
      script_precision(runs->summaries[0], runs->operators.back(), *gpus));
  const Status possible = check_precision(*gpus, precision, all);
  if (!possible.ok()) return possible.error();
  std::erase_if(*gpus, [&](const Gpu* gpu) { return !runs_on(*gpu, precision); });
  report.job = profile_of(profiled_name(request.run), runs->summaries);
  report.batch = runs->summaries[0].start.own_batch.value_or(runs->operators.back().batch);
  const Question question{*runs, *gpus, *laws};
  const Status made = set_job(request, question, precision, report);
  if (!made.ok()) return made.error();
  add_predicted_times(report.job, catalog->noun, laws->device, laws->work);
  for (ComputeSample& sample : report.job.compute) {
    for (Timing* timing : {&sample.forward, &sample.backward, &sample.update}) {
      *timing = profile_timing(*timing);
    }
  }
  set_steps(question, report);
  set_goal(request.run, report.job, report.warnings);
  if (request.run.keep_command) report.job.command = request.run.command;
  const Status kept = keep_profile(request.run, report.job);
  if (!kept.ok()) return kept.error();
  return report;
}

}  // namespace stint
