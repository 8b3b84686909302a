#include "cli/render/render_search.h"

#include <gtest/gtest.h>

#include "cli/render/run_report_fixture.h"

namespace stint::cli {
namespace {

SearchRecord small_search() {
  SearchRecord search{.name = "cnn-1", .job = "cnn", .objective = "time"};
  search.choice = SearchChoice{.cluster = "2x local.large", .batch = 96};
  search.probes = {
      {.cluster = "1x local.large",
       .batch = 48,
       .at = 9 * kSecond,
       .step = 0.5 * kSecond,
       .predicted = {.mean = 0.6 * kSecond, .p10 = 0.5 * kSecond, .p90 = 0.7 * kSecond}}};
  search.noise = {{.way = 0.1, .batch = 48, .scale = 300, .lower = 200}};
  search.moves = {{.at = 9 * kSecond,
                   .from = {.cluster = "1x local.large", .batch = 48},
                   .to = {.cluster = "2x local.large", .batch = 96},
                   .why = "it pays",
                   .predicted = {.mean = 2 * kSecond, .p10 = 1 * kSecond, .p90 = 3 * kSecond},
                   .measured = 2.5 * kSecond}};
  const auto row = [](int vms, int batch, double time) {
    return SurfaceRow{.cluster = fmt::format("{}x local.large", vms),
                      .type = "local.large",
                      .vms = vms,
                      .batch = batch,
                      .steps = 100,
                      .time = time * kSecond,
                      .cost = 0.001 * kDollar};
  };
  search.surface = {row(1, 48, 50), row(1, 96, 80), row(2, 48, 30), row(2, 96, 20)};
  search.surface[0].timed = true;
  search.surface[1].ruled_out = true;
  search.warnings = {"Something is odd."};
  return search;
}

TEST(RenderSearch, TellsWhatWasTimedWhereItWentAndWhatItChose) {
  const std::string text = search_text(small_search(), {});
  for (const char* part :
       {"1x local.large", "500 ms", "to 2x local.large", "2.5 s", "stay",
        "2x local.large at batch size 96", "300 samples (200–any)", "Something is odd."}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(RenderSearch, FitsOnANarrowScreen) {
  const std::string text = search_text(small_search(), {.width = 60});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 66U) << text.substr(at, end - at);  // Bytes; a dash has three.
    at = end + 1;
  }
}

TEST(RenderSearch, TheSurfaceHasARowForEachSetup) {
  const std::string text = surface_csv(small_search());
  EXPECT_TRUE(text.starts_with("cluster,type,vms,workers_per_vm,batch,step_s")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_NE(text.find("2x local.large,local.large,2,1,96,0,0,0,100,20,0.001,0,0,1\n"),
            std::string::npos)
      << text;
}

TEST(RenderSearch, TheMapShowsWhatIsBestTimedChosenAndTooLarge) {
  const std::string map = search_map(small_search());
  EXPECT_NE(map.find("<svg"), std::string::npos);
  EXPECT_NE(map.find("memory"), std::string::npos);
  EXPECT_NE(map.find("<circle"), std::string::npos);
  EXPECT_NE(map.find("fill=\"hsl(215 55% 72%)\""), std::string::npos);  // The best,
  EXPECT_NE(map.find("fill=\"hsl(25 55% 60%)\""), std::string::npos);   // and the worst.
  EXPECT_NE(map.find("of the whole training</h2><ul class=legend>"), std::string::npos);
  EXPECT_EQ(search_map(SearchRecord{}), "");
}

TEST(RenderSearch, TheMapTellsMixedClustersAndWorkersApart) {
  SearchRecord search = small_search();
  search.surface = {{.cluster = "1x a + 2x b", .type = "a + b", .vms = 3, .batch = 48},
                    {.cluster = "2x a + 1x b", .type = "a + b", .vms = 3, .batch = 48},
                    {.cluster = "1x a", .type = "a", .workers_per_vm = 2, .batch = 48},
                    {.cluster = "1x a:spot", .type = "a", .batch = 48}};
  for (SurfaceRow& row : search.surface) row.time = 10 * kSecond;
  const std::string map = search_map(search);
  for (const char* text : {">1+2<", ">2+1<", ">a + b<", ">a, 2 workers per VM<", ">1 spot VM<"}) {
    EXPECT_NE(map.find(text), std::string::npos) << text;
  }
}

TEST(RenderSearch, JsonSaysHowItEnded) {
  RunReport report = small_report();
  report.search = small_search();
  const Json json = search_json(report, "");
  ASSERT_NE(json.find("outcome"), nullptr);
  EXPECT_EQ(*json.find("outcome")->as<std::string>(), "trained");
  EXPECT_EQ(*json.find("schema")->as<std::string>(), "stint.search/1");
  const Json missed = search_json(report, "the loss was not reached");
  EXPECT_EQ(*missed.find("outcome")->as<std::string>(), "target-missed");
  EXPECT_EQ(*missed.find("reason")->as<std::string>(), "the loss was not reached");
}

}  // namespace
}  // namespace stint::cli
