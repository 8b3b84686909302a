#pragma once

#include <span>
#include <vector>

#include "catalog/catalog.h"
#include "measure/sharded/sharded_table.h"
#include "predict/sharded/sharded_step.h"

namespace stint {

/// A row of a table as the law of sharded steps sees it. A row that is unusable has no setup.
struct ShardedCase {
  ShardedRow row;
  ShardedSetup setup;
};

/// Cases of rows, in their order; a row whose accelerator is not in the catalogue is unusable.
std::vector<ShardedCase> sharded_cases(std::span<const ShardedRow> rows, const Catalog& catalog);

/// Whether the row can be learned from.
bool is_measured(const ShardedCase& it);

}  // namespace stint
