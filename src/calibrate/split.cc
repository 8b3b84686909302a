#include "calibrate/split.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/text.h"

namespace stint {
namespace {

/// Assigns each usable row by `is_test`; rows with one worker always train.
template <class IsTest>
Fold fold_by(std::span<const StepRow> rows, IsTest is_test) {
  Fold fold;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].unusable.empty()) continue;
    (workers(rows[i]) > 1 && is_test(rows[i]) ? fold.test : fold.train).push_back(i);
  }
  return fold;
}

// With more jobs than this, several are held out at once: harder for the model, and not slower.
constexpr std::size_t kFoldsMax = 10;

/// A held-out job trains only with its rows with one worker, not even with those that are not
/// scored.
Fold without_jobs(std::span<const StepRow> rows, const std::set<std::string>& jobs,
                  TestRows scored) {
  Fold fold = fold_by(rows, [&](const StepRow& row) { return jobs.contains(row.job); });
  if (scored == TestRows::kSeveralVms) {
    std::erase_if(fold.test, [&](std::size_t i) { return rows[i].workers_by_vm.size() < 2; });
  }
  return fold;
}

}  // namespace

Result<Split> parse_split(std::string_view text) {
  constexpr std::string_view kWorkers = "max-gpus=";
  constexpr std::string_view kVms = "max-vms=";
  constexpr std::string_view kDevice = "gpu=";
  if (text == "leave-one-job-out") return Split{};
  for (const std::string_view prefix : {kWorkers, kVms}) {
    if (!text.starts_with(prefix)) continue;
    const auto count = parse_int(text.substr(prefix.size()));
    const auto kind = prefix == kVms ? Split::Kind::kClusterMax : Split::Kind::kWorkersMax;
    if (count && *count >= 1) return Split{.kind = kind, .most = *count};
  }
  if (text.starts_with(kDevice) && text.size() > kDevice.size()) {
    return Split{.kind = Split::Kind::kDevice, .device = std::string(text.substr(kDevice.size()))};
  }
  return bad_usage(
      fmt::format("--split must be leave-one-job-out, max-gpus=N, max-vms=N or gpu=NAME, not '{}'",
                  printable(text)));
}

std::string to_text(const Split& split) {
  switch (split.kind) {
    case Split::Kind::kLeaveOneJobOut:
      return "leave-one-job-out";
    case Split::Kind::kWorkersMax:
      return fmt::format("max-gpus={}", split.most);
    case Split::Kind::kClusterMax:
      return fmt::format("max-vms={}", split.most);
    case Split::Kind::kDevice:
      return "gpu=" + split.device;
  }
  CHECK(false);
}

std::vector<Fold> folds(const Split& split, std::span<const StepRow> rows, TestRows scored) {
  std::vector<Fold> folds;
  if (split.kind == Split::Kind::kLeaveOneJobOut) {
    std::set<std::string> jobs;
    for (const StepRow& row : rows) jobs.insert(row.job);
    const std::size_t count = std::min(kFoldsMax, jobs.size());
    std::vector<std::set<std::string>> left_out(count);
    std::size_t next = 0;
    for (const std::string& job : jobs) left_out[next++ % count].insert(job);
    for (const auto& group : left_out) {
      Fold fold = without_jobs(rows, group, scored);
      if (!fold.test.empty()) folds.push_back(std::move(fold));
    }
    return folds;
  }
  Fold fold = fold_by(rows, [&](const StepRow& row) {
    if (split.kind == Split::Kind::kDevice) return row.device == split.device;
    const auto most = static_cast<std::size_t>(split.most);
    if (split.kind == Split::Kind::kClusterMax) return row.workers_by_vm.size() > most;
    return workers(row) > split.most;
  });
  if (!fold.test.empty()) folds.push_back(std::move(fold));
  return folds;
}

}  // namespace stint
