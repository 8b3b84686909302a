#include "measure/tables/pair_table.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kPairs =
    "gpu,consolidated,model_a,batch_a,model_b,batch_b,num_gpus_each,isolated_a_steps_per_s,"
    "isolated_b_steps_per_s,packed_a_steps_per_s,packed_b_steps_per_s,oom,capped_to_isolated\n";
constexpr const char* kAlone =
    "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus,"
    "steps_per_s_all_gpus_repeat\n";

TEST(PackedPairs, ReadsPairs) {
  const auto pairs = read_packed_pairs(
      std::string(kPairs) +
          "K80,1,net,16,game,,1,4,2,2.5,1,0,0\nK80,1,net,16,net,32,1,4,2,4,2,0,1\n"
          "K80,1,net,16,net,64,1,4,1,0,0,1,0\n",
      "p.csv");
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  ASSERT_EQ(pairs->size(), 3U);
  const PackedPair& pair = pairs->front();
  EXPECT_EQ(pair.device, "K80");
  EXPECT_TRUE(pair.in_steps);
  EXPECT_EQ(pair.first.job, (SizedJob{"net", 16}));
  EXPECT_EQ(pair.second.job, (SizedJob{"game", 1}));
  EXPECT_EQ(pair.first.alone, 4 / kSecond);
  EXPECT_EQ(pair.first.packed, 2.5 / kSecond);
  EXPECT_EQ(pair.second.packed, 1 / kSecond);
  EXPECT_EQ(pair.fits, true);
  EXPECT_FALSE(pair.capped_to_isolated);
  EXPECT_EQ(pair.gpus_each, 1);
  EXPECT_TRUE((*pairs)[1].capped_to_isolated);
  EXPECT_EQ((*pairs)[2].fits, false);
  EXPECT_FALSE((*pairs)[2].first.packed.has_value());
}

TEST(PackedPairs, WhatWasMeasuredMayBeMissing) {
  const auto pairs =
      read_packed_pairs("gpu,model_a,batch_a,model_b,batch_b\nK80,net,16,net,32\n", "p.csv");
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  const PackedPair& pair = pairs->front();
  EXPECT_FALSE(pair.first.alone.has_value());
  EXPECT_FALSE(pair.second.packed.has_value());
  EXPECT_FALSE(pair.fits.has_value());
}

TEST(PackedPairs, TwoRatesOfZeroDoNotFit) {
  const auto pairs = read_packed_pairs(
      "gpu,model_a,model_b,isolated_a,isolated_b,packed_a,packed_b\n"
      "K80,net,game,500,2,0,0\nK80,net,game,500,2,0,1\n",
      "p.csv");
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  EXPECT_FALSE((*pairs)[0].in_steps);
  EXPECT_EQ((*pairs)[0].fits, false);
  EXPECT_EQ((*pairs)[0].first.alone, 500 / kSecond);
  EXPECT_EQ((*pairs)[1].fits, true);
  EXPECT_FALSE((*pairs)[1].first.packed.has_value());
}

TEST(PackedPairs, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& row) {
    const auto pairs = read_packed_pairs(kPairs + row + "\n", "p.csv");
    return pairs.ok() ? "" : pairs.error().message;
  };
  EXPECT_EQ(error("K80,1,net,16,net,16,1,4,4,2,2,0,0"), "");
  EXPECT_EQ(error("K80,1,net,16,net,16,1,4,4,-2,2,0,0"),
            "p.csv:2: column packed_a_steps_per_s: must be a rate of 0 or more, not '-2'");
  EXPECT_EQ(error("K80,1,net,16,net,16,1,4,fast,2,2,0,0"),
            "p.csv:2: column isolated_b_steps_per_s: must be a rate of 0 or more, not 'fast'");
  EXPECT_EQ(error("K80,1,net,x,net,16,1,4,4,2,2,0,0"),
            "p.csv:2: column batch_a: must be a whole number of 1 or more, not 'x'");
  EXPECT_EQ(error("K80,1,net,16,,16,1,4,4,2,2,0,0"), "p.csv:2: column model_b: must not be empty");
  EXPECT_EQ(error(",1,net,16,net,16,1,4,4,2,2,0,0"), "p.csv:2: column gpu: must not be empty");
  EXPECT_EQ(error("K80,1,net,16,net,16,1,4,4,2,2,yes,0"),
            "p.csv:2: column oom: must be 0 or 1, not 'yes'");
  EXPECT_EQ(error("K80,1,net,16,net,16,1,4,4,2,2,0,2"),
            "p.csv:2: column capped_to_isolated: must be 0 or 1, not '2'");
  EXPECT_EQ(error("K80,1,net,16,net,16,0,4,4,2,2,0,0"),
            "p.csv:2: column num_gpus_each: must be a whole number of 1 or more, not '0'");
  EXPECT_FALSE(read_packed_pairs("gpu,model_a\nK80,net\n", "p.csv").ok());
  EXPECT_FALSE(read_packed_pairs("gpu,model_a,batch_a,model_b\nK80,net,1,net\n", "p.csv").ok());
}

