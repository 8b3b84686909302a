#include "simulate/search_world.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// Batch 10 takes 1000 steps; batch 20 is no faster in its first half, and twice as fast then.
SearchWorld small_world() {
  SearchWorld world;
  world.setups = {{.workers_by_vm = {1}, .batch = 10, .step = 1 * kSecond},
                  {.workers_by_vm = {1, 1}, .batch = 10, .step = 0.8 * kSecond},
                  {.workers_by_vm = {1, 1}, .batch = 20, .step = 0.8 * kSecond}};
  world.curves[10] = {{.way = 0.5, .steps = 500, .noise = 7},
                      {.way = 1, .steps = 1000, .noise = 9}};
  world.curves[20] = {{.way = 0.5, .steps = 500, .noise = 8},
                      {.way = 1, .steps = 750, .noise = 10}};
  world.vm_price = 1 * kDollar / kSecond;
  world.move = 50 * kSecond;
  return world;
}

TEST(SearchWorld, CurvesAreLinesBetweenEpochs) {
  const SearchWorld world = small_world();
  EXPECT_DOUBLE_EQ(steps_at(world.curves.at(20), 0.25), 250);
  EXPECT_DOUBLE_EQ(steps_at(world.curves.at(20), 0.75), 625);
  EXPECT_DOUBLE_EQ(way_at(world.curves.at(20), 625), 0.75);
  EXPECT_DOUBLE_EQ(way_at(world.curves.at(20), 9999), 1);
  EXPECT_EQ(noise_at(world.curves.at(10), 0.5), 7);
  EXPECT_EQ(noise_at(world.curves.at(10), 0.51), 9);
}

TEST(SearchWorld, ARunPaysForStepsAndMoves) {
  const SearchWorld world = small_world();
  SearchedRun run(world, 0);
  run.train(100);
  EXPECT_NEAR(run.time().in(kSecond), 100, 1e-9);
  EXPECT_NEAR(run.cost().in(kDollar), 100, 1e-9);
  EXPECT_EQ(run.noise(), 7);
  run.move(2);
  EXPECT_NEAR(run.time().in(kSecond), 150, 1e-9);
  EXPECT_NEAR(run.cost().in(kDollar), 200, 1e-9);
  run.train_epoch();
  EXPECT_DOUBLE_EQ(run.way(), 0.5);
  EXPECT_NEAR(run.time().in(kSecond), 150 + 320, 1e-9);
  run.train(1e9);
  EXPECT_TRUE(run.done());
  EXPECT_NEAR(run.time().in(kSecond), 150 + 320 + 200, 1e-9);
  EXPECT_EQ(run.moves(), 1);
}

// From the first setup it is best to go to the third at once: 50 + 750 · 0.8.
TEST(SearchWorld, TheSeerMovesWhenItPays) {
  SearchWorld world = small_world();
  EXPECT_NEAR(least_time(world, 0).in(kSecond), 650, 1e-6);
  EXPECT_NEAR(least_time(world, 2).in(kSecond), 600, 1e-6);
  EXPECT_NEAR(least_cost(world, 0).in(kDollar), 1000, 1e-6) << "two machines cost too much";
  world.move = 500 * kSecond;
  EXPECT_NEAR(least_time(world, 0).in(kSecond), 1000, 1e-6);
}

// With a faster small batch, the first half is trained with that and the second with the large one.
TEST(SearchWorld, TheSeerMovesInTheMiddle) {
  SearchWorld world = small_world();
  world.setups[1].step = 0.5 * kSecond;
  world.move = 10 * kSecond;
  world.curves[20] = {{.way = 0.5, .steps = 500}, {.way = 1, .steps = 600}};
  EXPECT_NEAR(least_time(world, 1).in(kSecond), 500 * 0.5 + 10 + 100 * 0.8, 1e-6);
}

}  // namespace
}  // namespace stint
