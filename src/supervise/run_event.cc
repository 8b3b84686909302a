#include "supervise/run_event.h"

#include <array>

namespace stint {

std::span<const EnumName<RunEventKind>> names_of(RunEventKind /*type*/) {
  using K = RunEventKind;
  static constexpr std::array kNames =
      std::to_array<EnumName<K>>({{K::kTick, "tick"},
                                  {K::kVmUp, "vm-up"},
                                  {K::kLaunchRefused, "launch-refused"},
                                  {K::kNotice, "notice"},
                                  {K::kVmLost, "vm-lost"},
                                  {K::kCapacity, "capacity"},
                                  {K::kWorkersUp, "workers-up"},
                                  {K::kStepDone, "step-done"},
                                  {K::kSaved, "saved"},
                                  {K::kSaveFailed, "save-failed"},
                                  {K::kWorkerLost, "worker-lost"},
                                  {K::kWorkersDone, "workers-done"},
                                  {K::kPlain, "plain"},
                                  {K::kTakesOrders, "takes-orders"},
                                  {K::kBilled, "billed"},
                                  {K::kPrices, "prices"},
                                  {K::kTerms, "terms"},
                                  {K::kRemark, "remark"},
                                  {K::kResumed, "resumed"},
                                  {K::kStop, "stop"},
                                  {K::kSlept, "slept"}});
  return kNames;
}

std::span<const EnumName<RunActionKind>> names_of(RunActionKind /*type*/) {
  using K = RunActionKind;
  static constexpr std::array kNames = std::to_array<EnumName<K>>({{K::kLaunch, "launch"},
                                                                   {K::kRelease, "release"},
                                                                   {K::kTrain, "train"},
                                                                   {K::kSave, "save"},
                                                                   {K::kReplan, "replan"},
                                                                   {K::kSay, "say"},
                                                                   {K::kFinish, "finish"}});
  return kNames;
}

std::span<const EnumName<RunVerdict>> names_of(RunVerdict /*type*/) {
  static constexpr std::array kNames =
      std::to_array<EnumName<RunVerdict>>({{RunVerdict::kTrained, "trained"},
                                           {RunVerdict::kStopped, "stopped"},
                                           {RunVerdict::kGaveUp, "gave-up"}});
  return kNames;
}

bool is_order(const RunAction& action) {
  return action.kind != RunActionKind::kSay && action.kind != RunActionKind::kReplan;
}

bool same_orders(const std::vector<RunAction>& a, const std::vector<RunAction>& b) {
  const auto next = [](const std::vector<RunAction>& list, std::size_t from) {
    while (from < list.size() && !is_order(list[from])) ++from;
    return from;
  };
  std::size_t i = next(a, 0);
  std::size_t j = next(b, 0);
  while (i < a.size() && j < b.size()) {
    RunAction one = a[i];
    one.reason = b[j].reason;  // Words may differ.
    if (one != b[j]) return false;
    i = next(a, i + 1);
    j = next(b, j + 1);
  }
  return i == a.size() && j == b.size();
}

}  // namespace stint
