#include "app/search/search_job.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

SearchRecord record_with(const std::string& cluster, double step, double noise) {
  SearchRecord record;
  record.probes = {{.cluster = cluster, .batch = 48, .step = step * kSecond}};
  record.noise = {{.way = 0.5, .batch = 48, .scale = noise}};
  return record;
}

TEST(SearchJob, WhatWasKnownBeforeIsKeptUnlessItWasFoundOutAnew) {
  const SearchRecord earlier = record_with("1x local.large", 1, 100);
  EXPECT_EQ(with_earlier(record_with("1x local.large", 2, 200), std::nullopt).probes.size(), 1U);
  const SearchRecord same = with_earlier(record_with("1x local.large", 2, 200), earlier);
  ASSERT_EQ(same.probes.size(), 1U);
  EXPECT_EQ(same.probes[0].step, 2 * kSecond);
  ASSERT_EQ(same.noise.size(), 2U);
  EXPECT_EQ(same.noise.back().scale, 200);
  EXPECT_EQ(with_earlier(record_with("2x local.large", 2, 200), earlier).probes.size(), 2U);
}

TEST(SearchJob, NoiseOfManySearchesDoesNotPileUp) {
  SearchRecord record = record_with("1x local.large", 1, 100);
  for (int i = 0; i < 300; ++i)
    record = with_earlier(record_with("1x local.large", 1, i + 1), record);
  EXPECT_LE(record.noise.size(), 100U);
  EXPECT_EQ(record.noise.back().scale, 300);
}

}  // namespace
}  // namespace stint
