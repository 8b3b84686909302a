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

}  // namespace stint
