#include "cli/render/render_layouts.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

LayoutEstimate estimate() {
  LayoutEstimate it{.layout = {.data = 4, .tensor = 2, .pipeline = 2, .zero = 1},
                    .mean = 2 * kSecond,
                    .p10 = 1.5 * kSecond,
                    .p90 = 2.5 * kSecond};
  it.tokens_per_second = 12345;
  it.parts.forward = 0.5 * kSecond;
  it.parts.backward = 1 * kSecond;
  it.parts.bubble = 0.3 * kSecond;
  it.parts.tensor = 0.2 * kSecond;
  it.reserved = 60 * kGB;
  it.available = 80 * kGB;
  it.p_fits = 0.99;
  return it;
}

LayoutsAnswer answer() {
  LayoutsAnswer it{.model = "m", .cluster = "2x vm", .gpu = "G", .workers = 16, .layouts = {}};
  it.layouts = {estimate()};
  it.fitting = 1;
  it.too_large = 3;
  it.impossible = {{"tensor degree does not divide the heads", 2}};
  return it;
}

TEST(RenderLayouts, ListsLayoutsAndWhatWasLeftOut) {
  const std::string text = layouts_sheet(answer(), {});
  EXPECT_NE(text.find("m on 2x vm: 16 workers of G, batch of 1"), std::string::npos) << text;
  EXPECT_NE(text.find("dp4 tp2 pp2 zero1 mb1"), std::string::npos) << text;
  EXPECT_NE(text.find("60.0 of 80 GB"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 4 layouts fit"), std::string::npos) << text;
  EXPECT_NE(text.find("divide the heads: 2"), std::string::npos) << text;
}

TEST(RenderLayouts, TakesALayoutApart) {
  const std::string text = layout_sheet(estimate(), {});
  EXPECT_NE(text.find("pipeline bubble     pp2"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor collectives  tp2"), std::string::npos) << text;
}

TEST(RenderLayouts, MarksWhatIsNotValidated) {
  LayoutsAnswer it = answer();
  it.layouts.push_back(estimate());
  for (LayoutEstimate& layout : it.layouts) layout.unvalidated = {"constants (priors)"};
  it.layouts[1].unvalidated.emplace_back("interleaving");
  const std::string text = layouts_sheet(it, {});
  EXPECT_NE(text.find("interleaving"), std::string::npos) << text;
  EXPECT_NE(text.find("constants (priors): no measured row"), std::string::npos) << text;
}

TEST(RenderLayouts, HasALineForEachLayoutInCsv) {
  const std::string text = layouts_csv(answer());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_TRUE(text.starts_with("layout,iteration_s"));
}

TEST(RenderLayouts, SaysWhatWouldFit) {
  LayoutsAnswer it = answer();
  it.layouts.clear();
  it.fitting = 0;
  it.advice = "it fits on 4x vm with the layout 'dp32 zero3 mb1'";
  EXPECT_EQ(layouts_problem(it),
            "none of the 3 layouts of m fits on 2x vm with 90 % probability; it fits on 4x vm with "
            "the layout 'dp32 zero3 mb1'");
}

TEST(RenderLayouts, SaysHowAPlanShards) {
  Plan plan;
  EXPECT_EQ(sharding_text(plan, {}), "");
  plan.sharding = estimate();
  plan.runner_up = estimate();
  plan.runner_up->mean = 2.2 * kSecond;
  const std::string text = sharding_text(plan, {});
  EXPECT_NE(text.find("pipeline bubble (pp2) 15 %"), std::string::npos) << text;
  EXPECT_NE(text.find("Runner-up"), std::string::npos) << text;
  EXPECT_NE(text.find("10 % longer"), std::string::npos) << text;
}

}  // namespace
}  // namespace stint::cli
