#include "measure/tables/lifetime_table.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHead = "region,instance_type,savings_pct,interruption_monthly_pct_range\n";

TEST(AdvisorTable, ReadsBands) {
  const auto rows = read_advised_bands(
      std::string(kHead) + "r1,a.large,70,<5\nr1,b.large,60,5-10\nr2,a.large,50,>20\n", "a.csv");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].band.monthly_min, 0);
  EXPECT_EQ((*rows)[0].band.monthly_max, 0.05);
  EXPECT_EQ((*rows)[1].vm, "b.large");
  EXPECT_EQ((*rows)[1].band.monthly_min, 0.05);
  EXPECT_EQ((*rows)[1].band.monthly_max, 0.1);
  EXPECT_EQ((*rows)[2].region, "r2");
  EXPECT_EQ((*rows)[2].band.monthly_min, 0.2);
  EXPECT_FALSE((*rows)[2].band.monthly_max);
}

TEST(AdvisorTable, SaysWhichRangeCannotBeRead) {
  for (const char* range : {"", "often", "10-5", ">200", "5-", "<x"}) {
    const auto rows =
        read_advised_bands(std::string(kHead) + "r1,a.large,70," + range + "\n", "a.csv");
    ASSERT_FALSE(rows.ok()) << range;
    EXPECT_NE(rows.error().message.find("must be a range like <5, 5-10 or >20"), std::string::npos);
  }
  EXPECT_FALSE(read_advised_bands("a,b\n1,2\n", "a.csv").ok());
}

constexpr const char* kProbed =
    "provider,gpu,num_gpus,zone,created_utc,last_seen_running_s,found_gone_s,preempted\n";
constexpr const char* kExact =
    "machine_type,zone,start_time,day_of_week,hour_of_day,load,lifetime_s,preempted\n";

template <class Rows>
std::string error_of(const Rows& rows) {
  return rows.ok() ? "no error" : rows.error().message;
}

