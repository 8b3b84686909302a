#include "app/search/search_live.h"

#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>

#include "base/temporary_folder.h"
#include "run/run_replay.h"

namespace stint {
namespace {

using Event = RunEventKind;

/// A training that follows all orders: machines are up at once, and steps take the world's times.
class FakeTraining {
 public:
  FakeTraining(const PreparedSearch& search, LiveSearch& live)
      : record_(search.run.record),
        plan_(record_.plan),
        live_(live),
        supervisor_(make_supervisor(record_)) {}

  /// Seconds of a step, by the number of machines and the batch.
  std::function<double(int, int)> step_time = [](int vms, int batch) { return batch / 48.0 / vms; };
  std::function<double(double)> loss = [](double progress) { return 1 / (1 + progress); };
  double noise = 500;  // Φ; G² is 1.
  bool measures = true;
  int late_steps = 0;  // Steps that workers do by their old terms while those of a new plan start.
  int machines_come = 1000;

  void run(int events_max = 3000) {
    tell({.kind = Event::kTick});
    for (int i = 0; i < events_max && !supervisor_->finished(); ++i) next();
  }

  const Supervisor& supervisor() const { return *supervisor_; }
  const RunPlan& plan() const { return plan_; }
  int moves() const { return moves_; }
  std::int64_t done() const { return done_; }
  double progress() const { return progress_; }

 private:
  void next() {
    if ((launched_.empty() || machines_come == 0) && !training_ && !save_) {
      now_ += 1;
      return tell({.kind = Event::kTick});
    }
    if (!launched_.empty() && machines_come > 0) {
      --machines_come;
      const int vm = launched_.back();
      launched_.pop_back();
      return tell({.kind = Event::kVmUp, .vm = vm});
    }
    if (save_) {
      RunEvent saved{.kind = Event::kSaved, .step = done_, .save = *save_};
      save_.reset();
      return tell(saved);
    }
    step();
  }

  void step() {
    const RunBatch& training = *order_.training;
    if (done_ >= training.steps) {
      now_ += 1;
      return tell({.kind = Event::kTick});
    }
    const double time = step_time(machines_, training.batch);
    now_ += time;
    ++done_;
    progress_ += training.gain;
    GangNews news{.step = GangStep{.number = done_, .time = time * kSecond}};
    news.step->loss = loss(progress_);
    news.step->progress = progress_;
    if (measures && machines_ > 1) {
      const double share = static_cast<double>(training.batch) / machines_;
      for (int k = 0; k < machines_; ++k) news.step->squares.push_back({share, 1 + noise / share});
      news.step->mean_square = 1 + noise / training.batch;
    }
    live_.trained(news);
    tell(
        {.kind = Event::kStepDone, .attempt = attempt_, .step = done_, .duration = time * kSecond});
  }

  void tell(RunEvent event) {
    event.at = now_ * kSecond;
    if (event.kind == Event::kTerms) supervisor_->change_terms(terms_of(record_, plan_));
    for (const RunAction& action : supervisor_->handle(event)) perform(action);
    if (supervisor_->finished()) return;
    if (auto thought = live_.wish(*supervisor_, plan_); thought && thought->plan) {
      ++moves_;
      plan_ = *thought->plan;
      tell({.kind = Event::kTerms, .count = 2, .reason = thought->reason});
    }
  }

  void perform(const RunAction& action) {
    if (action.kind == RunActionKind::kLaunch) launched_.push_back(action.vm);
    if (action.kind == RunActionKind::kSave) save_ = action.save;
    if (action.kind != RunActionKind::kTrain) return;
    go_on_until_others_are_ready(action);
    order_ = plan_;
    machines_ = static_cast<int>(action.vms.size());
    attempt_ = action.attempt;
    training_ = true;
    now_ += 0.5;
    live_.trained({.training_after = done_, .progress = progress_});
    later_.push_back({.kind = Event::kWorkersUp, .attempt = attempt_, .step = done_});
    while (!later_.empty()) {
      const RunEvent event = later_.back();
      later_.pop_back();
      RunEvent now = event;
      now.at = now_ * kSecond;
      for (const RunAction& more : supervisor_->handle(now)) perform(more);
    }
  }

  /// Only machines that are new have workers to wait for.
  void go_on_until_others_are_ready(const RunAction& action) {
    const bool waits = training_ && action.vms != vms_;
    for (int i = 0; waits && i < late_steps && done_ < order_.training->steps; ++i) {
      now_ += step_time(machines_, order_.training->batch);
      live_.trained_meanwhile(now_ * kSecond);
      ++done_;
      progress_ += order_.training->gain;
    }
    vms_ = action.vms;
  }

