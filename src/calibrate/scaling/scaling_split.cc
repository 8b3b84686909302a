#include "calibrate/scaling/scaling_split.h"

#include <fmt/format.h>
#include <map>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

template <class IsTest>
Fold fold_by(std::span<const ScalingRow> rows, IsTest is_test) {
  Fold fold;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].unusable.empty()) continue;
    (is_test(rows[i]) ? fold.test : fold.train).push_back(i);
  }
  return fold;
}

template <class Key>
std::vector<Fold> leave_out(std::span<const ScalingRow> rows, Key key) {
  std::set<std::string> keys;
  for (const ScalingRow& row : rows) {
    if (row.unusable.empty()) keys.insert(key(row));
  }
  std::vector<Fold> folds;
  for (const std::string& left_out : keys) {
    folds.push_back(fold_by(rows, [&](const ScalingRow& row) { return key(row) == left_out; }));
  }
  return folds;
}

/// The same cluster and job in any edition; tables repeat entries of earlier rounds.
std::string cluster_of(const ScalingRow& row) {
  return fmt::format("{} | {} | {} | {} x {}", row.owner, row.job, row.device, row.workers,
                     row.workers_per_vm);
}

Fold smallest(std::span<const ScalingRow> rows, int count) {
  std::map<std::string, std::set<int>> sizes;
  for (const ScalingRow& row : rows) {
    if (row.unusable.empty()) sizes[series_of(row)].insert(row.workers);
  }
  Fold fold = fold_by(rows, [&](const ScalingRow& row) {
    const std::set<int>& all = sizes.at(series_of(row));
    const auto smaller = std::distance(all.begin(), all.find(row.workers));
    return smaller >= count;
  });
  std::set<std::string> tested;
  for (const std::size_t i : fold.test) tested.insert(cluster_of(rows[i]));
  std::erase_if(fold.train, [&](std::size_t i) { return tested.contains(cluster_of(rows[i])); });
  return fold;
}

}  // namespace

Result<ScalingSplit> parse_scaling_split(std::string_view text) {
  using Kind = ScalingSplit::Kind;
  if (text == "leave-one-job-out") return ScalingSplit{Kind::kLeaveOneJobOut};
  if (text == "leave-one-submitter-out") return ScalingSplit{Kind::kLeaveOneOwnerOut};
  for (const auto& [start, kind] : {std::pair<std::string_view, Kind>{"smallest=", Kind::kSmallest},
                                    {"max-gpus=", Kind::kWorkersMax},
                                    {"max-vms=", Kind::kUpToVms}}) {
    if (!text.starts_with(start)) continue;
    const auto count = parse_int(text.substr(start.size()));
    if (count && *count >= 1) return ScalingSplit{kind, *count};
  }
  return bad_usage(
      fmt::format("--split must be smallest=N, max-gpus=N, max-vms=N, leave-one-job-out or "
                  "leave-one-submitter-out for this format, not '{}'",
                  printable(text)));
}

std::vector<Fold> folds(const ScalingSplit& split, std::span<const ScalingRow> rows) {
  std::vector<Fold> folds;
  switch (split.kind) {
    case ScalingSplit::Kind::kSmallest:
      folds = {smallest(rows, split.count)};
      break;
    case ScalingSplit::Kind::kLeaveOneJobOut:
      folds = leave_out(rows, [](const ScalingRow& row) { return row.job; });
      break;
    case ScalingSplit::Kind::kLeaveOneOwnerOut:
      folds = leave_out(rows, [](const ScalingRow& row) { return row.owner; });
      break;
    case ScalingSplit::Kind::kWorkersMax:
      folds = {fold_by(rows, [&](const ScalingRow& row) { return row.workers > split.count; })};
      break;
    case ScalingSplit::Kind::kUpToVms:
      folds = {fold_by(rows, [&](const ScalingRow& row) { return row.vms > split.count; })};
      break;
  }
  std::erase_if(folds, [](const Fold& fold) { return fold.test.empty(); });
  return folds;
}

}  // namespace stint
