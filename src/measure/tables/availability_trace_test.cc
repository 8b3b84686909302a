#include "measure/tables/availability_trace.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

using Counts = std::vector<int>;

Result<AvailabilityTrace> read(const std::string& text, Seconds gap = 60 * kSecond) {
  return read_availability_trace(text, "t", gap);
}

Counts counts_of(const std::string& text, Seconds gap = 60 * kSecond) {
  const auto trace = read(text, gap);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? trace->counts : Counts{};
}

std::string error_of(const std::string& text, Seconds gap = 60 * kSecond) {
  const auto trace = read(text, gap);
  return trace.ok() ? "no error" : trace.error().message;
}

TEST(AvailabilityTrace, ReadsJsonWithItsOwnGap) {
  const auto trace = read(R"({"metadata": {"gap_seconds": 195}, "data": [0, 1, 1.0, 12]})");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->name, "t");
  EXPECT_EQ(trace->gap, 195 * kSecond);
  EXPECT_EQ(trace->counts, (Counts{0, 1, 1, 12}));
}

TEST(AvailabilityTrace, RefusesJsonThatSaysTooLittle) {
  EXPECT_EQ(error_of(R"({"data": [1]})"),
            "t:1: the trace has no metadata.gap_seconds; add the seconds between its ticks");
  EXPECT_EQ(error_of(R"({"metadata": {"gap_seconds": 0}, "data": [1]})"),
            "t:1: metadata.gap_seconds must be a number of seconds above zero");
  EXPECT_EQ(error_of(R"({"metadata": {"gap_seconds": "5"}, "data": [1]})"),
            "t:1: metadata.gap_seconds must be a number of seconds above zero");
  EXPECT_EQ(error_of(R"({"metadata": {"gap_seconds": 5}})"),
            "t:1: the trace has no array data with the machines of each tick");
  EXPECT_EQ(error_of(R"({"metadata": {"gap_seconds": 5}, "data": []})"),
            "t:1: data is empty; a trace needs ticks");
}

TEST(AvailabilityTrace, RefusesJsonCountsThatAreNoMachines) {
  const auto error = [](const std::string& data) {
    return error_of(R"({"metadata": {"gap_seconds": 5}, "data": [)" + data + "]}");
  };
  EXPECT_EQ(error("1, null"),
            "t:1: tick 1 of data is null; fill the gap or split the trace into two files there");
  EXPECT_EQ(error("-1"),
            "t:1: tick 0 of data must be a whole number of machines from 0 to 100000, not -1");
  EXPECT_EQ(error("0.5"),
            "t:1: tick 0 of data must be a whole number of machines from 0 to 100000, not 0.5");
  EXPECT_EQ(error("[]"),
            "t:1: tick 0 of data must be a whole number of machines from 0 to 100000, not []");
}

// Ticks of 60 s. The first has 5 machines until 30 s and 3 after, so 3 all the time; in the second
// 3 become 7 at 90 s; the third has 7; the count of 2 begins with the fourth.
TEST(AvailabilityTrace, AMachineCountsOnlyIfItIsThereDuringTheWholeTick) {
  EXPECT_EQ(counts_of("time_s,running_instances\n0,5\n30,3\n90,7\n180,2\n240,2\n"),
            (Counts{3, 3, 7, 2}));
}

TEST(AvailabilityTrace, OfSeveralCountsAtOneTimeTheLastHolds) {
  EXPECT_EQ(counts_of("time_s,running_instances\n0,9\n0,5\n30,5\n30,1\n30,4\n60,0\n60,6\n120,6\n"),
            (Counts{4, 6}));
}

TEST(AvailabilityTrace, CountsFromTheFirstTimeAndLeavesOutATickThatIsNotWhole) {
  EXPECT_EQ(counts_of("time_s,running_instances\n1000,5\n1119,4\n"), (Counts{5}));
}

// 0.5 h is 30 min, so ticks of 15 min: two of 4 machines and two of 6.
TEST(AvailabilityTrace, TimesWithoutAUnitAreHoursWhenSmall) {
  EXPECT_EQ(counts_of("time,running_instances\n0,4\n0.5,4\n0.5,6\n1,6\n", 15 * kMinute),
            (Counts{4, 4, 6, 6}));
  EXPECT_EQ(counts_of("time,running_instances\n0,4\n1800,4\n", 15 * kMinute), (Counts{4, 4}));
}

TEST(AvailabilityTrace, CountsEvents) {
  EXPECT_EQ(counts_of("time_s,event,node\n0,add,a\n0,add,b\n60,remove,a\n90,add,c\n120,remove,b\n"),
            (Counts{2, 1}));
  EXPECT_EQ(error_of("time_s,event,node\n0,add,a\n1,add,a\n"),
            "t:3: column node: a is added but is already running");
  EXPECT_EQ(error_of("time_s,event,node\n0,remove,a\n"),
            "t:2: column node: a is removed but is not running");
  EXPECT_EQ(error_of("time_s,event,node\n0,grow,a\n"),
            "t:2: column event: must be add or remove, not 'grow'");
}

