#include "supervise/run_event.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace stint {
namespace {

TEST(RunEvent, KeepsItsFieldsThroughTheJournal) {
  const RunEvent event{
      .kind = RunEventKind::kNotice, .at = 12.5 * kSecond, .vm = 3, .duration = 120 * kSecond};
  const Json json = encode(event, "stint.run-event/1");
  EXPECT_EQ(
      to_text(json, JsonStyle::kLine),
      R"({"schema":"stint.run-event/1","kind":"notice","at_s":12.5,"vm":3,"duration_s":120.0})");
}

// A replayed event must equal the handled one to the last bit.
TEST(RunEvent, ComesBackFromTheJournalAsItWas) {
  const RunEvent event{.kind = RunEventKind::kSaved,
                       .at = 1.0 / 3 * kSecond,
                       .step = 12,
                       .save = 4,
                       .duration = 0.1 * kSecond,
                       .type = "p3.2xlarge",
                       .spot = 0.1 / 3 * kDollar / kSecond,
                       .cost = 1e-17 * kDollar};
  const std::string line = to_text(encode(event, "stint.run-event/1"), JsonStyle::kLine);
  const auto back = read_document<RunEvent>(line, "stint.run-event/1", "journal");
  ASSERT_TRUE(back.ok());
  const RunEvent& same = back->noun;
  EXPECT_EQ(same.kind, event.kind);
  EXPECT_EQ(same.at, event.at);
  EXPECT_EQ(same.step, event.step);
  EXPECT_EQ(same.save, event.save);
  EXPECT_EQ(same.duration, event.duration);
  EXPECT_EQ(same.type, event.type);
  EXPECT_EQ(same.spot, event.spot);
  EXPECT_EQ(same.cost, event.cost);
  EXPECT_FALSE(same.vm);
}

}  // namespace
}  // namespace stint
