#include "cli/render/render_profile.h"

#include <fmt/format.h>
#include <optional>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

std::string megabytes(Bytes bytes) { return fmt::format("{:.4g} MB", bytes.in(kMB)); }

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
    text += sheet_line("buckets",
                       "As DistributedDataParallel would arrange them; one worker sends nothing.",
                       terminal);
  } else if (!report.communication.empty() && report.communication != "none") {
    text += sheet_line("buckets", "Not timed: " + report.communication + ".", terminal);
  }
  text += sheet_line("sizes",
                     fmt::format("Gradients {}, parameters {}, state of the optimizer {}; a "
                                 "checkpoint holds the last two.",
                                 megabytes(job.gradient_bytes), megabytes(*job.parameter_bytes),
                                 megabytes(*job.optimizer_bytes)),
                     terminal);
  for (const ProfiledNoise& it : report.noise) {
    text += sheet_line("noise", noise_text(it), terminal);
  }
  if (report.noise.empty()) {
    text += sheet_line("noise",
                       "Not measured: that takes several workers, or accumulation, and two "
                       "sampled iterations or more.",
                       terminal);
  }
  return text;
}

}  // namespace stint::cli