TEST(Lifetimes, ProbesBracketTheEndOfALife) {
  const auto rows = read_lifetimes(
      std::string(kProbed) + "aws,K80,8,us-east-1b,x,5961,6635,1\naws,V100,1,us-east-1b,x,7,9,0\n",
      "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0], (Lifetime{"aws", "K80", 8, "us-east-1b", 5961 * kSecond, 6635 * kSecond}));
  EXPECT_EQ((*rows)[1], (Lifetime{"aws", "V100", 1, "us-east-1b", 7 * kSecond, {}}));
  EXPECT_EQ(kind_of((*rows)[0]), "K80 x8");
}

TEST(Lifetimes, AreExactWhereTheMomentIsKnown) {
  const auto rows = read_lifetimes(
      std::string(kExact) + "n1,z,x,Monday,10,idle,46.5,1\nn1,z,x,Monday,10,idle,40,0\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0], (Lifetime{"gcp", "n1", 0, "z", 46.5 * kSecond, 46.5 * kSecond}));
  EXPECT_EQ((*rows)[1], (Lifetime{"gcp", "n1", 0, "z", 40 * kSecond, {}}));
  EXPECT_EQ(kind_of((*rows)[0]), "n1");
}

// 24 h are 86400 s. A probe that found the machine gone after them cannot tell a preemption from
// the limit; AWS has none.
TEST(Lifetimes, GooglesLimitIsNoLoss) {
  const auto exact =
      read_lifetimes(std::string(kExact) + "n1,z,x,Monday,10,idle,86460,1\n", "a.csv");
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  EXPECT_EQ(exact->front(), (Lifetime{"gcp", "n1", 0, "z", 24 * kHour, {}}));
  const auto probed = read_lifetimes(
      std::string(kProbed) + "gcp,K80,1,z,x,86000,86700,1\naws,K80,1,z,x,86000,86700,1\n", "a.csv");
  ASSERT_TRUE(probed.ok()) << probed.error().message;
  EXPECT_EQ((*probed)[0], (Lifetime{"gcp", "K80", 1, "z", 86000 * kSecond, {}}));
  EXPECT_EQ((*probed)[1].at_most, 86700 * kSecond);
}

TEST(Lifetimes, ARowMaySayNothing) {
  const auto rows = read_lifetimes("machine_type,zone\nn1,z\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->front(), (Lifetime{"gcp", "n1", 0, "z", {}, {}}));
  EXPECT_TRUE(read_lifetimes(std::string(kProbed) + "gcp,K80,1,z,x,,,\n", "a.csv").ok());
}

TEST(Lifetimes, SayWhatIsWrongAndWhere) {
  const auto error = [](const std::string& row) {
    return error_of(read_lifetimes(kProbed + row + "\n", "a.csv"));
  };
  EXPECT_EQ(error("gcp,K80,1,z,x,-1,2,1"),
            "a.csv:2: column last_seen_running_s: must be a time in seconds of 0 or more, not "
            "'-1'");
  EXPECT_EQ(error("gcp,K80,1,z,x,3,2,1"),
            "a.csv:2: column found_gone_s: is before last_seen_running_s");
  EXPECT_EQ(error("gcp,K80,1,z,x,1,2,yes"),
            "a.csv:2: column preempted: must be 1 (lost) or 0 (still alive), not 'yes'");
  EXPECT_EQ(error("gcp,K80,0,z,x,1,2,1"),
            "a.csv:2: column num_gpus: must be a whole number of 1 or more");
  EXPECT_EQ(error(",K80,1,z,x,1,2,1"), "a.csv:2: column provider: must not be empty");
  EXPECT_EQ(
      error_of(read_lifetimes("a\n1\n", "a.csv")),
      "a.csv: its header has neither machine_type nor num_gpus, so it is not a table of lifetimes");
  EXPECT_FALSE(read_lifetimes(std::string(kExact) + "n1,z,x,M,1,idle,,1\n", "a.csv").ok());
}

TEST(CreationFailures, HaveATime) {
  const auto rows = read_creation_failures(
      "provider,gpu,num_gpus,zone,time_utc\ngcp,,,z,1970-01-01T01:00:01Z\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->front().time, 3601 * kSecond);
  EXPECT_EQ(rows->front().device, "");
  EXPECT_EQ(error_of(read_creation_failures("provider,gpu,num_gpus,zone,time_utc\ngcp,,,z,noon\n",
                                            "a.csv")),
            "a.csv:2: column time_utc: must be a time such as 2020-03-15T10:11:21Z, not 'noon'");
}

// 2 + 30 + 40 = 72 s.
TEST(VmStartups, AddTheirParts) {
  const std::string header = "gpu,market,region,provisioning_s,staging_s,booting_s\n";
  const auto rows =
      read_vm_startups(header + "K80,on-demand,e,2,30,40\nK80,preemptible,e,1,1,1\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].total(), 72 * kSecond);
  EXPECT_EQ((*rows)[0].market, Market::kOnDemand);
  EXPECT_EQ((*rows)[1].market, Market::kSpot);
  EXPECT_EQ(error_of(read_vm_startups(header + "K80,free,e,1,1,1\n", "a.csv")),
            "a.csv:2: column market: must be on-demand, preemptible or spot, not 'free'");
}

TEST(CheckpointTimes, AreReadInMegabytes) {
  const auto rows = read_checkpoint_times(
      "model,checkpoint_MB,local_write_s,remote_write_s\nnet,6.5,0.25,3.5\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->front().size, 6.5 * kMB);
  EXPECT_EQ(rows->front().remote, 3.5 * kSecond);
  EXPECT_FALSE(read_checkpoint_times("model\nnet\n", "a.csv").ok());
}

TEST(SpotTables, AreToldByTheirHeaders) {
  EXPECT_EQ(spot_table_of(kProbed), SpotTable::kLifetimes);
  EXPECT_EQ(spot_table_of(kExact), SpotTable::kLifetimes);
  EXPECT_EQ(spot_table_of("provider,gpu,num_gpus,zone,time_utc\n"), SpotTable::kCreationFailures);
  EXPECT_EQ(spot_table_of("gpu,provisioning_s\n"), SpotTable::kVmStartups);
  EXPECT_EQ(spot_table_of("model,checkpoint_MB\n"), SpotTable::kCheckpointTimes);
  EXPECT_EQ(spot_table_of("time_s,event,node\n"), std::nullopt);
}

TEST(Lifetimes, ReadThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set, so the published tables are unread.";
  const std::string folder(data);
  const auto google = read_file(folder + "/preempt_google_vm/lifetimes.csv");
  ASSERT_TRUE(google.ok()) << google.error().message;
  const auto rows = read_lifetimes(*google, "lifetimes.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  for (const Lifetime& it : *rows) EXPECT_LE(it.at_least, kGoogleLimit);
  const auto startups = read_file(folder + "/cmdare/vm_startup.csv");
  ASSERT_TRUE(startups.ok()) << startups.error().message;
  EXPECT_TRUE(read_vm_startups(*startups, "s").ok());
  const auto saves = read_file(folder + "/cmdare/checkpoint_time.csv");
  ASSERT_TRUE(saves.ok()) << saves.error().message;
  EXPECT_TRUE(read_checkpoint_times(*saves, "c").ok());
  const auto failures = read_file(folder + "/spot_dime2020/creation_failures.csv");
  ASSERT_TRUE(failures.ok()) << failures.error().message;
  EXPECT_TRUE(read_creation_failures(*failures, "f").ok());
  const auto gpus = read_file(folder + "/spot_dime2020/gpu_vm_lifetimes.csv");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  EXPECT_TRUE(read_lifetimes(*gpus, "g").ok());
}

CreationFailure failure(const char* provider, const char* device, Seconds time) {
  return {.provider = provider, .device = device, .zone = "", .time = time};
}

TEST(RefusalPattern, IsOfTheMachineThatFailedMost) {
  const std::vector<CreationFailure> failures{
      failure("gcp", "", 1 * kHour),    failure("gcp", "", 2 * kHour),
      failure("gcp", "", 3 * kHour),    failure("aws", "K80", 5 * kHour),
      failure("aws", "K80", 4 * kHour), failure("gcp", "V100", 9 * kHour)};
  const auto pattern = refusal_pattern(failures, "f.csv");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->provider, "aws");
  EXPECT_EQ(pattern->device, "K80");
  EXPECT_EQ(pattern->first, 4 * kHour);
  EXPECT_EQ(pattern->times, (std::vector<Seconds>{0 * kHour, 1 * kHour}));
}

TEST(RefusalPattern, TakesRowsWithoutAGpuWhenThereAreNoOthers) {
  const auto pattern =
      refusal_pattern(std::vector<CreationFailure>{failure("gcp", "", 1 * kHour)}, "f.csv");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->device, "");
}

TEST(RefusalPattern, OfNoFailuresIsBadInput) {
  EXPECT_EQ(refusal_pattern({}, "f.csv").error().message, "f.csv: the table has no failed starts");
}

// Failures at 0, 9 and 10 min and at 1 h fall into the ticks 0, 1 and 2 of 5 min, and beyond four.
TEST(RefusalPattern, ATickThatHoldsAFailureIsRefused) {
  const RefusalPattern pattern{.provider = "aws",
                               .device = "K80",
                               .first = {},
                               .times = {0 * kMinute, 9 * kMinute, 10 * kMinute, 1 * kHour}};
  EXPECT_EQ(refused_ticks(pattern, 5 * kMinute, 4), (std::vector<bool>{true, true, true, false}));
}

TEST(PublishedLosses, AreReadWithTheirEnds) {
  const std::string header = "provider,within_h,lost_min_pct,lost_max_pct,source\n";
  const auto rows = read_published_losses(header + "gcp,24,5,15,\"Google, documentation\"\n", "p");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->front().within, 24 * kHour);
  EXPECT_DOUBLE_EQ(rows->front().share_min, 0.05);
  EXPECT_DOUBLE_EQ(rows->front().share_max, 0.15);
  EXPECT_EQ(rows->front().source, "Google, documentation");
  EXPECT_EQ(spot_table_of(header), SpotTable::kPublishedLosses);
  for (const char* row : {"gcp,0,5,15,x", "gcp,24,0,15,x", "gcp,24,5,100,x", "gcp,24,15,5,x",
                          ",24,5,15,x", "gcp,y,5,15,x"}) {
    EXPECT_FALSE(read_published_losses(header + row + "\n", "p").ok()) << row;
  }
}

}  // namespace

}  // namespace stint
