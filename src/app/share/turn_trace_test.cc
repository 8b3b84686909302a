#include "app/share/turn_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

using testing::HasSubstr;

class TurnTraceTest : public testing::Test {
 protected:
  void note(const std::string& run, const std::string& machine, const std::string& lines) {
    ASSERT_TRUE(
        write_file(place_.path() + "/" + run + "/log/" + machine + "-turns.jsonl", lines).ok());
  }
  std::vector<std::string> folders() const { return {place_.path() + "/a", place_.path() + "/b"}; }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
};

TEST_F(TurnTraceTest, DrawsTheTurnsOfBothRunsSinceTheFirst) {
  note("a", "vm1", "{\"turn\": {\"begin_s\": 100.0, \"end_s\": 100.25}}\n");
  note("b", "vm1",
       "{\"turn\": {\"begin_s\": 100.25, \"end_s\": 100.5}}\n{\"turn\": {\"begin_s\": 10");
  const auto trace = turn_trace(folders());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_TRUE(parse_json(*trace, "trace").ok());
  EXPECT_THAT(*trace, HasSubstr("vm1: a"));
  EXPECT_THAT(*trace, HasSubstr("vm1: b"));
  EXPECT_THAT(*trace, HasSubstr("\"ts\": 250000"));
  EXPECT_THAT(*trace, HasSubstr("\"dur\": 250000"));
}

TEST_F(TurnTraceTest, WithoutTurnsThereIsNothingToDraw) {
  const auto trace = turn_trace(folders());
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(parse_json(*trace, "trace").ok());
}

TEST_F(TurnTraceTest, ALineThatIsNoTurnIsNamed) {
  note("a", "vm1", "{\"turn\": {\"begin_s\": 100.0, \"end_s\": 99}}\n");
  const auto trace = turn_trace(folders());
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().message, HasSubstr("vm1-turns.jsonl:1: this is no turn"));
}

}  // namespace
}  // namespace stint
