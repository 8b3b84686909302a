#include "cli/render/render_import.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/views/import_views.h"

namespace stint::cli {
namespace {

/// "21.4 ms ± 0.3".
std::string timing(const Timing& it) {
  if (!it.spread) return milliseconds(it.median);
  return fmt::format("{} ± {:.2g}", milliseconds(it.median), it.spread->in(kMillisecond));
}

std::string timing(const std::optional<Timing>& it) { return it ? timing(*it) : std::string(); }

std::string batches_text(const ProfileReport& report, const Terminal& terminal) {
  Table table({{.title = "batch", .align = Align::kRight, .importance = 9},
               {.title = "forward", .align = Align::kRight, .importance = 8},
               {.title = "backward", .align = Align::kRight, .importance = 8},
               {.title = "update", .align = Align::kRight, .importance = 7},
               {.title = "input", .align = Align::kRight, .importance = 6},
               {.title = "waits for network", .align = Align::kRight, .importance = 5},
               {.title = "iteration", .align = Align::kRight, .importance = 4},
               {.title = "memory", .align = Align::kRight, .importance = 3},
               {.title = "measured", .align = Align::kRight, .importance = 2}});
  for (const ProfileSummary& run : report.runs) {
    const ComputeSample& it = run.compute;
    const std::string passes = run.passes == 1 ? "" : fmt::format("{} x ", run.passes);
    table.add({passes + fmt::format("{}", it.batch_per_worker), timing(it.forward),
               timing(it.backward), timing(it.update), timing(run.input), timing(run.exposed),
               timing(run.iteration), it.peak_memory ? megabytes(*it.peak_memory) : "",
               fmt::format("{}", run.steps)});
  }
  return table.text(terminal, "-o json");
}

std::string buckets_text(const ProfileSummary& run, const Terminal& terminal) {
  Table table({{.title = "bucket", .align = Align::kRight, .importance = 9},
               {.title = "bytes", .align = Align::kRight, .importance = 8},
               {.title = "ready", .align = Align::kRight, .importance = 7},
               {.title = "all-reduce", .align = Align::kRight, .importance = 6}});
  for (std::size_t i = 0; i < run.buckets.size(); ++i) {
    const BucketSummary& it = run.buckets[i];
    table.add(
        {fmt::format("{}", i + 1), megabytes(it.bytes), percent(it.ready), timing(it.reduce)});
  }
  return table.text(terminal, "-o json");
}

std::string noise_text(const ProfiledNoise& it) {
  const std::string where =
      fmt::format("from {} at a batch of {}",
                  counted(static_cast<std::size_t>(it.samples), "iteration"), it.record.batch);
  if (!it.scale) return fmt::format("At least {:.3g} samples, {}.", it.lower, where);
  const std::string upper = it.upper ? fmt::format("–{:.3g}", *it.upper) : " or more";
  return fmt::format("{:.3g} samples ({:.3g}{}), {}.", *it.scale, it.lower, upper, where);
}

/// The types of numbers that the training computes with.
std::string precision_text(const TrainingMethod& it) {
  std::vector<std::string> parts;
  if (!it.parameters.empty()) parts.push_back(join(it.parameters, " and ") + " parameters");
  if (it.autocast) parts.push_back("autocast to " + *it.autocast);
  if (!it.tf32.empty()) parts.push_back("TF32 for " + join(it.tf32, " and "));
  if (it.gradient_scaler.value_or(false)) parts.emplace_back("gradient scaler");
  return join(parts, ", ");
}

/// "2 x Adam, SGD".
std::string optimizers_text(const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(names.begin(), begin, names[i]) != begin) continue;
    const auto count = std::count(begin, names.end(), names[i]);
    texts.push_back(count == 1 ? names[i] : fmt::format("{} x {}", count, names[i]));
  }
  return join(texts, ", ");
}

/// What the training consists of besides.
std::string method_text(const TrainingMethod& it) {
  std::vector<std::string> parts = {optimizers_text(it.optimizers)};
  const int accumulation = it.accumulation.value_or(1);
  parts.push_back(accumulation > 1 ? fmt::format("accumulation over {} micro-steps", accumulation)
                                   : "no accumulation");
  if (!it.clipping.empty()) parts.push_back("clipping by " + join(it.clipping, " and "));
  if (it.frozen) parts.push_back(megabytes(*it.frozen) + " of parameters frozen");
  if (it.checkpointing.value_or(false)) parts.emplace_back("activation checkpointing");
  if (it.compiled.value_or(false)) parts.emplace_back("torch.compile");
  if (it.loader_workers) {
    parts.push_back("DataLoader with " +
                    counted(static_cast<std::size_t>(*it.loader_workers), "worker"));
  }
  return join(parts, ", ");
}