TEST(IsolatedRates, OnlyOneGpuIsAlone) {
  const auto rows =
      read_isolated_rates(std::string(kAlone) +
                              "K80,1,net,16,1,4,4.5\nK80,1,net,16,2,7,\nK80,1,game,,1,3,0\n"
                              "K80,1,net,64,1,0,\n",
                          "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[0].alone, 4 / kSecond);
  EXPECT_EQ((*rows)[0].fits, true);
  EXPECT_FALSE((*rows)[1].alone.has_value());
  EXPECT_EQ((*rows)[2].job, (SizedJob{"game", 1}));
  EXPECT_EQ((*rows)[2].fits, false);
  EXPECT_FALSE((*rows)[3].alone.has_value());
  EXPECT_EQ((*rows)[3].fits, false);
  EXPECT_EQ((*rows)[3].device, "K80");
}

TEST(IsolatedRates, GpusOfOneServerAreToldFromThoseOfSeveral) {
  const auto rows = read_isolated_rates(
      "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\n"
      "K80,1,net,16,4,8\nK80,0,net,16,4,6\n",
      "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].gpus, 4);
  EXPECT_EQ((*rows)[0].each_in_server, 2 / kSecond);
  EXPECT_FALSE((*rows)[1].each_in_server.has_value());
}

TEST(IsolatedRates, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& row) {
    return read_isolated_rates(kAlone + row + "\n", "a.csv").error().message;
  };
  EXPECT_EQ(error("K80,1,net,16,1,much,"),
            "a.csv:2: column steps_per_s_all_gpus: must be a rate of 0 or more, not 'much'");
  EXPECT_EQ(error("K80,1,net,16,0,1,"),
            "a.csv:2: column num_gpus: must be a whole number of 1 or more, not '0'");
  EXPECT_EQ(error(",1,net,16,1,1,"), "a.csv:2: column gpu: must not be empty");
  EXPECT_FALSE(read_isolated_rates("gpu,model\nK80,net\n", "a.csv").ok());
}

TEST(PairTables, ReadsThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const auto text = [&](const char* name) { return *read_file(std::string(data) + name); };
  const auto pairs = read_packed_pairs(text("/gavel/packed_pairs.csv"), "packed_pairs.csv");
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  EXPECT_EQ(pairs->size(), 565U);
  const auto count = [](const auto& rows, auto which) {
    return std::count_if(rows.begin(), rows.end(), which);
  };
  EXPECT_EQ(count(*pairs, [](const PackedPair& it) { return it.fits == false; }), 46);
  EXPECT_EQ(count(*pairs, [](const PackedPair& it) { return it.capped_to_isolated; }), 10);
  const auto older = read_packed_pairs(text("/gavel/packed_pairs_2019.csv"), "2019.csv");
  ASSERT_TRUE(older.ok()) << older.error().message;
  EXPECT_EQ(older->size(), 72U);
  EXPECT_FALSE(older->front().in_steps);
  const auto alone = read_isolated_rates(text("/gavel/isolated.csv"), "isolated.csv");
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_EQ(count(*alone, [](const IsolatedRate& it) { return it.alone.has_value(); }), 71);
}

}  // namespace
}  // namespace stint
