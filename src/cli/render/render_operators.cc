#include "cli/render/render_operators.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

/// "12.3 ms (9.1–16.5)".
std::string step_text(const PredictedStep& it) {
  return fmt::format("{} ({:.3g}–{:.3g})", milliseconds(it.step()), it.lower.in(kMillisecond),
                     it.upper.in(kMillisecond));
}

std::string steps_text(const ProfileForReport& report, const Terminal& terminal) {
  std::vector<Column> columns = {{.title = "GPU", .importance = 9},
                                 {.title = "step (80 %)", .align = Align::kRight, .importance = 9},
                                 {.title = "samples/s", .align = Align::kRight, .importance = 8},
                                 {.title = "memory", .align = Align::kRight, .importance = 7},
                                 {.title = "forward", .align = Align::kRight, .importance = 2},
                                 {.title = "backward", .align = Align::kRight, .importance = 2},
                                 {.title = "update", .align = Align::kRight, .importance = 2}};
  for (std::size_t i = 1; i < report.effects.size(); ++i) {
    columns.push_back({.title = report.effects[i].name,
                       .align = Align::kRight,
                       .importance = 6 - static_cast<int>(i)});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const PredictedStep& it = report.steps[i];
    std::vector<std::string> row = {it.gpu,
                                    step_text(it),
                                    fmt::format("{:.3g}", report.batch / it.step().in(kSecond)),
                                    megabytes(it.memory) + (it.fits ? "" : ", too much"),
                                    milliseconds(it.forward),
                                    milliseconds(it.backward),
                                    milliseconds(it.update)};
    for (std::size_t effect = 1; effect < report.effects.size(); ++effect) {
      row.push_back(milliseconds(report.effects[effect].steps[i]));
    }
    table.add(std::move(row));
  }
  return table.text(terminal, "a wider terminal");
}

std::string batches_run(const ProfileForReport& report) {
  std::vector<std::string> texts;
  for (const int batch : report.batches) texts.push_back(fmt::format("{}", batch));
  return fmt::format("On this processor with {} of {}.", texts.size() == 1 ? "a batch" : "batches",
                     join(texts, " and "));
}

std::string arithmetic_text(Flops flops) {
  const bool small = flops < 1e9 * kFlop;
  return fmt::format("{:.4g} {}", flops.in((small ? 1e6 : 1e9) * kFlop), small ? "MFLOP" : "GFLOP");
}

std::string operators_line(const ProfileForReport& report) {
  const OperatorCounts& it = report.counts;
  return fmt::format(
      "{:.0f} in a pass, forward and backward: {:.0f} products, {:.0f} convolutions, {:.0f} "
      "batched "
      "products, {:.0f} sweeps; {} a sample.",
      it.all(), it.products, it.convolutions, it.batched, it.sweeps,
      arithmetic_text(*report.job.flops_per_sample));
}

}  // namespace

std::string profile_for_text(const ProfileForReport& report, const Terminal& terminal) {
  const JobProfile& job = report.job;
  std::string text = fmt::format("{}: a step of {} per GPU, predicted; nobody measured it\n\n",
                                 without_controls(job.name),
                                 counted(static_cast<std::size_t>(report.batch), "sample"));
  text += steps_text(report, terminal) + "\n";
  const auto line = [&](std::string_view label, const std::string& value) {
    text += sheet_line(label, without_controls(value), terminal);
  };
  line("ran", batches_run(report));
  line("operators", operators_line(report));
  line("precision", fmt::format("{}.", name_of(job.work->precision)));
  line("sizes", fmt::format("Gradients {}, parameters {}, optimizer state {}.",
                            megabytes(job.gradient_bytes), megabytes(*job.parameter_bytes),
                            megabytes(*job.optimizer_bytes)));
  line("memory", fmt::format("{} kept for the backward pass of a sample, {} of workspace.",
                             megabytes(job.work->activations.value_or(Bytes{})),
                             megabytes(job.work->workspace.value_or(Bytes{}))));
  for (const std::string& note : job.work->notes) line("note", note);
  return text;
}

}  // namespace stint::cli