std::string training_lines(const ProfileReport& report, const Terminal& terminal) {
  std::string text;
  if (!report.one_batch.empty()) {
    text += sheet_line("batches",
                       fmt::format("One batch was measured, the script's own: {}.",
                                   without_controls(report.one_batch)),
                       terminal);
  }
  const auto& training = report.job.training;
  if (!training) return text;
  text += sheet_line("precision", without_controls(precision_text(*training)) + ".", terminal);
  text += sheet_line("training", without_controls(method_text(*training)) + ".", terminal);
  return text;
}

struct Part {
  const char* name;
  const std::optional<Timing>* timing;
};

std::vector<Part> parts_of(const TraceProfile& profile) {
  return {{"waiting for data", &profile.input},
          {"forward", &profile.forward},
          {"backward", &profile.backward},
          {"all-reduces", &profile.communication},
          {"update", &profile.update}};
}

void add_timing(Table& table, const char* name, const Timing& timing) {
  table.add({name, milliseconds(timing.median), milliseconds(timing.spread.value_or(Seconds{})),
             std::to_string(timing.count.value_or(1))});
}

std::string timing_table(const TraceProfile& profile, const Terminal& terminal) {
  Table table({{.title = "part", .importance = 9},
               {.title = "median", .align = Align::kRight, .importance = 8},
               {.title = "spread", .align = Align::kRight, .importance = 6},
               {.title = "times", .align = Align::kRight, .importance = 5}});
  add_timing(table, "iteration", profile.iteration);
  for (const Part& part : parts_of(profile)) {
    if (*part.timing) add_timing(table, part.name, **part.timing);
  }
  return table.text(terminal, "-o json");
}

std::string bucket_table(const TraceProfile& profile, const Terminal& terminal) {
  if (profile.buckets.empty()) return "";
  Table table({{.title = "bucket", .align = Align::kRight, .importance = 7},
               {.title = "size", .align = Align::kRight, .importance = 9},
               {.title = "ready after", .align = Align::kRight, .importance = 8}});
  int number = 0;
  for (const Bucket& bucket : profile.buckets) {
    table.add({std::to_string(++number), megabytes(bucket.bytes),
               fmt::format("{:.0f} % of backward", 100 * bucket.ready)});
  }
  return "\n" + table.text(terminal, "-o json");
}

TimingView view_of(const Timing& timing) {
  return {.median = timing.median, .spread = timing.spread, .count = timing.count};
}

std::optional<TimingView> view_of(const std::optional<Timing>& timing) {
  return timing ? std::optional(view_of(*timing)) : std::nullopt;
}

std::int64_t whole_bytes(Bytes bytes) { return static_cast<std::int64_t>(bytes.in(kByte)); }

std::string note_lines(const std::vector<std::string>& notes, const Terminal& terminal) {
  std::string text;
  for (const std::string& note : notes) {
    text += sheet_line("note", without_controls(note), terminal);
  }
  return text;
}

}  // namespace

std::string profile_text(const ProfileReport& report, const Terminal& terminal) {
  const JobProfile& job = report.job;
  const ProfileSummary& last = report.runs.back();
  std::string text = fmt::format("{} on {}, {}\n\n", without_controls(job.name),
                                 without_controls(last.compute.device),
                                 counted(static_cast<std::size_t>(last.start.world), "worker"));
  text += batches_text(report, terminal) + "\n";
  if (!last.buckets.empty()) text += buckets_text(last, terminal) + "\n";
  if (last.start.world == 1) {
    text += sheet_line(
        "buckets", "Buckets as in DistributedDataParallel; one worker sends nothing.", terminal);
  } else if (!report.communication.empty() && report.communication != "none") {
    text += sheet_line("buckets", "Not timed: " + report.communication + ".", terminal);
  }
  text += sheet_line(
      "sizes",
      fmt::format("Gradients {}, parameters {}, optimizer state {}; a checkpoint has the last two.",
                  megabytes(job.gradient_bytes), megabytes(*job.parameter_bytes),
                  megabytes(*job.optimizer_bytes)),
      terminal);
  text += training_lines(report, terminal);
  for (const ProfiledNoise& it : report.noise) {
    text += sheet_line("noise", noise_text(it), terminal);
  }
  if (report.noise.empty()) {
    text += sheet_line("noise",
                       "Not measured: this needs several workers, or accumulation, and two sampled "
                       "iterations or more.",
                       terminal);
  }
  return text;
}

