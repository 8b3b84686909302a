#include "predict/timeline.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace stint {
namespace {

// Two VMs, 10 + 20 ms of compute and 2 ms of update; two buckets of 10 MB at 1 ns/byte take 10 ms
// each (2 · ½ · 10 MB), ready after 10 + 10 ms and after 30 ms.
StepSetup setup() {
  return {.groups = {{.vms = 2,
                      .forward = 10 * kMillisecond,
                      .backward = 20 * kMillisecond,
                      .update = 2 * kMillisecond,
                      .network = {.inverse_bandwidth = 1e-9 * kSecond / kByte}}},
          .buckets = {{.bytes = 10 * kMB, .ready = 0.5}, {.bytes = 10 * kMB, .ready = 1}}};
}

TEST(Timeline, ShowsComputeBucketsWaitAndUpdate) {
  const auto events = timeline(setup(), step_parts(setup()));
  ASSERT_EQ(events.size(), 6U);
  const char* const names[] = {"forward", "backward", "wait for gradients",
                               "update",  "bucket 1", "bucket 2"};
  const double starts[] = {0, 10, 30, 40, 20, 30};
  const double durations[] = {10, 20, 10, 2, 10, 10};
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].name, names[i]);
    EXPECT_NEAR(events[i].start.in(kMillisecond), starts[i], 1e-9) << names[i];
    EXPECT_NEAR(events[i].duration.in(kMillisecond), durations[i], 1e-9) << names[i];
  }
}

TEST(Timeline, EndsWithTheIterationInEveryGroup) {
  StepSetup mixed = setup();
  mixed.groups.push_back(mixed.groups[0]);
  mixed.groups[1].forward = 5 * kMillisecond;
  mixed.accumulation = 3;
  mixed.groups[0].input = 60 * kMillisecond;
  const IterationParts parts = step_parts(mixed);
  Seconds ends[2];
  for (const TimelineEvent& event : timeline(mixed, parts)) {
    if (event.network) continue;
    EXPECT_NEAR(event.start.in(kSecond), ends[event.group].in(kSecond), 1e-12) << event.name;
    ends[event.group] = event.start + event.duration;
  }
  EXPECT_NEAR(ends[0] / total(parts), 1, 1e-12);
  EXPECT_NEAR(ends[1] / total(parts), 1, 1e-12);
}

TEST(Timeline, OfOneWorkerHasNoNetwork) {
  StepSetup one = setup();
  one.groups[0].vms = 1;
  for (const TimelineEvent& event : timeline(one, step_parts(one))) EXPECT_FALSE(event.network);
}

TEST(ChromeTrace, IsAnArrayOfCompleteEventsInMicroseconds) {
  const auto json =
      parse_json(chrome_trace(timeline(setup(), step_parts(setup())), {"2x vm"}), "trace");
  ASSERT_TRUE(json.ok());
  const auto* list = json->as<Json::Array>();
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->size(), 9U);  // Three names of rows, six events.
  const Json& backward = (*list)[4];
  EXPECT_EQ(*backward.find("ph")->as<std::string>(), "X");
  EXPECT_NEAR(*backward.find("ts")->as<double>(), 10000, 1e-6);
  EXPECT_NEAR(*backward.find("dur")->as<double>(), 20000, 1e-6);
}

}  // namespace
}  // namespace stint