TEST(AvailabilityTrace, SaysWhatIsWrongWithATable) {
  const std::string header = "time_s,running_instances\n";
  EXPECT_EQ(error_of(header), "t: the trace has no rows");
  EXPECT_EQ(error_of(header + "5,1\n4,1\n"),
            "t:3: column time_s: 4 is before 5, the time of the row above; sort the rows by time");
  EXPECT_EQ(error_of(header + "x,1\n"), "t:2: column time_s: must be a time, not 'x'");
  EXPECT_EQ(error_of(header + "0,-1\n"),
            "t:2: column running_instances: must be a whole number of machines from 0 to 100000, "
            "not '-1'");
  EXPECT_EQ(error_of(header + "0,\n"),
            "t:2: column running_instances: must be a whole number of machines from 0 to 100000, "
            "not ''");
  EXPECT_EQ(error_of(header + "0,1\n59,1\n"),
            "t: the trace ends 59 s after its start, before the end of the first tick of 60 s; "
            "give a smaller gap");
  EXPECT_EQ(error_of(header + "0,1\n1e11,1\n"),
            "t: the trace has more than 1e+07 ticks of 60 s; give a larger gap");
  EXPECT_EQ(error_of("when,count\n0,1\n"),
            "t: its header is neither time_s,running_instances nor time,running_instances nor "
            "time_s,event,node, so it is not a trace of machines");
  EXPECT_EQ(error_of(header + "0,1\n60,1\n", Seconds()),
            "the gap between the ticks of a trace must be above zero");
  EXPECT_FALSE(read("").ok());
}

TEST(AvailabilityTrace, IsToldByItsContent) {
  EXPECT_TRUE(is_availability_trace("  {\"data\": []}"));
  EXPECT_TRUE(is_availability_trace("time_s,event,node\n"));
  EXPECT_FALSE(is_availability_trace("provider,gpu\n"));
  EXPECT_FALSE(is_availability_trace(""));
}

TEST(AvailabilityTrace, ReadsThePublishedTraces) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set, so the published traces are unread.";
  struct Published {
    const char* file;
    double hours;  // The time of its last row.
  };
  for (const Published& it :
       {Published{"aws_p3_events.csv", 11.4}, Published{"gcp_v100x1_us-east1-c_2021-12.csv", 24.2},
        Published{"aws_p2-xlarge-2020-11-20-to-2020-11-23.csv", 88.7}}) {
    const std::string path = std::string(data) + "/spot_traces_bamboo/" + it.file;
    const auto text = read_file(path);
    ASSERT_TRUE(text.ok()) << text.error().message;
    const auto trace = read_availability_trace(*text, path);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_GT(*std::max_element(trace->counts.begin(), trace->counts.end()), 9);
    EXPECT_NEAR(static_cast<double>(trace->counts.size()) * trace->gap.in(kHour), it.hours, 1.0)
        << it.file;
  }
}

// Ticks of 2 min cover two of 1 min; the fifth has no partner.
TEST(AvailabilityTrace, ALongerTickIsTheLeastOfWhatItCovers) {
  const AvailabilityTrace trace{"a", 1 * kMinute, {3, 1, 2, 2, 5}};
  EXPECT_EQ(resampled(trace, 2 * kMinute), (std::vector<int>{1, 2}));
  EXPECT_EQ(resampled(trace, 1 * kMinute), trace.counts);
}

// Ticks of 2 min in ticks of 3 min: the second lies in both.
TEST(AvailabilityTrace, AShorterTickIsRepeatedOrTheLeastOfTwo) {
  const AvailabilityTrace trace{"a", 3 * kMinute, {4, 2}};
  EXPECT_EQ(resampled(trace, 1 * kMinute), (std::vector<int>{4, 4, 4, 2, 2, 2}));
  EXPECT_EQ(resampled(trace, 2 * kMinute), (std::vector<int>{4, 2, 2}));
}

TEST(AvailabilityTrace, ShorterThanATickGivesNone) {
  EXPECT_TRUE(resampled({"a", 1 * kMinute, {3}}, 2 * kMinute).empty());
}

TEST(SideBySide, HasTheTicksOfTheFirstAndTheLengthOfTheShortest) {
  const std::vector<AvailabilityTrace> traces{
      {.name = "a", .gap = 10 * kMinute, .counts = {1, 2, 3, 4}},
      {.name = "b", .gap = 5 * kMinute, .counts = {5, 4, 6, 7, 8, 9}}};
  EXPECT_EQ(side_by_side(traces), (std::vector<std::vector<int>>{{1, 2, 3}, {4, 6, 8}}));
}

// A gap of 1e300 s in the second trace once filled the memory.
TEST(AvailabilityTrace, RefusesAGapAndTimesOutsideThePhysicalRange) {
  const auto message = [](const char* text) {
    const auto trace = read_availability_trace(text, "a");
    return trace.ok() ? "" : trace.error().message;
  };
  EXPECT_EQ(message(R"({"metadata": {"gap_seconds": 1e300}, "data": [1]})"),
            "a:1: metadata.gap_seconds must be from 1e-12 to 315360000000, not 1e+300");
  EXPECT_EQ(message(R"({"metadata": {"gap_seconds": 1e-300}, "data": [1]})"),
            "a:1: metadata.gap_seconds must be from 1e-12 to 315360000000, not 1e-300");
  EXPECT_EQ(message("time_s,running_instances\n0,1\n1e300,2\n"),
            "a:3: column time_s: must be from -315360000000 to 315360000000, not 1e300");
}

// A second tick of ten thousand years would be 10^9 ticks of five minutes.
TEST(SideBySide, IsNoLongerThanTheFirst) {
  const std::vector<AvailabilityTrace> traces{
      {.name = "a", .gap = 5 * kMinute, .counts = {1, 2}},
      {.name = "b", .gap = 3'650'000 * kDay, .counts = {7, 8}}};
  EXPECT_EQ(side_by_side(traces), (std::vector<std::vector<int>>{{1, 2}, {7, 7}}));
}

}  // namespace
}  // namespace stint
