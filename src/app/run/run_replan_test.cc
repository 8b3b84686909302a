#include "app/run/run_replan.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "run/run_replay.h"

namespace stint {
namespace {

WeighedWay way(const char* name, double seconds, double dollars,
               std::optional<double> p_deadline = {}) {
  return {.way = {.name = name, .moves = std::string(name) != "stay"},
          .time = seconds * kSecond,
          .cost = dollars * kDollar,
          .p_deadline = p_deadline};
}

TEST(BestWay, StaysWhereAMoveSavesLessThanATenth) {
  // 0.91 is more than 0.9 times what staying costs.
  EXPECT_EQ(best_way({way("stay", 100, 1), way("fresh", 50, 0.91)}), 0U);
  EXPECT_EQ(best_way({way("stay", 100, 1), way("fresh", 50, 0.89)}), 1U);
}

TEST(BestWay, TakesTheCheapestOfThoseThatPay) {
  EXPECT_EQ(best_way({way("stay", 100, 1), way("a", 50, 0.8), way("b", 80, 0.7)}), 2U);
}

TEST(BestWay, PaysMoreToKeepTheDeadline) {
  EXPECT_EQ(best_way({way("stay", 100, 1, 0.2), way("fast", 50, 3, 0.99)}), 1U);
  // And no more than that takes.
  EXPECT_EQ(best_way({way("stay", 100, 1, 0.2), way("faster", 40, 4, 1), way("fast", 50, 3, 0.97)}),
            2U);
}

TEST(BestWay, StaysWhereNothingKeepsTheDeadlineBetter) {
  EXPECT_EQ(best_way({way("stay", 100, 1, 0.1), way("dear", 100, 2, 0.12)}), 0U);
}

TEST(ReasonOf, ShowsTheArithmeticOfEveryWay) {
  EXPECT_EQ(reason_of({way("stay", 61, 0.0031), way("fresh", 34, 0.0022)}, 1, "steps are slow"),
            "a new plan, fresh, because steps are slow: stay: 61 s more for $0.0031; fresh: 34 s "
            "more for $0.0022");
}

RunRecord two_machines() {
  RunRecord record{.name = "r", .command = {"true"}, .global_batch = 8, .steps = 1000};
  record.plan.machines = {{.type = "local.large",
                           .count = 2,
                           .market = Market::kSpot,
                           .spot = 0.06 * kDollar / kHour,
                           .on_demand = 0.2 * kDollar / kHour,
                           .network = 100 * kMB / kSecond,
                           .batch_per_vm = 4}};
  record.plan.steps = {{{1}, 0.2 * kSecond, 0.2 * kSecond, 0.2 * kSecond},
                       {{2}, 0.1 * kSecond, 0.1 * kSecond, 0.1 * kSecond}};
  record.save_time = kSecond;
  record.start_up = 5 * kSecond;
  record.regroup = kSecond;
  record.tick = kSecond;
  return record;
}

/// The run until its machines trained a hundred steps, ten of `first` and then those of `time`.
std::unique_ptr<Supervisor> trained_for_a_while(const RunRecord& record, Seconds first,
                                                Seconds time) {
  auto supervisor = make_supervisor(record);
  supervisor->handle({.kind = RunEventKind::kTick});
  supervisor->handle({.kind = RunEventKind::kVmUp, .at = kSecond, .vm = 0});
  supervisor->handle({.kind = RunEventKind::kVmUp, .at = kSecond, .vm = 1});
  supervisor->handle(
      {.kind = RunEventKind::kWorkersUp, .at = 5 * kSecond, .attempt = 1, .step = 0});
  Seconds now = 5 * kSecond;
  for (int step = 1; step <= 100; ++step) {
    const Seconds duration = step <= 10 ? first : time;
    now += duration;
    supervisor->handle({.kind = RunEventKind::kStepDone,
                        .at = now,
                        .attempt = 1,
                        .step = step,
                        .duration = duration});
  }
  return supervisor;
}

TEST(ThinkAgain, MovesToFreshMachinesWhereThoseThatAreThereBecameSlow) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const RunRecord record = two_machines();
  const auto supervisor = trained_for_a_while(record, 0.1 * kSecond, 0.3 * kSecond);
  const auto ways = ways_on({}, folder->path(), record, *supervisor, record.plan, true);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_NEAR(ways[0].slowness, 3, 1e-9);
  EXPECT_EQ(ways[1].slowness, 1);
  EXPECT_EQ(ways[1].plan.generation, 2);
}

TEST(ThinkAgain, DoesNotMoveToMachinesThatWouldBeAsSlow) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const RunRecord record = two_machines();
  const auto supervisor = trained_for_a_while(record, 0.3 * kSecond, 0.3 * kSecond);
  const Replanning thought =
      think_again({}, folder->path(), record, *supervisor, record.plan, "steps are slow");
  EXPECT_FALSE(thought.plan);
  EXPECT_NE(thought.reason.find("the plan is kept because steps are slow: stay: "),
            std::string::npos);
  // Machines that were faster once are another matter, and no journal is needed to know it.
  const auto slowed = trained_for_a_while(record, 0.1 * kSecond, 0.3 * kSecond);
  EXPECT_NE(think_again({}, folder->path(), record, *slowed, record.plan, "steps are slow")
                .reason.find("new machines of the same kind"),
            std::string::npos);
}

}  // namespace
}  // namespace stint
