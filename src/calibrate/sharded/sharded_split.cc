#include "calibrate/sharded/sharded_split.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

using Kind = ShardedSplit::Kind;

constexpr std::pair<std::string_view, Kind> kPlain[] = {
    {"leave-one-job-out", Kind::kLeaveOneJobOut},
    {"leave-one-layers-out", Kind::kLeaveOneLayersOut},
    {"leave-one-hidden-out", Kind::kLeaveOneHiddenOut},
    {"leave-one-gpu-out", Kind::kLeaveOneGpuOut},
    {"leave-one-date-out", Kind::kLeaveOneDateOut}};

constexpr std::pair<std::string_view, Kind> kCounted[] = {{"max-gpus=", Kind::kWorkersMax},
                                                          {"max-seq=", Kind::kSequenceMax},
                                                          {"smallest=", Kind::kSmallest},
                                                          {"folds=", Kind::kFolds}};

/// The key of a row of which each value is held out in turn; empty for other kinds.
std::string key_of(const ShardedSplit& split, std::size_t number, const ShardedRow& row) {
  switch (split.kind) {
    case Kind::kLeaveOneJobOut:
      return row.job;
    case Kind::kLeaveOneLayersOut:
      return fmt::format("{}", row.shape.layers);
    case Kind::kLeaveOneHiddenOut:
      return fmt::format("{}", row.shape.hidden);
    case Kind::kLeaveOneGpuOut:
      return row.gpu;
    case Kind::kLeaveOneDateOut:
      return row.software.empty() ? row.job : row.software;
    case Kind::kFolds:
      return fmt::format("{}", number % static_cast<std::size_t>(split.count));
    case Kind::kWorkersMax:
    case Kind::kSequenceMax:
    case Kind::kSmallest:
    case Kind::kGpu:
      return "";
  }
  CHECK(false);
}

/// Rows of one series differ in their clusters.
std::string series_of(const ShardedRow& row) {
  return fmt::format("{} | {} | {} | {}", row.table, row.job, row.gpu, row.software);
}

/// The numbers of workers of each series that are trained on.
std::map<std::string, std::set<int>> smallest_sizes(const ShardedSplit& split,
                                                    std::span<const ShardedCase> cases) {
  std::map<std::string, std::set<int>> sizes;
  for (const ShardedCase& it : cases) {
    if (it.row.unusable.empty()) sizes[series_of(it.row)].insert(it.row.gpus);
  }
  for (auto& [series, its] : sizes) {
    while (its.size() > static_cast<std::size_t>(split.count)) its.erase(std::prev(its.end()));
  }
  return sizes;
}

template <class IsTest>
void append_fold(std::span<const ShardedCase> cases, IsTest is_test, std::vector<Fold>& folds) {
  Fold fold;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].row.unusable.empty()) continue;
    (is_test(i, cases[i].row) ? fold.test : fold.train).push_back(i);
  }
  if (!fold.test.empty() && !fold.train.empty()) folds.push_back(std::move(fold));
}

}  // namespace

bool names_gpu(std::string_view name, std::string_view gpu) {
  return !name.empty() && to_lower(gpu).starts_with(to_lower(name));
}

Result<ShardedSplit> parse_sharded_split(std::string_view text) {
  constexpr std::string_view kGpu = "gpu=";
  for (const auto& [name, kind] : kPlain) {
    if (text == name) return ShardedSplit{.kind = kind};
  }
  for (const auto& [name, kind] : kCounted) {
    if (!text.starts_with(name)) continue;
    const auto count = parse_int(text.substr(name.size()));
    const int least = kind == Kind::kFolds ? 2 : 1;
    if (count && *count >= least) return ShardedSplit{.kind = kind, .count = *count};
  }
  if (text.starts_with(kGpu) && text.size() > kGpu.size()) {
    return ShardedSplit{.kind = Kind::kGpu, .gpu = std::string(text.substr(kGpu.size()))};
  }
  return bad_usage(
      fmt::format("--split must be leave-one-job-out, leave-one-layers-out, leave-one-hidden-out, "
                  "leave-one-gpu-out, leave-one-date-out, max-gpus=N, max-seq=N, smallest=N, "
                  "folds=N or gpu=NAME, not '{}'",
                  printable(text)));
}

std::vector<Fold> folds(const ShardedSplit& split, std::span<const ShardedCase> cases) {
  std::vector<Fold> folds;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string key = key_of(split, i, cases[i].row);
    if (!key.empty() && cases[i].row.unusable.empty()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    append_fold(
        cases, [&](std::size_t i, const ShardedRow& row) { return key_of(split, i, row) == key; },
        folds);
  }
  const auto sizes = smallest_sizes(split, cases);
  const auto is_beyond = [&](std::size_t /*i*/, const ShardedRow& row) {
    if (split.kind == Kind::kWorkersMax) return row.gpus > split.count;
    if (split.kind == Kind::kSequenceMax) return row.sequence > split.count;
    if (split.kind == Kind::kSmallest) return !sizes.at(series_of(row)).contains(row.gpus);
    return split.kind == Kind::kGpu && names_gpu(split.gpu, row.gpu);
  };
  if (folds.empty()) append_fold(cases, is_beyond, folds);
  return folds;
}

}  // namespace stint
