#include "provider/engine_call.h"

#include <gtest/gtest.h>

#include "provider/fake_engine.h"

namespace stint {
namespace {

TEST(EngineCall, SaysWhetherTheEngineAcceptsRefusesOrDoesNotAnswer) {
  const FixedClock clock(Seconds{});
  const FakeEngine engine(clock);
  const EngineCall request{.ask = EngineAsk::kRequest, .order = {.name = "vm1", .type = "t"}};
  engine.troubles = {.request = 1, .refuse = 1};
  EXPECT_EQ(perform(engine, request).error, "no route to the cloud");
  const EngineAnswer refused = perform(engine, request);
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->reason, "no capacity");
  EXPECT_FALSE(refused.error);
  const EngineAnswer accepted = perform(engine, request);
  EXPECT_FALSE(accepted.refusal || accepted.error);
  const EngineAnswer seen = perform(engine, {.ask = EngineAsk::kLook});
  ASSERT_TRUE(seen.list);
  EXPECT_EQ(seen.list->machines.at(0).name, "vm1");
  EXPECT_FALSE(perform(engine, {.ask = EngineAsk::kRelease, .order = {.name = "vm1"}}).error);
  EXPECT_EQ(engine.running(), 0);
}

}  // namespace
}  // namespace stint
