#include "cli/render/checkpoint_text.h"

#include <fmt/format.h>

#include "cli/render/figures.h"

namespace stint::cli {
namespace {

/// "4x c5n.large on-demand", "the object store", "an on-demand VM".
std::string place_text(const CheckpointSchedule& schedule) {
  switch (schedule.place) {
    case CheckpointPlace::kObjectStore:
      return "the object store";
    case CheckpointPlace::kAnchor:
      return "an on-demand VM";
    case CheckpointPlace::kTier:
      return fmt::format("{}x {} on-demand", schedule.receivers.value_or(1),
                         schedule.receiver.value_or("receivers"));
  }
  return "";
}

/// When a checkpoint is written: at intervals, at a notice into which it fits, both or never.
std::string when_text(const CheckpointSchedule& schedule) {
  const bool notice = schedule.fits_in_notice.value_or(false);
  if (!schedule.interval) return notice ? " at an interruption notice" : "";
  return fmt::format(" every {}{}", duration(*schedule.interval),
                     notice ? " and at an interruption notice" : "");
}

/// Training waits for the copy alone; the upload overlaps with it.
std::string cost_text(const CheckpointSchedule& schedule) {
  if (!schedule.stall || !schedule.transfer) return "";
  return fmt::format(
      "One checkpoint stalls training for {} (copy to host memory) and uploads for {} while "
      "training goes on.",
      duration(*schedule.stall), duration(*schedule.transfer));
}

std::string losses_text(const Plan& plan) {
  const CheckpointSchedule& schedule = *plan.checkpoint;
  std::string text = fmt::format("Expected interruptions: {:.2g}", *plan.losses);
  if (schedule.fits_in_notice) {
    text += *schedule.fits_in_notice
                ? "; a checkpoint fits into the notice"
                : "; a checkpoint does not fit into the notice, and work since "
                  "the last one is repeated";
  }
  if (schedule.interval && schedule.daly_interval) {
    text += fmt::format("; Daly's interval is {}", duration(*schedule.daly_interval));
  }
  return text + ".";
}

}  // namespace

std::vector<std::string> checkpoint_lines(const Plan& plan) {
  if (!plan.checkpoint) return {};
  const CheckpointSchedule& schedule = *plan.checkpoint;
  const std::string when = when_text(schedule);
  if (when.empty()) {
    std::string text =
        "Plan 1 writes no checkpoint: it would cost more than the work that interruptions repeat";
    if (schedule.fits_in_notice) text += ", and does not fit into the interruption notice";
    if (plan.losses) text += fmt::format(" (expected interruptions: {:.2g})", *plan.losses);
    return {text + "."};
  }
  std::vector<std::string> lines = {
      fmt::format("Plan 1 writes a checkpoint to {}{}.", place_text(schedule), when)};
  if (const std::string cost = cost_text(schedule); !cost.empty()) lines.push_back(cost);
  if (plan.losses) lines.push_back(losses_text(plan));
  return lines;
}

}  // namespace stint::cli
