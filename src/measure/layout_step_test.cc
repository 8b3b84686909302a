#include "measure/layout_step.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kLine =
    R"({"schema": "stint.layout-step/1", "name": "dp2 zero3 on two VMs", "layout": "dp2 zero3",
"cluster": "2x local.large", "link_bits_per_s": 5e8, "batch": 4, "micro_batches": 1,
"model": {"layers": 4, "width": 512, "length": 512, "letters": 256},
"compute": {"forward_ms": 40, "backward_ms": 80, "update_ms": 20},
"iteration_s": {"median": 1.5, "min": 1.4}, "load": 0.1})";

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text + "\n";
}

TEST(LayoutStep, ReadsALine) {
  const auto steps = read_layout_steps(one_line(kLine), "steps.jsonl");
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  ASSERT_EQ(steps->size(), 1U);
  const LayoutStep& step = steps->front();
  EXPECT_EQ(step.layout.data, 2);
  EXPECT_EQ(step.layout.zero, 3);
  EXPECT_NEAR(step.link.in(kMbit / kSecond), 500, 1e-9);
  EXPECT_NEAR(step.compute.backward.in(kSecond), 0.08, 1e-12);
  ASSERT_TRUE(step.iteration.has_value());
  EXPECT_NEAR(step.iteration->median.in(kSecond), 1.5, 1e-12);
}

TEST(LayoutStep, RefusesWhatIsNotALayout) {
  std::string text = one_line(kLine);
  const std::size_t at = text.find("\"layout\": \"dp2");
  text.replace(at, 14, "\"layout\": \"xp2");
  const auto steps = read_layout_steps(text, "steps.jsonl");
  ASSERT_FALSE(steps.ok());
  EXPECT_EQ(steps.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(steps.error().message.find("steps.jsonl:1"), std::string::npos);
}

}  // namespace
}  // namespace stint
