#pragma once

#include <gtest/gtest.h>
#include <string>

#include "measure/sharded/sharded_table.h"

namespace stint {

/// The first row of a table for tests.
inline ShardedRow first_sharded_row(ShardedFormat format, const std::string& text) {
  const auto rows = read_sharded(format, text, "t.csv");
  EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message);
  if (!rows.ok() || rows->empty()) return {};
  EXPECT_EQ(rows->front().line, 2);
  return rows->front();
}

}  // namespace stint
