#include "cli/render/render_explain.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_layouts.h"
#include "cli/render/render_plan.h"
#include "cli/render/render_prediction.h"
#include "cli/views/plan_views.h"

namespace stint::cli {
namespace {

std::string collective_name(Collective collective) {
  for (const auto& [value, name] : names_of(Collective{})) {
    if (value == collective) return name;
  }
  return "";
}

std::string heading(const Explanation& it) {
  std::string text =
      fmt::format("{}, plan {}: {}\n", without_controls(it.job.value_or("a saved plan")),
                  it.row + 1, to_text(it.plan.cluster));
  if (it.goal) text += fmt::format("Asked for: {}\n", goal_text(*it.goal));
  return text + "\n";
}

std::string explained_bill(const Explanation& it) {
  constexpr int kBar = 40;
  std::string text;
  for (const PartOf<Dollars>& part : it.bill) {
    const auto length = static_cast<std::size_t>(std::lround(part.share * kBar));
    const std::string row =
        fmt::format("{:<16}{:>10}{:>6.1f} %  {}", part.name, dollars(part.amount), 100 * part.share,
                    std::string(length, '#'));
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text + fmt::format("{:<16}{:>10}  80 % between {} and {}\n\n", "bill",
                            dollars(it.plan.cost.mean), dollars(it.plan.cost.p10),
                            dollars(it.plan.cost.p90));
}

std::string time_text(const Explanation& it, const Terminal& terminal) {
  const TimeRange& time = it.plan.time;
  std::string text;
  if (it.plan.sharding) {
    text += layout_parts_text(*it.plan.sharding) + "\n";
  } else if (it.plan.prediction) {
    text += iteration_text(it.plan.prediction->iteration) + "\n";
  }
  std::string whole =
      fmt::format("{}, 80 % between {} and {}", hours(time.mean), hours(time.p10), hours(time.p90));
  if (it.training) {
    whole += fmt::format(": {} iterations of {} are {}", *it.plan.iterations,
                         milliseconds(it.plan.prediction->iteration.mean), hours(*it.training));
    const Seconds rest = time.mean - *it.training;
    // Less would show as nothing.
    if (rest > 0.005 * kHour) whole += fmt::format(", start-up and waiting {}", hours(rest));
  }
  text += sheet_line("time", whole, terminal);
  if (it.plan.p_deadline) text += sheet_line("in time", percent(*it.plan.p_deadline), terminal);
  if (it.plan.p_budget) text += sheet_line("in budget", percent(*it.plan.p_budget), terminal);
  return text;
}

std::string group_text(const Layout& layout, std::size_t group) {
  const VmGroup& vms = layout.cluster.groups[group];
  const GroupSetup& setup = layout.setups[group];
  const int workers = vms.count * setup.workers_per_vm;
  return fmt::format("{}: {}, {} per VM, with up to {} samples each",
                     to_text(Cluster{.groups = {vms}}),
                     counted(static_cast<std::size_t>(workers), "worker"), setup.workers_per_vm,
                     setup.batch_per_worker);
}

std::string layout_text(const Explanation& it, const Terminal& terminal) {
  std::string text = sharding_text(it.plan, terminal);
  if (it.plan.layout && !it.plan.sharding) {
    const Layout& layout = *it.plan.layout;
    for (std::size_t group = 0; group < layout.setups.size(); ++group) {
      text += sheet_line(group == 0 ? "layout" : "", group_text(layout, group), terminal);
    }
    std::string batch =
        it.plan.global_batch ? fmt::format("{} per iteration", *it.plan.global_batch) : "unknown";
    if (layout.accumulation > 1) batch += fmt::format(" in {} micro-steps", layout.accumulation);
    text += sheet_line("samples", batch, terminal);
    text += sheet_line("gradients", collective_name(layout.collective), terminal);
  }
  if (!it.plan.prediction) return text;
  text += batch_text(*it.plan.prediction, terminal);
  const auto& price = it.plan.prediction->price;
  if (!price) return text;
  return text + sheet_line("price",
                           fmt::format("{}/h in {}, as of {}", dollars(price->rate * kHour),
                                       price->region, to_text(price->date)),
                           terminal);
}

/// " (mostly communication)".
template <class Q>
std::string cause(const std::optional<PartOf<Q>>& part) {
  if (!part) return "";
  return fmt::format(" ({} {})", part->share >= 0.5 ? "mostly" : "chiefly", part->name);
}

std::string runner_up_text(const RunnerUp& next) {
  const bool dearer = next.dearer >= Dollars{};
  const bool longer = next.longer >= Seconds{};
  return fmt::format("plan {}, {}: {} {}{}, {} {}{}", next.row + 1, to_text(next.plan.cluster),
                     dollars(dearer ? next.dearer : -next.dearer), dearer ? "dearer" : "cheaper",
                     cause(next.dearer_by), hours(longer ? next.longer : -next.longer),
                     longer ? "longer" : "shorter", cause(next.longer_by));
}

std::string flip_text(const Explanation& it, const RunnerUp& next) {
  const OrderFlip& flip = *next.flip;
  std::vector<std::string> ways;
  const auto shown = [](double fraction) { return fmt::format("{:.1f} %", 100 * fraction); };
  if (flip.price_up) {
    ways.push_back(fmt::format("VMs of plan {} {} dearer", it.row + 1, shown(*flip.price_up)));
  }
  if (flip.price_down) {
    ways.push_back(fmt::format("VMs of plan {} {} cheaper", next.row + 1, shown(*flip.price_down)));
  }
  if (flip.time_up) {
    ways.push_back(
        fmt::format("plan {} {} slower than predicted (its interval is ±{}: probability {} if plan "
                    "{} is as predicted, less if their errors correlate)",
                    it.row + 1, shown(*flip.time_up), shown(flip.time_interval),
                    percent(flip.chance), next.row + 1));
  }
  return join(ways, "; or ");
}

std::string later_text(const LaterPlan& later) {
  return fmt::format("With --deadline {}, {} would cost {}: {} less.",
                     deadline_flag(later.deadline), to_text(later.plan.cluster),
                     dollars(later.plan.cost.mean), dollars(later.saved));
}

FlipView view_of(const OrderFlip& flip) {
  return {.price_up = flip.price_up,
          .runner_up_price_down = flip.price_down,
          .time_up = flip.time_up,
          .p_time_up = flip.time_up ? std::optional(flip.chance) : std::nullopt,
          .time_interval = flip.time_interval};
}

RunnerUpView view_of(const RunnerUp& next) {
  return {.plan = static_cast<int>(next.row) + 1,
          .cluster = to_text(next.plan.cluster),
          .dearer = next.dearer,
          .longer = next.longer,
          .dearer_by = next.dearer_by,
          .longer_by = next.longer_by,
          .flip = next.flip ? std::optional(view_of(*next.flip)) : std::nullopt};
}

LaterView view_of(const LaterPlan& later) {
  return {.cluster = to_text(later.plan.cluster), .deadline = later.deadline, .saved = later.saved};
}

}  // namespace

std::string explanation_sheet(const Explanation& explanation, const Terminal& terminal) {
  std::string text = heading(explanation) + explained_bill(explanation) +
                     time_text(explanation, terminal) + layout_text(explanation, terminal);
  const auto& next = explanation.runner_up;
  if (next) text += "\n" + sheet_line("runner-up", runner_up_text(*next), terminal);
  if (next && next->flip) {
    text += sheet_line("swap if", flip_text(explanation, *next), terminal);
  }
  if (explanation.later) {
    text += sheet_line("later", later_text(*explanation.later), terminal);
  }
  return text;
}

Json explanation_json(const Explanation& explanation) {
  const Plan& plan = explanation.plan;
  ExplanationView view{.job = explanation.job,
                       .plan = static_cast<int>(explanation.row) + 1,
                       .cluster = to_text(plan.cluster),
                       .cost = plan.cost,
                       .bill = explanation.bill,
                       .time = plan.time,
                       .iteration = explanation.iteration,
                       .iterations = plan.iterations,
                       .training = explanation.training,
                       .layout = plan.layout,
                       .parallel_layout = plan.parallel_layout,
                       .sharding = plan.sharding,
                       .layout_runner_up = plan.runner_up,
                       .runner_up = {},
                       .later = {}};
  if (explanation.runner_up) view.runner_up = view_of(*explanation.runner_up);
  if (explanation.later) view.later = view_of(*explanation.later);
  return encoded(view);
}

}  // namespace stint::cli
