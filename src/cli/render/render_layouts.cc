#include "cli/render/render_layouts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/views/layout_views.h"

namespace stint::cli {
namespace {

/// "6.18 s (4.48–8.51)", in milliseconds below a second.
std::string interval_cell(const LayoutEstimate& it) {
  const bool long_time = it.mean >= kSecond;
  const Seconds unit = long_time ? kSecond : kMillisecond;
  const int digits = it.mean < 10 * unit ? 2 : it.mean < 100 * unit ? 1 : 0;
  return fmt::format("{:.{}f} {} ({:.{}f}–{:.{}f})", it.mean.in(unit), digits,
                     long_time ? "s" : "ms", it.p10.in(unit), digits, it.p90.in(unit), digits);
}

std::string memory_cell(const LayoutEstimate& it) {
  return fmt::format("{:.1f} of {:.0f} GB", it.reserved.in(kGB), it.available.in(kGB));
}

std::string share_cell(const LayoutEstimate& it, Seconds part) {
  return part <= Seconds{} ? "" : percent(part / it.mean);
}

std::string tokens_cell(const LayoutEstimate& it) {
  if (!it.tokens_per_second) return "";
  const double rate = *it.tokens_per_second;
  return rate >= 1e4 ? fmt::format("{:.1f} k", rate / 1e3) : fmt::format("{:.0f}", rate);
}

/// What every layout of the list has in common is said once, below it.
bool all_have(const LayoutsAnswer& answer, const std::string& part) {
  return std::all_of(answer.layouts.begin(), answer.layouts.end(), [&](const LayoutEstimate& it) {
    return std::find(it.unvalidated.begin(), it.unvalidated.end(), part) != it.unvalidated.end();
  });
}

std::string doubts_cell(const LayoutsAnswer& answer, const LayoutEstimate& it) {
  std::vector<std::string> own;
  for (const std::string& part : it.unvalidated) {
    if (!all_have(answer, part)) own.push_back(part);
  }
  return join(own, ", ");
}

std::string heading(const LayoutsAnswer& it) {
  return fmt::format("{} on {}: {} of {}, batch of {}{}\n\n", without_controls(it.model),
                     without_controls(it.cluster),
                     counted(static_cast<std::size_t>(it.workers), "worker"), it.gpu,
                     it.global_batch, it.sequence ? fmt::format(" × {} tokens", *it.sequence) : "");
}

std::string layouts_table(const LayoutsAnswer& answer, const Terminal& terminal) {
  // Doubts are worth their room only where there are any.
  const bool doubts =
      std::any_of(answer.layouts.begin(), answer.layouts.end(),
                  [&](const LayoutEstimate& it) { return !doubts_cell(answer, it).empty(); });
  Table table({{.title = "#", .align = Align::kRight, .importance = 9},
               {.title = "layout", .importance = 9, .width_min = 24},
               right("iteration (80 %)", 9),
               right("tokens/s", 6),
               right("memory", 8),
               right("fits", 8),
               right("compute", 5),
               right("tensor", 4),
               right("gathers", 4),
               right("bubble", 4),
               right("gradients", 4),
               {.title = "unvalidated", .importance = doubts ? 8 : 0, .width_min = 12}});
  for (std::size_t i = 0; i < answer.layouts.size(); ++i) {
    const LayoutEstimate& it = answer.layouts[i];
    table.add({std::to_string(i + 1), to_text(it.layout), interval_cell(it), tokens_cell(it),
               memory_cell(it), percent(it.p_fits),
               share_cell(it, it.parts.forward + it.parts.backward),
               share_cell(it, it.parts.tensor), share_cell(it, it.parts.gathers),
               share_cell(it, it.parts.bubble + it.parts.point_to_point),
               share_cell(it, it.parts.gradients), doubts_cell(answer, it)});
  }
  return table.text(terminal);
}

/// What is not validated of all layouts of the answer.
std::string common_doubts(const LayoutsAnswer& answer, const Terminal& terminal) {
  if (answer.layouts.empty()) return "";
  std::vector<std::string> common;
  for (const std::string& part : answer.layouts.front().unvalidated) {
    if (all_have(answer, part)) common.push_back(part);
  }
  if (common.empty()) return "";
  return sheet_line(
      "unvalidated",
      fmt::format("{}: no measured row is behind {} of any layout above.", join(common, ", "),
                  common.size() > 1 ? "these parts" : "this part"),
      terminal);
}

std::string infeasible_text(const LayoutsAnswer& it, const Terminal& terminal) {
  std::string text =
      sheet_line("feasible",
                 fmt::format("{} of {} layouts fit into memory with {} probability.", it.fitting,
                             it.fitting + it.too_large, percent(it.confidence)),
                 terminal);
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : it.impossible) {
    reasons.push_back(fmt::format("{}: {}", reason, count));
  }
  if (reasons.empty()) return text;
  return text +
         sheet_line("left out",
                    fmt::format("Divisions of the workers by reason: {}.", join(reasons, "; ")),
                    terminal);
}

/// What a part belongs to, by the word of the layout that makes it.
std::string cause_of(const LayoutEstimate& it, const LayoutPart& part) {
  const ParallelLayout& layout = it.layout;
  if (part.field == &LayoutParts::tensor) {
    return fmt::format("tp{}{}{}", layout.tensor,
                       layout.context > 1 ? fmt::format(" cp{}", layout.context) : "",
                       layout.expert > 1 ? fmt::format(" ep{}", layout.expert) : "");
  }
  if (part.field == &LayoutParts::gathers) return fmt::format("zero{}", layout.zero);
  if (part.field == &LayoutParts::gradients) return fmt::format("dp{}", layout.data);
  const bool stages =
      part.field == &LayoutParts::bubble || part.field == &LayoutParts::point_to_point;
  if (stages) return fmt::format("pp{}", layout.pipeline);
  if (part.field == &LayoutParts::backward && layout.recompute != Recompute::kNone) {
    return fmt::format("recompute:{}", name_of(layout.recompute));
  }
  return "";
}

/// "pipeline bubble 12 %, tensor collectives 8 %".
std::string axes_text(const LayoutEstimate& it) {
  std::vector<std::pair<Seconds, std::string>> costs;
  for (const LayoutPart& part : layout_parts()) {
    const std::string cause = cause_of(it, part);
    const Seconds time = it.parts.*part.field;
    if (cause.empty() || time / it.mean < 0.001) continue;
    if (part.field == &LayoutParts::backward) continue;
    costs.emplace_back(time, fmt::format("{} ({}) {}", part.name, cause, percent(time / it.mean)));
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (const auto& [time, text] : costs) texts.push_back(text);
  return texts.empty() ? "nothing beside computing" : join(texts, ", ");
}

}  // namespace

std::string layout_parts_text(const LayoutEstimate& it) {
  constexpr int kBar = 40;
  std::string text;
  for (const LayoutPart& part : layout_parts()) {
    const Seconds time = it.parts.*part.field;
    if (time <= Seconds{}) continue;
    const double share = time / it.mean;
    const auto length = static_cast<std::size_t>(std::lround(share * kBar));
    const std::string row =
        fmt::format("{:<20}{:<18}{:>10}{:>6.1f} %  {}", part.name, cause_of(it, part),
                    milliseconds(time), 100 * share, std::string(length, '#'));
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text + fmt::format("{:<20}{:<18}{:>10}  80 % between {} and {}\n", "iteration", "",
                            milliseconds(it.mean), milliseconds(it.p10), milliseconds(it.p90));
}

std::string layout_sheet(const LayoutEstimate& it, const Terminal& terminal) {
  std::string text = layout_parts_text(it) + "\n";
  if (it.tokens_per_second) text += sheet_line("tokens/s", tokens_cell(it), terminal);
  text += sheet_line("memory",
                     fmt::format("{:.1f} GB reserved ({:.1f} GB allocated) of {:.0f} GB on the "
                                 "fullest worker; fits with {} probability",
                                 it.reserved.in(kGB), it.allocated.in(kGB), it.available.in(kGB),
                                 percent(it.p_fits)),
                     terminal);
  if (!it.unvalidated.empty()) {
    text += sheet_line("unvalidated", join(it.unvalidated, ", "), terminal);
  }
  return text;
}

std::string layouts_sheet(const LayoutsAnswer& answer, const Terminal& terminal) {
  if (answer.layouts.empty()) return heading(answer) + infeasible_text(answer, terminal);
  return heading(answer) + layouts_table(answer, terminal) + "\n" +
         common_doubts(answer, terminal) + infeasible_text(answer, terminal);
}

std::string layouts_json(const LayoutsAnswer& answer) {
  const LayoutsView view{.model = answer.model,
                         .cluster = answer.cluster,
                         .gpu = answer.gpu,
                         .workers = answer.workers,
                         .global_batch = answer.global_batch,
                         .sequence = answer.sequence,
                         .confidence = answer.confidence,
                         .fitting = answer.fitting,
                         .too_large = answer.too_large,
                         .impossible = answer.impossible,
                         .layouts = answer.layouts,
                         .advice = answer.advice};
  return to_text(encoded(view), JsonStyle::kPretty) + "\n";
}

std::string layouts_csv(const LayoutsAnswer& answer) {
  std::string text =
      csv_line({"layout", "iteration_s", "p10_s", "p90_s", "tokens_per_s", "reserved_gb",
                "available_gb", "p_fits", "compute_s", "tensor_s", "gathers_s", "point_to_point_s",
                "bubble_s", "gradients_s", "update_s", "host_s", "unvalidated"});
  const auto number = [](double value) { return fmt::format("{:.6g}", value); };
  for (const LayoutEstimate& it : answer.layouts) {
    text += csv_line(
        {to_text(it.layout), number(it.mean.in(kSecond)), number(it.p10.in(kSecond)),
         number(it.p90.in(kSecond)), it.tokens_per_second ? number(*it.tokens_per_second) : "",
         number(it.reserved.in(kGB)), number(it.available.in(kGB)), number(it.p_fits),
         number((it.parts.forward + it.parts.backward).in(kSecond)),
         number(it.parts.tensor.in(kSecond)), number(it.parts.gathers.in(kSecond)),
         number(it.parts.point_to_point.in(kSecond)), number(it.parts.bubble.in(kSecond)),
         number(it.parts.gradients.in(kSecond)), number(it.parts.update.in(kSecond)),
         number(it.parts.host.in(kSecond)), join(it.unvalidated, "; ")});
  }
  return text;
}

std::string layouts_problem(const LayoutsAnswer& answer) {
  const std::string which =
      answer.layouts.empty()
          ? fmt::format("none of the {} layouts of {}", answer.too_large, answer.model)
          : fmt::format("the layout '{}' of {} does not", to_text(answer.layouts[0].layout),
                        answer.model);
  const std::string verb = answer.layouts.empty() ? " fits" : " fit";
  return fmt::format(
      "{}{} on {} with {} probability{}", which, verb, answer.cluster, percent(answer.confidence),
      answer.advice ? "; " + *answer.advice : "; no VM type of its provider holds the model");
}

std::string sharding_text(const Plan& plan, const Terminal& terminal) {
  if (!plan.sharding) return "";
  const LayoutEstimate& it = *plan.sharding;
  std::string text =
      sheet_line("sharding",
                 fmt::format("'{}': {} of the fullest GPU, fits with {} probability.",
                             to_text(it.layout), memory_cell(it), percent(it.p_fits)),
                 terminal);
  text += sheet_line("", fmt::format("Of an iteration: {}.", axes_text(it)), terminal);
  if (!plan.runner_up) return text;
  const LayoutEstimate& next = *plan.runner_up;
  return text + sheet_line("",
                           fmt::format("Runner-up: '{}', {} longer.", to_text(next.layout),
                                       percent(next.mean / it.mean - 1)),
                           terminal);
}

}  // namespace stint::cli
