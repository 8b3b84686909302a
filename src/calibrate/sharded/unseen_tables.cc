#include "calibrate/sharded/unseen_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "predict/law.h"

namespace stint {
namespace {

std::string publisher_of(const ShardedRow& row) { return row.table.substr(0, row.table.find(' ')); }

constexpr double kCovered = 0.8;

/// A held-out row: the logarithm of measured over predicted, and what it counts for.
struct Miss {
  double off = 0;
  double weight = 0;
};

/// The deviation of a normal distribution whose 80 % interval covers 80 % of what was held out.
double covering_spread(std::vector<Miss> misses) {
  std::sort(misses.begin(), misses.end(),
            [](const Miss& a, const Miss& b) { return std::abs(a.off) < std::abs(b.off); });
  double all = 0;
  for (const Miss& it : misses) all += it.weight;
  double covered = 0;
  for (const Miss& it : misses) {
    covered += it.weight;
    if (covered >= kCovered * all) return std::abs(it.off) / kEightInTen;
  }
  CHECK(false);
}

}  // namespace

Result<UnseenTables> unseen_tables(const CasePointers& rows, const ShardedStepModel& near) {
  std::map<std::string, CasePointers> publishers;
  for (const ShardedCase* it : rows) {
    if (!it->row.odd_placement) publishers[publisher_of(it->row)].push_back(it);
  }
  UnseenTables found;
  if (publishers.size() < 2) return found;
  std::vector<Miss> misses;
  for (const auto& [name, held_out] : publishers) {
    CasePointers others;
    for (const ShardedCase* it : rows) {
      if (publisher_of(it->row) != name) others.push_back(it);
    }
    const auto model = ShardedStepModel::fit(others, physical_priors(), &near);
    if (!model.ok()) return model.error();
    const ShardedLaw law = model->law();
    const double weight = 1 / static_cast<double>(held_out.size());
    double sum = 0;
    for (const ShardedCase* it : held_out) {
      misses.push_back({std::log(*it->row.time / sharded_step(it->setup, law).total()), weight});
      sum += weight * misses.back().off;
    }
    found.mean += sum / static_cast<double>(publishers.size());
    ++found.tables;
  }
  found.spread = covering_spread(std::move(misses));
  return found;
}

}  // namespace stint
