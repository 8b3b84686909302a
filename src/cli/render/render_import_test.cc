#include "cli/render/render_import.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TraceProfile profile() {
  TraceProfile it{.events = 12,
                  .files = 2,
                  .workers = 2,
                  .workers_from = "the number of files",
                  .rhythm = TraceRhythm::kProfilerSteps,
                  .device = "cpu",
                  .iteration = {.median = 100 * kMillisecond, .spread = Seconds{}, .count = 3},
                  .forward = Timing{.median = 20 * kMillisecond},
                  .gradients = 4 * kMB};
  it.buckets = {{.bytes = 4 * kMB, .ready = 0.5}};
  it.gaps = {{"the batch", "give it"}};
  it.notes = {"odd"};
  return it;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RenderImport, ShowsWhatWasFoundAndWhatWasNot) {
  const std::string text = trace_text(profile(), {});
  for (const char* part : {"100 ms", "20.0 ms", "4 MB", "50 % of backward", "12 events in 2 files",
                           "told by ProfilerStep", "the batch; give it", "odd"}) {
    EXPECT_TRUE(has(text, part)) << part << " in " << text;
  }
  EXPECT_FALSE(has(text, "waiting for data"));
}

TEST(RenderImport, WritesTheSameForPrograms) {
  const Json json = trace_json(profile());
  EXPECT_EQ(*json.find("workers"), Json(2));
  EXPECT_NEAR(*json.find("iteration")->find("median_s")->as<double>(), 0.1, 1e-12);
  EXPECT_EQ(json.find("backward"), nullptr);
  EXPECT_EQ(json.find("job"), nullptr);
  EXPECT_EQ(json.find("not_found")->as<Json::Array>()->size(), 1U);
}

TEST(RenderImport, ShowsCollectives) {
  NcclTable table{.wrong = 1};
  NcclRow row;
  row.row = {.cluster = "a100",
             .vms = 2,
             .workers = 4,
             .collective = "all_reduce",
             .payload = 1 * kMiB,
             .time = 100 * kMicrosecond};
  table.rows.push_back(row);
  const std::string text = nccl_text(table, {});
  EXPECT_TRUE(has(text, "1048576 B")) << text;
  EXPECT_TRUE(has(text, "100 us")) << text;
  EXPECT_TRUE(has(text, "1 line with wrong results")) << text;
  const Json json = nccl_json(table);
  EXPECT_EQ(json.find("rows")->as<Json::Array>()->size(), 1U);
  EXPECT_EQ(*json.find("wrong"), Json(1));
}

}  // namespace
}  // namespace stint::cli
