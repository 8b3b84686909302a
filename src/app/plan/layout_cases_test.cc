#include "app/plan/layout_cases.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

LayoutsRequest request(const std::string& model, const std::string& cluster) {
  return {.job = "model:" + model + ",samples=1,method=full,seq=2048", .cluster = cluster};
}

// Everybody trains a 7 B model on 8 A100s of 80 GB with FSDP (for example llama-recipes and
// torchtune): a replica needs 6.74 B · 16 bytes = 108 GB, an eighth of it 13.5 GB.
TEST(Layouts, SevenBillionFitOnEightA100) {
  const auto answer = list_layouts({}, request("llama-2-7b", "1x p4de.24xlarge"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_GT(answer->fitting, 0);
  EXPECT_EQ(answer->layouts.size(), 10U);
  EXPECT_EQ(answer->workers, 8);
  EXPECT_FALSE(answer->advice);
  for (std::size_t i = 1; i < answer->layouts.size(); ++i) {
    EXPECT_LE(answer->layouts[i - 1].mean, answer->layouts[i].mean);
  }
  LayoutsRequest fsdp = request("llama-2-7b", "1x p4de.24xlarge");
  fsdp.layout = "dp8 zero3 mb1 recompute:full";
  const auto one = list_layouts({}, fsdp);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->fitting, 1);
  EXPECT_GT(one->layouts.front().p_fits, 0.99);
  fsdp.layout = "dp8 mb1 recompute:full";
  const auto replica = list_layouts({}, fsdp);
  ASSERT_TRUE(replica.ok());
  EXPECT_EQ(replica->fitting, 0);
  EXPECT_LT(replica->layouts.front().p_fits, 0.1);
  EXPECT_TRUE(replica->advice);
}

// 69 B · 16 bytes = 1.1 TB, more than the 640 GB of 8 A100s.
TEST(Layouts, SeventyBillionDoNotAndTheAnswerSaysWhatWould) {
  const auto answer = list_layouts({}, request("llama-2-70b", "1x p4de.24xlarge"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->fitting, 0);
  EXPECT_TRUE(answer->layouts.empty());
  ASSERT_TRUE(answer->advice);
  EXPECT_NE(answer->advice->find("x p4de.24xlarge with the layout '"), std::string::npos)
      << *answer->advice;
}

TEST(Layouts, RefuseWhatCannotBe) {
  const auto why = [](const LayoutsRequest& it) {
    const auto answer = list_layouts({}, it);
    EXPECT_FALSE(answer.ok());
    return answer.ok() ? "" : answer.error().message;
  };
  LayoutsRequest it = request("llama-2-7b", "1x p4de.24xlarge");
  it.layout = "dp4 mb1";
  EXPECT_EQ(why(it),
            "the degrees of the layout 'dp4 mb1' multiply to 4, but the cluster has 8 workers");
  it.layout = "dq4";
  EXPECT_NE(why(it).find("'dq4' is no word of a layout"), std::string::npos);
  it = request("resnet50", "1x p4de.24xlarge");
  it.job = "model:resnet50,samples=1";
  EXPECT_NE(why(it).find("is no known transformer"), std::string::npos);
  EXPECT_NE(why(request("llama-2-7b", "1x p4de.24xlarge + 1x g5.xlarge")).find("several types"),
            std::string::npos);
  it = request("llama-2-7b", "1x p4de.24xlarge");
  it.rows = 0;
  EXPECT_EQ(why(it), "--rows must be 1 or more");
}

}  // namespace
}  // namespace stint
