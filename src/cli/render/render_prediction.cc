#include "cli/render/render_prediction.h"

#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/views/plan_views.h"

namespace stint::cli {
namespace {

std::string gigabytes(Bytes bytes) { return fmt::format("{:.1f} GB", bytes.in(kGB)); }

std::string samples_per_second(double rate) {
  return fmt::format("{:.{}f} samples/s", rate, rate >= 99.95 ? 0 : 1);
}

std::string heading(const std::string& job, const Prediction& prediction) {
  return fmt::format("{} on {}: {}, global batch {}\n\n", without_controls(job),
                     to_text(prediction.cluster), counted(workers_of(prediction), "worker"),
                     prediction.global_batch.value_or(0));
}

std::string cost_text(const Prediction& prediction) {
  if (!prediction.cost_per_million_samples || !prediction.price) {
    return "unknown: no region has a price for all of these VMs";
  }
  const PriceUsed& price = *prediction.price;
  return fmt::format("{} per million samples ({}/h in {}, price of {})",
                     dollars(*prediction.cost_per_million_samples), dollars(price.rate * kHour),
                     price.region, to_text(price.date));
}

std::string memory_text(const Prediction& prediction) {
  if (!prediction.memory) return "unknown";
  const MemoryVerdict& memory = *prediction.memory;
  return fmt::format("{}: {} of {} usable per worker", memory.fits ? "fits" : "does not fit",
                     gigabytes(memory.needed), gigabytes(memory.available));
}

std::string shares_text(const PredictedGroup& group) {
  std::vector<std::string> parts;
  for (const BatchShare& share : group.batches) {
    parts.push_back(fmt::format("{} x {} (gradient weight {:.4f} each)", share.workers,
                                share.batch_per_worker, share.gradient_weight));
  }
  return fmt::format("{}: {}", group.vm, join(parts, ", "));
}

bool uneven(const Prediction& prediction) {
  const BatchShare* first = nullptr;
  for (const PredictedGroup& group : prediction.groups) {
    for (const BatchShare& share : group.batches) {
      if (first == nullptr) first = &share;
      if (share.batch_per_worker != first->batch_per_worker) return true;
    }
  }
  return false;
}

std::string signed_text(double value, const std::string& text) {
  return (value > 0 ? "+" : "") + text;
}

std::string percent_change(double before, double after) {
  if (before <= 0) return "";
  return fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

void add_cost_row(Table& table, const Prediction& before, const Prediction& after) {
  const auto& first = before.cost_per_million_samples;
  const auto& second = after.cost_per_million_samples;
  const bool both = first && second;
  table.add({"$ per million samples", first ? dollars(*first) : "unknown",
             second ? dollars(*second) : "unknown",
             both ? fmt::format("{:+.2f}", (*second - *first).in(kDollar)) : "",
             both ? percent_change(first->in(kDollar), second->in(kDollar)) : ""});
}

}  // namespace

std::size_t workers_of(const Prediction& prediction) {
  std::size_t workers = 0;
  for (const PredictedGroup& group : prediction.groups) {
    workers += static_cast<std::size_t>(group.vms) * static_cast<std::size_t>(group.workers_per_vm);
  }
  return workers;
}

std::string iteration_text(const IterationTime& iteration) {
  constexpr int kBar = 40;
  std::string text;
  for (const auto& [name, field] : iteration_parts()) {
    const Seconds time = iteration.parts.*field;
    const double share = time / iteration.mean;
    const std::string bar(static_cast<std::size_t>(std::lround(share * kBar)), '#');
    const std::string row =
        fmt::format("{:<16}{:>10}{:>6.1f} %  {}", name, milliseconds(time), 100 * share, bar);
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text + fmt::format("{:<16}{:>10}  80 % between {} and {}\n", "iteration",
                            milliseconds(iteration.mean), milliseconds(iteration.p10),
                            milliseconds(iteration.p90));
}

std::string batch_text(const Prediction& prediction, const Terminal& terminal) {
  if (!uneven(prediction)) return "";
  std::string text;
  for (const PredictedGroup& group : prediction.groups) {
    text += sheet_line("batch", shares_text(group), terminal);
  }
  return text;
}

std::string calibration_age(const std::string& name, const Date& date, const Date& today) {
  const int age = days_between(date, today);
  return fmt::format("calibration {} of {}, {}", without_controls(name), to_text(date),
                     age < 0 ? "which is in the future" : fmt::format("{} days old", age));
}

std::string calibration_text(const CalibrationRecord& calibration, const Date& today) {
  const std::string text = calibration_age(calibration.name, calibration.date, today);
  if (!calibration.error) return text + "; error unknown";
  const AccuracyRecord& error = *calibration.error;
  const bool sizes = error.split == "leave-one-cluster-size-out";
  const bool jobs = error.split == "leave-one-job-out";
  std::string what = "on " + without_controls(error.split);
  if (jobs) what = "on held-out jobs";
  if (sizes) what = "on held-out cluster sizes";
  return text + fmt::format("; error {:.1f} % {} (n {})", 100 * error.mape, what, error.n);
}

std::string prediction_sheet(const std::string& job, const Prediction& prediction,
                             const Terminal& terminal) {
  std::string text = heading(job, prediction) + iteration_text(prediction.iteration) + "\n";
  text += sheet_line("throughput", samples_per_second(prediction.throughput_samples_per_second),
                     terminal);
  text += sheet_line("cost", cost_text(prediction), terminal);
  text += sheet_line("memory", memory_text(prediction), terminal);
  text += batch_text(prediction, terminal);
  for (const std::string& assumption : prediction.assumptions) {
    text += sheet_line("assumed", assumption, terminal);
  }
  return text;
}

std::string change_table(const Prediction& before, const Prediction& after,
                         const Terminal& terminal) {
  Table table({{.title = "part", .importance = 9},
               {.title = "before", .align = Align::kRight, .importance = 8},
               {.title = "after", .align = Align::kRight, .importance = 8},
               {.title = "difference", .align = Align::kRight, .importance = 7},
               {.title = "change", .align = Align::kRight, .importance = 6}});
  const auto add_time = [&](const char* name, Seconds first, Seconds second) {
    const Seconds difference = second - first;
    table.add({name, milliseconds(first), milliseconds(second),
               signed_text(difference.in(kSecond), milliseconds(difference)),
               percent_change(first.in(kSecond), second.in(kSecond))});
  };
  for (const auto& [name, field] : iteration_parts()) {
    add_time(name, before.iteration.parts.*field, after.iteration.parts.*field);
  }
  add_time("iteration", before.iteration.mean, after.iteration.mean);
  add_time("  p10", before.iteration.p10, after.iteration.p10);
  add_time("  p90", before.iteration.p90, after.iteration.p90);
  const double first = before.throughput_samples_per_second;
  const double second = after.throughput_samples_per_second;
  table.add({"samples/s", fmt::format("{:.1f}", first), fmt::format("{:.1f}", second),
             fmt::format("{:+.1f}", second - first), percent_change(first, second)});
  add_cost_row(table, before, after);
  return table.text(terminal);
}

Json change_json(const std::string& job, const Prediction& before, const Prediction& after) {
  WhatifView view{.job = job, .before = before, .after = after, .difference = {}};
  WhatifChangeView& difference = view.difference;
  difference.mean = after.iteration.mean - before.iteration.mean;
  for (const auto& [name, field] : iteration_parts()) {
    difference.parts.change.*field = after.iteration.parts.*field - before.iteration.parts.*field;
  }
  difference.throughput =
      after.throughput_samples_per_second - before.throughput_samples_per_second;
  if (before.cost_per_million_samples && after.cost_per_million_samples) {
    difference.cost = *after.cost_per_million_samples - *before.cost_per_million_samples;
  }
  return encoded(view);
}

std::string memory_problem(const Prediction& prediction) {
  CHECK(prediction.memory.has_value());
  const MemoryVerdict& memory = *prediction.memory;
  std::string text =
      fmt::format("the job does not fit: a worker needs {}, {} more than the {} usable",
                  gigabytes(memory.needed), gigabytes(memory.needed - memory.available),
                  gigabytes(memory.available));
  if (prediction.fitting_layout && !prediction.fitting) {
    return text + fmt::format(
                      "; split over the workers it fits, in the layout '{}' ('stint "
                      "layouts' lists all)",
                      *prediction.fitting_layout);
  }
  if (!prediction.fitting) return text + "; not even one sample fits, so choose more memory";
  const FittingBatch& fitting = *prediction.fitting;
  if (fitting.global_batch) {
    return text + fmt::format(
                      "; no number of micro-steps that fits divides the batch, but '--global-batch "
                      "{} --accumulation {}' is close and fits",
                      *fitting.global_batch, fitting.accumulation);
  }
  const std::int64_t whole = prediction.global_batch.value_or(0);
  const std::int64_t even = std::int64_t{fitting.batch_per_worker} * fitting.accumulation *
                            static_cast<std::int64_t>(workers_of(prediction));
  const std::string batch = even == whole
                                ? fmt::format("--batch-per-worker {}", fitting.batch_per_worker)
                                : fmt::format("--global-batch {}", whole);
  return text + fmt::format("; '{} --accumulation {}' keeps the global batch of {} and fits", batch,
                            fitting.accumulation, whole);
}

}  // namespace stint::cli