std::string trace_text(const TraceProfile& profile, const Terminal& terminal) {
  std::string text = timing_table(profile, terminal) + bucket_table(profile, terminal) + "\n";
  text += sheet_line("read",
                     fmt::format("{} in {}; iterations from {}", counted(profile.events, "event"),
                                 counted(static_cast<std::size_t>(profile.files), "file"),
                                 name_of(profile.rhythm)),
                     terminal);
  text += sheet_line("workers", fmt::format("{}, by {}", profile.workers, profile.workers_from),
                     terminal);
  text += sheet_line("device", without_controls(profile.device), terminal);
  if (profile.batch_per_worker) {
    text += sheet_line("batch", fmt::format("{} per worker", *profile.batch_per_worker), terminal);
  }
  if (profile.gradients) text += sheet_line("gradients", megabytes(*profile.gradients), terminal);
  text += note_lines(profile.notes, terminal);
  for (const TraceGap& gap : profile.gaps) {
    const std::string advice = gap.advice.empty() ? "" : "; " + gap.advice;
    text += sheet_line("not found", gap.what + advice, terminal);
  }
  return text;
}

Json trace_json(const TraceProfile& profile) {
  TraceImportView view{.files = profile.files,
                       .events = static_cast<std::int64_t>(profile.events),
                       .workers = profile.workers,
                       .workers_from = profile.workers_from,
                       .iterations_from = profile.rhythm,
                       .device = profile.device,
                       .iteration = view_of(profile.iteration),
                       .input = view_of(profile.input),
                       .forward = view_of(profile.forward),
                       .backward = view_of(profile.backward),
                       .communication = view_of(profile.communication),
                       .update = view_of(profile.update),
                       .batch_per_worker = profile.batch_per_worker,
                       .gradient_bytes = {},
                       .notes = profile.notes,
                       .not_found = {},
                       .job = {}};
  if (profile.gradients) view.gradient_bytes = whole_bytes(*profile.gradients);
  for (const TraceGap& gap : profile.gaps) view.not_found.push_back(gap.what);
  if (profile.job) {
    // Our own text always reads back.
    const auto job = parse_json(write_job(*profile.job), "job");
    if (job.ok()) view.job = *job;
  }
  return encoded(view);
}

std::string nccl_text(const NcclTable& table, const Terminal& terminal) {
  Table rows({{.title = "instance type", .importance = 7},
              {.title = "VMs", .align = Align::kRight, .importance = 6},
              {.title = "ranks", .align = Align::kRight, .importance = 6},
              {.title = "collective", .importance = 8},
              {.title = "size", .align = Align::kRight, .importance = 9},
              {.title = "out of place", .align = Align::kRight, .importance = 9},
              {.title = "in place", .align = Align::kRight, .importance = 5}});
  const auto time = [](const std::optional<Seconds>& it) {
    return it ? fmt::format("{:.4g} us", it->in(kMicrosecond)) : std::string();
  };
  for (const NcclRow& it : table.rows) {
    rows.add({it.row.cluster, std::to_string(it.row.vms), std::to_string(it.row.workers),
              it.row.collective, fmt::format("{:.0f} B", it.row.payload.in(kByte)),
              time(it.row.time), time(it.in_place)});
  }
  std::string text = rows.text(terminal, "-o json");
  if (table.wrong > 0) {
    text += sheet_line("skipped",
                       counted(static_cast<std::size_t>(table.wrong), "line") +
                           " with wrong results: check the network and the GPUs",
                       terminal);
  }
  return text + note_lines(table.notes, terminal);
}

Json nccl_json(const NcclTable& table) {
  NcclImportView view{.rows = {}, .wrong = table.wrong, .notes = table.notes};
  for (const NcclRow& it : table.rows) {
    view.rows.push_back({.instance_type = it.row.cluster,
                         .nodes = it.row.vms,
                         .ranks = it.row.workers,
                         .collective = it.row.collective,
                         .bytes = whole_bytes(it.row.payload),
                         .time = it.row.time.value_or(Seconds{}),
                         .time_in_place = it.in_place});
  }
  return encoded(view);
}

}  // namespace stint::cli
