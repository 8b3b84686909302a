#include "run/run_lines.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "run/run_record.h"
#include "supervise/run_terms.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

// More are counted: a line with a thousand names says less, and a journal keeps 10,000 lines.
constexpr std::size_t kNamesMax = 16;

std::string names_of_vms(const std::vector<int>& vms) {
  if (vms.size() > kNamesMax) return counted(vms.size(), "machine");
  std::vector<std::string> names;
  for (const int vm : vms) names.push_back(vm_name(vm));
  return join(names, ", ");
}

std::string seconds_text(Seconds time) { return fmt::format("{:.1f} s", time.in(kSecond)); }

std::string market_text(Market market) { return market == Market::kSpot ? "spot" : "on-demand"; }

// A shorter pause, as of a busy computer, is not told.
constexpr Seconds kSleepTold = 1 * kMinute;

std::optional<std::string> slept_text(Seconds time) {
  if (time < kSleepTold) return std::nullopt;
  return fmt::format(
      "Stint did not run for {} (the computer was suspended, or the process stopped); the time "
      "counts for the deadline and the cost, but not against workers",
      rounded(time));
}

std::optional<std::string> event_text(const Supervisor& supervisor, const RunEvent& event) {
  const std::string vm = event.vm ? vm_name(*event.vm) : "";
  switch (event.kind) {
    case Event::kVmUp: {
      if (!event.vm || *event.vm >= static_cast<int>(supervisor.vms().size())) return std::nullopt;
      const RunVm& it = supervisor.vms()[static_cast<std::size_t>(*event.vm)];
      return fmt::format("{} is up ({}, {})", vm, machine_type(it), market_text(it.market));
    }
    case Event::kLaunchRefused:
      return fmt::format("{} was refused: {}", vm, event.reason.value_or("no reason given"));
    case Event::kNotice:
      return fmt::format("{} will be interrupted in {}", vm,
                         seconds_text(event.duration.value_or(Seconds{})));
    case Event::kVmLost:
      return fmt::format("{} is lost", vm);
    case Event::kWorkersUp:
      return supervisor.attempt()
                 ? std::optional(fmt::format("training on {} after step {}",
                                             names_of_vms(supervisor.attempt()->vms),
                                             event.step.value_or(0)))
                 : std::nullopt;
    case Event::kSaved:
      if (supervisor.plain()) {
        // Scripts rename what they wrote, so only the folder is certain.
        const std::string path = event.reason.value_or("");
        return fmt::format("the script saved a checkpoint at step {} in {}", event.step.value_or(0),
                           path.substr(0, path.rfind('/')));
      }
      return fmt::format("checkpoint of step {} is complete, after {}", event.step.value_or(0),
                         seconds_text(event.duration.value_or(Seconds{})));
    case Event::kWorkerLost:
      return fmt::format("the worker on {} is lost{}", vm,
                         event.reason && !event.reason->empty() ? ": " + *event.reason : "");
    case Event::kPrices:
      return event.spot ? std::optional(fmt::format("the spot price is {:.4f} USD/h per machine",
                                                    event.spot->in(kDollar / kHour)))
                        : std::nullopt;
    case Event::kCapacity:
      return event.count ? std::optional(fmt::format(
                               "the spot capacity is {}",
                               counted(static_cast<std::size_t>(*event.count), "machine")))
                         : std::nullopt;
    case Event::kTerms:
    case Event::kRemark:
      return event.reason;
    case Event::kResumed:
      return "resumed by a new process";
    case Event::kStop:
      return event.reason.value_or("stop requested");
    case Event::kSlept:
      return slept_text(event.duration.value_or(Seconds{}));
    case Event::kSaveFailed:
    case Event::kTick:
    case Event::kStepDone:
    case Event::kWorkersDone:
    case Event::kPlain:
    case Event::kTakesOrders:
    case Event::kBilled:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<StoryLine> lines_of(const Supervisor& supervisor, const RunMoment& moment) {
  std::vector<StoryLine> lines;
  // The supervisor's message about a loss contains more than the event.
  const bool said = std::any_of(moment.actions.begin(), moment.actions.end(),
                                [](const RunAction& it) { return it.kind == Act::kSay; });
  const Event kind = moment.event.kind;
  const bool covered = said && (kind == Event::kNotice || kind == Event::kVmLost ||
                                kind == Event::kWorkerLost || kind == Event::kLaunchRefused);
  if (auto text = covered ? std::nullopt : event_text(supervisor, moment.event)) {
    lines.push_back(
        {.at = moment.event.at, .text = std::move(*text), .saved = kind == Event::kSaved});
  }
  for (const RunAction& action : moment.actions) {
    if (action.kind == Act::kSay) lines.push_back({.at = moment.event.at, .text = action.reason});
    if (action.kind == Act::kReplan) {
      lines.push_back({.at = moment.event.at, .text = "replanning: " + action.reason});
    }
    if (action.kind == Act::kFinish) {
      lines.push_back({.at = moment.event.at,
                       .text = fmt::format("{}: {}", name_of(action.outcome), action.reason)});
    }
  }
  return lines;
}

}  // namespace stint