  RunRecord record_;
  RunPlan plan_;   // The plan that the supervisor follows,
  RunPlan order_;  // and the workers.
  LiveSearch& live_;
  std::unique_ptr<Supervisor> supervisor_;
  std::vector<int> launched_;
  std::vector<int> vms_;  // VMs that train.
  std::vector<RunEvent> later_;
  std::optional<int> save_;
  bool training_ = false;
  int machines_ = 0;
  int attempt_ = 0;
  int moves_ = 0;
  std::int64_t done_ = 0;
  double progress_ = 0;
  double now_ = 0;
};

class LiveSearchTest : public testing::Test {
 protected:
  SearchRequest request() {
    SearchRequest asked{.objective = SearchObjective::kTime,
                        .steps = 400,
                        .types = {"local.large"},
                        .vms = {1, 2, 4},
                        .batches = {48, 96},
                        .budget = 0.5};
    asked.run = {.job = "paced-5mb", .command = {"train"}, .global_batch = 48};
    return asked;
  }

  void begin(const SearchRequest& asked) {
    auto search = prepare_search(environment_, asked);
    ASSERT_TRUE(search.ok()) << search.error().message;
    live_ = std::make_unique<LiveSearch>(*search, [this](const SearchRecord&) { ++changes_; });
    training_ = std::make_unique<FakeTraining>(*search, *live_);
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path(),
                           .clock = std::make_shared<FixedClock>(1000 * kSecond)};
  int changes_ = 0;
  std::unique_ptr<LiveSearch> live_;
  std::unique_ptr<FakeTraining> training_;
};

// Steps get four times as fast on four machines, and gradients are noisy: the largest cluster.
TEST_F(LiveSearchTest, GoesToTheBestSetupAndTrainsToTheGoal) {
  begin(request());
  training_->run();
  EXPECT_TRUE(training_->supervisor().finished());
  const SearchRecord& record = live_->record();
  ASSERT_TRUE(record.choice);
  EXPECT_EQ(record.choice->cluster, "4x local.large");
  EXPECT_NEAR(training_->progress(), 400, 400 * 0.06);
  EXPECT_GE(record.probes.size(), 2U);
  EXPECT_GE(record.moves.size(), 1U);
  EXPECT_EQ(live_->shortfall(), "");
  EXPECT_GT(changes_, 2);
  EXPECT_EQ(record.surface.size(), 6U);
}

// While machines start, a hundred steps are worth what they were before the move, and not what a
// step of the new batch is.
TEST_F(LiveSearchTest, TrainsToTheGoalHoweverLongMachinesTakeToStart) {
  for (const int late : {0, 20, 100}) {
    for (const std::vector<int>& batches : {std::vector{48, 96}, std::vector{24, 48}}) {
      SearchRequest asked = request();
      asked.batches = batches;
      begin(asked);
      training_->late_steps = late;
      training_->run();
      EXPECT_TRUE(training_->supervisor().finished());
      EXPECT_NEAR(training_->progress(), 400, 400 * 0.02) << late << " late steps";
      EXPECT_GE(live_->record().moves.size(), 1U);
    }
  }
}

// Workers continue by their own terms: their steps must not count as steps of the new batch.
TEST_F(LiveSearchTest, TrainsToTheGoalWhenTheMachinesOfAMoveNeverCome) {
  begin(request());
  training_->machines_come = 1;
  training_->run(20000);
  EXPECT_TRUE(training_->supervisor().finished());
  EXPECT_NEAR(training_->progress(), 400, 400 * 0.02);
  EXPECT_EQ(live_->record().choice->cluster, "1x local.large");
  EXPECT_GE(live_->record().moves.size(), 1U);
}

// Workers pause for half a second, and are ordered as soon as the machines are up.
TEST_F(LiveSearchTest, TellsWhatAMoveTook) {
  begin(request());
  training_->run();
  const SearchedMove& move = live_->record().moves.front();
  EXPECT_EQ(move.from.cluster, "1x local.large");
  ASSERT_TRUE(move.measured);
  EXPECT_NEAR(move.measured->in(kSecond), 0.5, 0.01);
  ASSERT_TRUE(move.measured_cost);
  EXPECT_GT(*move.measured_cost, Dollars{});
  EXPECT_NE(move.why.find("staying takes"), std::string::npos) << move.why;
}

// Workers that are kept train for 20 s until the new ones are ready, which is no part of the pause.
TEST_F(LiveSearchTest, DoesNotCountStepsOfKeptWorkersAsPause) {
  begin(request());
  training_->late_steps = 20;
  training_->run();
  const SearchedMove& move = live_->record().moves.front();
  ASSERT_TRUE(move.measured);
  EXPECT_NEAR(move.measured->in(kSecond), 0.5, 0.01);
}

// More machines only make it slower.
TEST_F(LiveSearchTest, StaysOrComesBackWhereMoreMachinesAreNoGood) {
  begin(request());
  training_->step_time = [](int vms, int batch) { return batch / 48.0 * vms; };
  training_->run();
  EXPECT_TRUE(training_->supervisor().finished());
  EXPECT_EQ(live_->record().choice->cluster, "1x local.large");
}

TEST_F(LiveSearchTest, LearnsTheNoise) {
  begin(request());
  training_->run();
  ASSERT_FALSE(live_->record().noise.empty());
  EXPECT_NEAR(live_->record().noise.back().scale, 500, 1);
}

TEST_F(LiveSearchTest, SaysThatNoiseNeverSettles) {
  begin(request());
  training_->noise = -60;  // Measured squares without a valid scale.
  training_->run();
  EXPECT_TRUE(training_->supervisor().finished());
  bool said = false;
  for (const std::string& warning : live_->record().warnings) {
    said = said || warning.find("did not converge") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

TEST_F(LiveSearchTest, EndsWhenTheLossIsReached) {
  SearchRequest asked = request();
  asked.loss_target = 0.01;  // After a progress of 99, and some steps for the mean.
  begin(asked);
  training_->run();
  EXPECT_TRUE(training_->supervisor().finished());
  EXPECT_EQ(live_->shortfall(), "");
  EXPECT_GT(training_->progress(), 99);
  EXPECT_LT(training_->progress(), 250);
}

TEST_F(LiveSearchTest, ALossThatRisesAfterItWasReachedWasReached) {
  SearchRequest asked = request();
  asked.loss_target = 0.01;
  begin(asked);
  std::deque<double> latest;
  bool reached = false;
  training_->loss = [&](double progress) {
    const double loss = reached ? 1 : 1 / (1 + progress);
    latest.push_back(loss);
    if (latest.size() > 10) latest.pop_front();
    const double sum = std::accumulate(latest.begin(), latest.end(), 0.0);
    reached = reached || (latest.size() == 10 && sum <= 0.1);
    return loss;
  };
  training_->run();
  EXPECT_TRUE(training_->supervisor().finished());
  EXPECT_EQ(latest.back(), 1);
  EXPECT_EQ(live_->shortfall(), "");
}

TEST_F(LiveSearchTest, GivesATargetUpThatIsNeverReached) {
  SearchRequest asked = request();
  asked.loss_target = 1e-6;
  begin(asked);
  training_->run(20000);
  EXPECT_TRUE(training_->supervisor().finished());
  EXPECT_NE(live_->shortfall().find("was not reached"), std::string::npos);
  // The run took twice as long as predicted, and ended.
  EXPECT_GT(training_->progress(), 700);
  EXPECT_LT(training_->progress(), 1100);
}

TEST_F(LiveSearchTest, TakesFewerSamplesAtOnceWhereMemoryIsShort) {
  begin(request());
  live_->out_of_memory("local.large", 48);
  const auto thought = live_->wish(training_->supervisor(), training_->plan());
  ASSERT_TRUE(thought);
  ASSERT_TRUE(thought->plan);
  EXPECT_EQ(thought->plan->machines.front().micro_batch, 24);
  EXPECT_EQ(live_->record().warnings.size(), 1U);
  ASSERT_EQ(live_->record().memory.size(), 1U);
  EXPECT_EQ(live_->record().memory[0].samples, 24);
}

TEST_F(LiveSearchTest, LeavesAMachineOnWhichNotEvenOneSampleFits) {
  SearchRequest asked = request();
  asked.types = {"local.large", "local.fast"};
  begin(asked);
  live_->out_of_memory("local.large", 1);
  const auto thought = live_->wish(training_->supervisor(), training_->plan());
  ASSERT_TRUE(thought);
  EXPECT_EQ(thought->plan->machines.front().type, "local.fast");
}

}  // namespace
}  // namespace stint
