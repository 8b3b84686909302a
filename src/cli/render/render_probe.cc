#include "cli/render/render_probe.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_prediction.h"
#include "cli/views/machine_views.h"

namespace stint::cli {
namespace {

std::string signed_percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

Seconds spread_of(const ProbedSum& sum) { return sum.time.spread.value_or(Seconds{}); }

/// Measured over predicted.
double ratio_of(const ProbedSum& sum) { return sum.time.median / sum.predicted; }

std::vector<const ProbedSum*> pairs_of(const ProbeReport& report) {
  std::vector<const ProbedSum*> pairs;
  for (const ProbedSum& sum : report.sums) {
    if (sum.planned.pair) pairs.push_back(&sum);
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const ProbedSum* a, const ProbedSum* b) { return ratio_of(*a) < ratio_of(*b); });
  return pairs;
}

/// Whether a sum is over the first VMs of the cluster, as those by size are.
bool over_first(const PlannedSum& sum) {
  for (std::size_t i = 0; i < sum.vms.size(); ++i) {
    if (sum.vms[i] != static_cast<int>(i)) return false;
  }
  return true;
}

std::string pair_name(const ProbeReport& report, const ProbedSum& sum) {
  std::vector<std::string> names;
  for (const int vm : sum.planned.vms) names.push_back(report.vms[static_cast<std::size_t>(vm)]);
  return join(names, "-");
}

std::string sum_table(const ProbeReport& report, const Terminal& terminal) {
  Table table({{.title = "VMs", .align = Align::kRight, .importance = 9},
               {.title = "size", .align = Align::kRight, .importance = 9},
               {.title = "time", .align = Align::kRight, .importance = 8},
               {.title = "spread", .align = Align::kRight, .importance = 5},
               {.title = "times", .align = Align::kRight, .importance = 3},
               {.title = "per NIC", .align = Align::kRight, .importance = 6},
               {.title = "predicted", .align = Align::kRight, .importance = 7},
               {.title = "error", .align = Align::kRight, .importance = 7}});
  for (const ProbedSum& sum : report.sums) {
    if (!over_first(sum.planned)) continue;
    table.add({fmt::format("{}", sum.planned.vms.size()), megabytes(sum.planned.bytes),
               milliseconds(sum.time.median), percent(spread_of(sum) / sum.time.median),
               fmt::format("{}", sum.time.count.value_or(1)),
               fmt::format("{:.0f} Mbit/s", sum.bus.in(kMbit / kSecond)),
               milliseconds(sum.predicted), signed_percent(ratio_of(sum))});
  }
  return table.text(terminal, "-o json");
}

std::string pairs_text(const ProbeReport& report) {
  const auto pairs = pairs_of(report);
  if (pairs.size() < 2) return "one: nothing to compare";
  return fmt::format("{} of {}; relative to the rate of their NICs {} ({}) to {} ({})",
                     pairs.size(), megabytes(pairs.front()->planned.bytes),
                     signed_percent(ratio_of(*pairs.front())), pair_name(report, *pairs.front()),
                     signed_percent(ratio_of(*pairs.back())), pair_name(report, *pairs.back()));
}

std::string spread_text(const ReductionSpread& spread) {
  std::vector<std::string> parts;
  const auto add = [&](const std::optional<double>& deviation, const char* what) {
    if (deviation) parts.push_back(fmt::format("{:.1f} % {}", 100 * *deviation, what));
  };
  add(spread.repeats, "between repetitions");
  add(spread.time, "between rounds");
  add(spread.pairs, "between pairs");
  return parts.empty() ? "unknown: nothing was repeated" : join(parts, ", ");
}

std::string expected_text(const ProbeReport& report, const Date& today) {
  return fmt::format("{}: mean error {:.1f} % on these {} all-reduces",
                     calibration_age(report.before.name, report.before.date, today),
                     100 * report.mape, report.sums.size());
}

std::string folded_text(const Calibration& calibration) {
  const AccuracyRecord& record = calibration.accuracy.back();
  return fmt::format(
      "with this probe folded in, cluster sizes held out in turn: mean error {:.1f} % ({} "
      "all-reduces)",
      100 * record.mape, record.n);
}

}  // namespace

std::string outline_text(const ProbeOutline& outline, const ProbeRequest& request,
                         const Terminal& terminal) {
  const auto pairs = std::count_if(outline.sums.begin(), outline.sums.end(),
                                   [](const PlannedSum& sum) { return sum.pair; });
  const auto repeats = static_cast<std::size_t>(request.repeats);
  const auto rounds = static_cast<std::size_t>(request.rounds);
  return sheet_line("cluster", request.cluster, terminal) +
         sheet_line("sums",
                    fmt::format("{}, of them {} over pairs; each {} in {}", outline.sums.size(),
                                pairs, counted(repeats, "time"), counted(rounds, "round")),
                    terminal) +
         sheet_line("takes", fmt::format("about {:.0f} s", outline.duration.in(kSecond)), terminal);
}

std::string probe_text(const ProbeReport& report, const Date& today, const Terminal& terminal) {
  std::string text = sum_table(report, terminal) + "\n";
  text += sheet_line("pairs", pairs_text(report), terminal);
  text += sheet_line("varies", spread_text(report.spread), terminal);
  text += sheet_line("calibration", expected_text(report, today), terminal);
  if (report.folded) text += sheet_line("folded", folded_text(*report.folded), terminal);
  return text;
}

Json probe_json(const ProbeReport& report, const Date& today) {
  const ReductionSpread& spread = report.spread;
  ProbeView view{
      .cluster = report.cluster,
      .sums = {},
      .spread = {.repeats = spread.repeats, .time = spread.time, .pairs = spread.pairs},
      .calibration = {.name = report.before.name,
                      .date = report.before.date,
                      .age_days = static_cast<int>(days_between(report.before.date, today)),
                      .mape = report.mape},
      .folded_mape = {}};
  for (const ProbedSum& sum : report.sums) {
    ProbedSumView& one = view.sums.emplace_back(ProbedSumView{.vms = {},
                                                              .bytes = sum.planned.bytes,
                                                              .pair = sum.planned.pair,
                                                              .median = sum.time.median,
                                                              .spread = spread_of(sum),
                                                              .count = sum.time.count.value_or(1),
                                                              .bus = sum.bus,
                                                              .predicted = sum.predicted});
    for (const int vm : sum.planned.vms) {
      one.vms.push_back(report.vms[static_cast<std::size_t>(vm)]);
    }
  }
  if (report.folded) view.folded_mape = report.folded->accuracy.back().mape;
  return encoded(view);
}

}  // namespace stint::cli
