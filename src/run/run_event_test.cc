#include "run/run_event.h"

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

}  // namespace
}  // namespace stint
