#include "run/search_record.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

SearchRecord small_search() {
  SearchRecord record{.name = "cnn-1", .job = "cnn", .objective = "cost", .loss_target = 0.4};
  record.choice = SearchChoice{.cluster = "2x local.large", .batch = 96};
  record.probes = {
      {.cluster = "1x local.large",
       .batch = 48,
       .at = 9 * kSecond,
       .step = 0.5 * kSecond,
       .predicted = {.mean = 0.6 * kSecond, .p10 = 0.5 * kSecond, .p90 = 0.7 * kSecond}}};
  record.noise = {{.way = 0.1, .batch = 48, .scale = 300, .lower = 200}};
  record.moves = {{.at = 9 * kSecond,
                   .from = {.cluster = "1x local.large", .batch = 48},
                   .to = {.cluster = "2x local.large", .batch = 96},
                   .why = "it pays"}};
  record.surface = {
      {.cluster = "1x local.large", .type = "local.large", .batch = 48, .timed = true}};
  return record;
}

TEST(SearchRecord, ReadsBackWhatWasWritten) {
  const std::string text = write_search(small_search());
  const auto read = read_search(text, "search.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(write_search(read->noun), text);
  EXPECT_EQ(read->noun.choice, small_search().choice);
  EXPECT_FALSE(read->noun.moves[0].measured);
}

TEST(SearchRecord, RefusesWhatCannotBe) {
  SearchRecord record = small_search();
  record.noise[0].scale = -1;
  const auto read = read_search(write_search(record), "search.json");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("/noise/0/scale"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace stint
