#include "interleave/pair_options.h"

#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"
#include "interleave/pairing_fixture.h"

namespace stint {
namespace {

SharedWork work(double iterations, double alone_s, double shared_s) {
  return {.iterations = iterations, .alone = alone_s * kSecond, .shared = shared_s * kSecond};
}

// Both have 10 iterations, 3 s alone and 4 s shared: done after 40 s instead of 60.
TEST(PairOutcome, OfEqualJobsEndsTogether) {
  const PairOutcome it = pair_outcome(work(10, 3, 4), work(10, 3, 4));
  EXPECT_NEAR(it.makespan.in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.together.in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.separate.in(kSecond), 60, 1e-9);
  EXPECT_NEAR(it.speedup(), 1.5, 1e-9);
  EXPECT_NEAR(it.slowdown[0], 4.0 / 3, 1e-9);
  EXPECT_NEAR(it.slowdown[1], 4.0 / 3, 1e-9);
}

// A: 10 iterations of 4 s shared, done after 40. B: 30 of 5 s shared has done 8 by then; the other
// 22 take 2 s each alone: 84. Alone they would have taken 30 + 60.
TEST(PairOutcome, LetsTheLongerJobGoOnAlone) {
  const PairOutcome it = pair_outcome(work(10, 3, 4), work(30, 2, 5));
  EXPECT_NEAR(it.end[0].in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.end[1].in(kSecond), 84, 1e-9);
  EXPECT_NEAR(it.together.in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.speedup(), 90.0 / 84, 1e-9);
  EXPECT_NEAR(it.slowdown[0], 40.0 / 30, 1e-9);
  EXPECT_NEAR(it.slowdown[1], 84.0 / 60, 1e-9);
}

TEST(PairOutcome, OfNothingToDoIsTheOtherJobAlone) {
  const PairOutcome it = pair_outcome(work(0, 3, 4), work(10, 2, 5));
  EXPECT_NEAR(it.makespan.in(kSecond), 20, 1e-9);
  EXPECT_NEAR(it.speedup(), 1, 1e-9);
  EXPECT_NEAR(it.slowdown[0], 1, 1e-9);
}

TEST(PairOutcomeProperty, IsSymmetricAndNoWorseThanOneAfterTheOtherWhereSharingPays) {
  constexpr int kSeed = 73;
  Random random(kSeed);
  for (int trial = 0; trial < 1000; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    const double a = random.uniform(0.1, 3);
    const double b = random.uniform(0.1, 3);
    // Both do an iteration in the time that they would take one after the other, or less.
    const double period = random.uniform(std::max(a, b), a + b);
    const SharedWork first = work(random.uniform(1, 100), a, period);
    const SharedWork second = work(random.uniform(1, 100), b, period);
    const PairOutcome it = pair_outcome(first, second);
    const PairOutcome other = pair_outcome(second, first);
    ASSERT_NEAR(it.makespan.in(kSecond), other.makespan.in(kSecond), 1e-9);
    ASSERT_NEAR(it.end[0].in(kSecond), other.end[1].in(kSecond), 1e-9);
    ASSERT_GE(it.speedup(), 1 - 1e-9);
    ASSERT_GE(it.slowdown[0], 1 - 1e-9);
    ASSERT_GE(it.slowdown[1], 1 - 1e-9);
  }
}

/// 1 + 1 + 2 + `activations` + 1 GB.
MemoryNeed need(double activations_gb) {
  return {.parameters = 1 * kGB,
          .gradients = 1 * kGB,
          .optimizer = 2 * kGB,
          .activations = activations_gb * kGB,
          .overhead = 1 * kGB};
}

// 8 and 11 GB, of the 95 % of 20 GB that can be used: 19 of 19.
TEST(SharedMemory, IsTheSumOfAllWorkers) {
  const std::vector<MemoryNeed> needs{need(3), need(6)};
  const MemoryVerdict verdict = shared_memory_verdict(needs, 20.001 * kGB);
  EXPECT_TRUE(verdict.fits);
  EXPECT_NEAR(verdict.needed.in(kGB), 19, 1e-9);
  EXPECT_FALSE(shared_memory_verdict(needs, 19.99 * kGB).fits);
}

TEST(SharedMemory, OfOneWorkerIsItsOwn) {
  const std::vector<MemoryNeed> needs{need(3)};
  const MemoryVerdict verdict = shared_memory_verdict(needs, 10 * kGB);
  EXPECT_EQ(verdict.needed, memory_verdict(need(3), 10 * kGB).needed);
  EXPECT_EQ(verdict.available, memory_verdict(need(3), 10 * kGB).available);
}

const ShareCluster kCluster{.rate = 3.6 * kDollar / kHour, .memory = {16 * kGB}};
const SharingModels kTurns{.turns = closed_form_pace};

PairTerms terms(const SharingModels& models = kTurns) {
  return {.cluster = kCluster, .models = models};
}

// Two jobs of 30 + 30 ms: rounds of 60 ms instead of 120, so 60 s of 120 s are saved.
TEST(PairVerdict, OfJobsThatFitIsToTakeTurns) {
  const PairVerdict verdict = pair_verdict(plain_job("a", 30, 30), plain_job("b", 30, 30), terms());
  EXPECT_EQ(verdict.refusal, PairRefusal::kNone);
  ASSERT_EQ(verdict.options.size(), 2U);
  const PairOption& best = verdict.options.front();
  EXPECT_EQ(best.turns, (std::array{1, 1}));
  EXPECT_NEAR(best.saved().in(kSecond), 60, 1e-6);
  EXPECT_NEAR(best.outcome.speedup(), 2, 1e-9);
  EXPECT_FALSE(best.p_deadline[0].has_value());
}

// 10 + 10 ms beside 60 + 40 ms. One turn each: 1000 rounds of 100 take 100 s, the sum is 120 s.
// Two turns: the bound is 2 · 10 + 60 = 80, m cA + (m − 1) sA + cB = 20 + 10 + 60 = 90, B alone
// 100: a round of 100, in which A has two. It is done after 50 s, and both after 100 s.
TEST(PairVerdict, PrefersOneTurnEachWhereMoreSaveNothing) {
  const PairVerdict verdict = pair_verdict(plain_job("a", 10, 10), plain_job("b", 60, 40), terms());
  EXPECT_EQ(verdict.options.front().turns, (std::array{1, 1}));
  EXPECT_NEAR(verdict.options.front().saved().in(kSecond), 20, 1e-6);
}

// The same with three times the iterations of A: in rounds of 100 with one turn A is left with 2000
// iterations of 20 ms after 100 s: 140 s. With two turns: 1000 left: 120 s. With three, a round
// takes max(90, 3 · 20, 100, 30 + 2 · 10 + 60) = 110 ms, and all are done after 110 s.
TEST(PairVerdict, ChoosesARhythmForJobsOfUnequalLength) {
  ShareJob often = plain_job("a", 10, 10);
  often.iterations = 3000;
  const PairVerdict verdict = pair_verdict(often, plain_job("b", 60, 40), terms());
  EXPECT_EQ(verdict.options.front().turns, (std::array{3, 1}));
  EXPECT_NEAR(verdict.options.front().outcome.makespan.in(kSecond), 110, 1e-6);
  const PairVerdict other = pair_verdict(plain_job("b", 60, 40), often, terms());
  EXPECT_EQ(other.options.front().turns, (std::array{1, 3}));
}

// Freely they would be done in 40 s of 60 s on average, but a time in ten as late as after
// 40 exp(1.28 · 0.5) = 76 s; by turns after 55 s, as is sure.
TEST(PairVerdict, TakesWhatIsSureOverWhatIsBetterOnAverage) {
  const auto turns = [](const SharingQuestion&) {
    return std::optional(SharedPace{.slowdown = {55.0 / 30, 55.0 / 30}});
  };
  const auto freely = [](const SharingQuestion&) {
    return std::optional(SharedPace{.slowdown = {40.0 / 30, 40.0 / 30}, .deviation = 0.5});
  };
  const SharingModels both{.turns = turns, .freely = freely};
  const PairVerdict verdict =
      pair_verdict(plain_job("a", 20, 10), plain_job("b", 20, 10), terms(both));
  EXPECT_NE(verdict.options.front().mode, SharingMode::kFreely);
  EXPECT_EQ(verdict.options.back().mode, SharingMode::kFreely);
  EXPECT_NEAR(verdict.options.back().saved().in(kSecond), 20, 1e-6);
  EXPECT_NEAR(verdict.options.back().saved_surely().in(kSecond), 60 - 75.9, 0.1);
}

TEST(PairVerdict, RefusesUnequalWorkers) {
  ShareJob wide = plain_job("wide", 30, 30);
  wide.setup.groups[0].workers_per_vm = 4;
  const PairVerdict verdict = pair_verdict(plain_job("a", 30, 30), wide, terms());
  EXPECT_EQ(verdict.refusal, PairRefusal::kWorkers);
  EXPECT_EQ(verdict.reason,
            "a has 2 workers and wide has 8, but each accelerator needs one worker of each.");
}

// 9 GB each, of 15.2 that can be used.
TEST(PairVerdict, RefusesWhatDoesNotFitTogether) {
  ShareJob large = plain_job("large", 30, 30);
  large.memory = {MemoryNeed{.activations = 9 * kGB}};
  const PairVerdict verdict = pair_verdict(large, large, terms());
  EXPECT_EQ(verdict.refusal, PairRefusal::kMemory);
  EXPECT_EQ(verdict.reason, "Together they need 18.0 GB of an accelerator with 15.2 GB usable.");
  ShareJob small = large;
  small.memory[0]->activations = 6 * kGB;
  EXPECT_EQ(pair_verdict(large, small, terms()).refusal, PairRefusal::kNone);
  small.memory[0].reset();
  EXPECT_EQ(pair_verdict(large, small, terms()).refusal, PairRefusal::kNone);
}

// Alone each takes 60 s; together 60 s as well, which is 10 % off either way: a deadline of 65 s is
// kept with P(z ≤ ln(65/60)/0.1) = P(z ≤ 0.80) = 0.79.
TEST(PairVerdict, RefusesWhatWouldBeLate) {
  ShareJob job = plain_job("a", 30, 30);
  job.deviation = 0.1;
  job.deadline = 65 * kSecond;
  const PairVerdict verdict = pair_verdict(plain_job("b", 30, 30), job, terms());
  EXPECT_EQ(verdict.refusal, PairRefusal::kDeadline);
  EXPECT_EQ(verdict.reason, "Together, a would meet its deadline with a probability of only 0.79.");
  job.deadline = 75 * kSecond;  // P(z ≤ 2.23) = 0.987.
  EXPECT_EQ(pair_verdict(plain_job("b", 30, 30), job, terms()).refusal, PairRefusal::kNone);
}

// With one turn each A takes 100 ms an iteration, too slow for its deadline of 80 s; with two turns
// of it to one of B it has done its 1000 in 50 rounds of 100 ms.
TEST(PairVerdict, TakesARhythmThatKeepsADeadline) {
  ShareJob job = plain_job("a", 10, 10);
  job.deadline = 80 * kSecond;
  const PairVerdict verdict = pair_verdict(job, plain_job("b", 60, 40), terms());
  EXPECT_EQ(verdict.refusal, PairRefusal::kNone);
  EXPECT_EQ(verdict.options.front().turns, (std::array{2, 1}));
  EXPECT_EQ(verdict.options.front().p_deadline[0], 1);
}

// 99 + 1 and 99 + 1: 198 instead of 200 ms.
TEST(PairVerdict, RefusesWhatHardlyPays) {
  const PairVerdict verdict = pair_verdict(plain_job("a", 99, 1), plain_job("b", 99, 1), terms());
  EXPECT_EQ(verdict.refusal, PairRefusal::kNoGain);
  EXPECT_EQ(verdict.reason, "The speedup is not certain to exceed 1.0 %.");
}

TEST(PairVerdict, ComparesSharingFreelyWhereThereIsAModelOfIt) {
  const SharingModels models{.turns = closed_form_pace, .freely = [](const SharingQuestion&) {
                               return SharedPace{.slowdown = {1.2, 1.2}};
                             }};
  const PairVerdict verdict =
      pair_verdict(plain_job("a", 45, 15), plain_job("b", 45, 15), terms(models));
  ASSERT_EQ(verdict.options.size(), 3U);
  EXPECT_EQ(verdict.options.front().mode, SharingMode::kFreely);  // 72 s; by turns it takes 90 s.
  EXPECT_NEAR(verdict.options.front().outcome.makespan.in(kSecond), 72, 1e-6);
}

TEST(PairVerdict, SaysWhenNoModelCanTell) {
  const SharingModels none{
      .turns = [](const SharingQuestion&) -> std::optional<SharedPace> { return std::nullopt; }};
  EXPECT_EQ(pair_verdict(plain_job("a", 3, 1), plain_job("b", 3, 1), terms(none)).refusal,
            PairRefusal::kUnknown);
}

}  // namespace

}  // namespace stint
