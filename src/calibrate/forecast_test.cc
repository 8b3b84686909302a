#include "calibrate/forecast.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "calibrate/priors_fixture.h"

namespace stint {
namespace {

StepRow one_worker_row() {
  return {.job = "net",
          .device = "T4",
          .workers_by_vm = {1},
          .batch_per_worker = 8,
          .time = 100 * kMillisecond};
}

StepRow cluster_row() {
  StepRow row = one_worker_row();
  row.workers_by_vm = {1, 4, 2};
  row.time = 250 * kMillisecond;
  return row;
}

JobFacts facts_of(Bytes gradients) {
  JobProfile profile;
  profile.name = "net";
  profile.gradient_bytes = gradients;
  return {{"net", profile}};
}

const OneWorkerTimes& alone() {
  static const OneWorkerTimes times(std::vector<StepRow>{one_worker_row()});
  return times;
}

TEST(LawRow, HoldsThePlacementAndTheTimeAlone) {
  StepRow row = cluster_row();
  row.servers = 2;
  row.asynchronous = true;
  const auto law = law_row(row, alone(), {});
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->job, "net");
  EXPECT_NEAR(law->input.alone.in(kMillisecond), 100, 1e-9);
  EXPECT_EQ(law->input.jitter, 0);
  EXPECT_EQ(law->input.batch_per_worker, 8);
  EXPECT_EQ(law->input.vms, 3);
  EXPECT_EQ(law->input.workers, 7);
  EXPECT_EQ(law->input.workers_on_fullest_vm, 4);
  EXPECT_EQ(law->input.servers, 2);
  EXPECT_TRUE(law->input.asynchronous);
  EXPECT_NEAR(law->time.in(kMillisecond), 250, 1e-9);
}

// A table by sample: an iteration of eight samples takes eight of its times.
TEST(LawRow, CountsTheTimesOfAStep) {
  StepRow row = cluster_row();
  row.times_per_step = 8;
  const auto law = law_row(row, alone(), facts_of(40 * kMB));
  EXPECT_NEAR(law->time.in(kSecond), 2, 1e-12);
  EXPECT_EQ(law->scale, 1);
}

// Nobody says what a step of this table is. Alone it takes 100 ms, which is made 300 ms of 60
// samples; the scale is 300/100 = 3, so the 8 · 250 ms of the cluster become 6 s.
TEST(LawRow, TakesTimesOfAPrintedUnitInProportion) {
  StepRow row = cluster_row();
  row.times_per_step = 8;
  const auto law = law_row(row, alone(), {});
  ASSERT_TRUE(law.ok());
  EXPECT_NEAR(law->scale, 3, 1e-12);
  EXPECT_EQ(law->input.alone, kAssumedStep);
  EXPECT_EQ(law->input.batch_per_worker, kAssumedBatch);
  EXPECT_NEAR(law->time.in(kSecond), 6, 1e-12);
  EXPECT_FALSE(law->size_known);
}

TEST(LawRow, ATableOfStepsIsNotScaled) {
  const auto law = law_row(cluster_row(), alone(), {});
  EXPECT_EQ(law->scale, 1);
  EXPECT_EQ(law->input.batch_per_worker, 8);
}

TEST(LawRow, TheSizeMayStandInAnotherRowOfTheJob) {
  StepRow other = one_worker_row();
  other.gradient_bytes = 30 * kMB;
  const OneWorkerTimes times(std::vector<StepRow>{other});
  const auto law = law_row(cluster_row(), times, facts_of(40 * kMB));
  EXPECT_TRUE(law->size_known);
  EXPECT_EQ(law->input.gradients, 30 * kMB);
}

TEST(LawRow, TakesTheSizeFromTheRowThenTheProfileThenAssumesOne) {
  StepRow row = cluster_row();
  const auto assumed = law_row(row, alone(), {});
  EXPECT_FALSE(assumed->size_known);
  EXPECT_EQ(assumed->input.gradients, kAssumedGradients);

  const auto by_profile = law_row(row, alone(), facts_of(40 * kMB));
  EXPECT_TRUE(by_profile->size_known);
  EXPECT_EQ(by_profile->input.gradients, 40 * kMB);

  row.gradient_bytes = 30 * kMB;
  EXPECT_EQ(law_row(row, alone(), facts_of(40 * kMB))->input.gradients, 30 * kMB);
  const auto by_row = law_row(row, alone(), {});
  EXPECT_TRUE(by_row->size_known);
  EXPECT_EQ(by_row->input.gradients, 30 * kMB);
}

TEST(LawRow, IsNotMovedByWhatWasMeasured) {
  const auto measured = law_row(cluster_row(), alone(), facts_of(40 * kMB));
  StepRow blank = cluster_row();
  blank.time.reset();
  blank.synchronisation = 1 * kHour;
  blank.repeat = 1 * kHour;
  const auto law = law_row(blank, alone(), facts_of(40 * kMB));
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->time, Seconds{});
  EXPECT_EQ(law->input.alone, measured->input.alone);
  EXPECT_EQ(law->input.jitter, measured->input.jitter);
  EXPECT_EQ(law->input.gradients, measured->input.gradients);
}

TEST(LawRow, SaysWhyNothingIsKnown) {
  StepRow row = cluster_row();
  row.unusable = "out of memory";
  EXPECT_EQ(law_row(row, alone(), {}).error().message, "out of memory");
  row = cluster_row();
  row.device = "V100";
  EXPECT_EQ(law_row(row, alone(), {}).error().message,
            "net was not measured on one worker of V100");
  row.device = "";
  const auto error = law_row(row, alone(), {}).error();
  EXPECT_EQ(error.message, "net was not measured on one worker");
  EXPECT_EQ(error.kind, ErrorKind::kBadInput);
}

const FitContext& context() {
  static const FitContext kContext = [] {
    FitContext made{.facts = {}, .priors = bundled_priors()};
    for (const char* name : {"a", "b"}) {
      made.facts[name].name = name;
      made.facts[name].gradient_bytes = 100 * kMB;
    }
    return made;
  }();
  return kContext;
}

StepRow row_of(const std::string& job, std::vector<int> by_vm, double batch) {
  return {.job = job, .device = "T4", .workers_by_vm = std::move(by_vm), .batch_per_worker = batch};
}

/// 20 ms and 3 ms a sample alone; each VM beyond the first adds 100 ms and each worker 4 %.
StepRow measured(StepRow row) {
  const double vms = static_cast<double>(row.workers_by_vm.size());
  const double compute = (0.02 + 0.003 * row.batch_per_worker) * (1 + 0.04 * (workers(row) - 1));
  row.time = (compute + 0.1 * (vms - 1)) * kSecond;
  return row;
}

std::vector<StepRow> train_rows(const std::vector<std::string>& jobs) {
  std::vector<StepRow> rows;
  for (const std::string& job : jobs) {
    for (const double batch : {16.0, 64.0}) {
      for (const std::vector<int>& by_vm :
           std::vector<std::vector<int>>{{1}, {4}, {1, 1}, {1, 1, 1}}) {
        rows.push_back(measured(row_of(job, by_vm, batch)));
      }
    }
  }
  return rows;
}

/// Fitted once, because a fit takes a while.
const FittedTable& table_of_a() {
  static const FittedTable kTable = [] {
    auto table = fit_table(train_rows({"a"}), context(), false);
    CHECK(table.ok());
    return std::move(*table);
  }();
  return kTable;
}

Forecast forecast_of(const StepRow& row) {
  const auto forecasts = forecast(table_of_a(), std::vector<StepRow>{row}, context().facts);
  EXPECT_EQ(forecasts.size(), 1U);
  return forecasts.front();
}

// Eight rows of one job, of which the two with one worker say nothing about the cluster.
TEST(FitTable, LearnsFromRowsWithSeveralWorkers) {
  EXPECT_EQ(table_of_a().rows.size(), 6U);
  EXPECT_TRUE(table_of_a().law.jobs.contains("a"));
  EXPECT_EQ(table_of_a().law.dispersion, 1);
}

TEST(FitTable, RowsWithoutATimeOrOfNoUseAreNotLearnedFrom) {
  auto rows = train_rows({"a"});
  rows[1].time.reset();
  rows[2].unusable = "out of memory";
  const auto table = fit_table(rows, context(), false);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->rows.size(), 4U);
}

TEST(FitTable, AWorkerAloneTellsNothingOfTheClusterEvenWithAServer) {
  auto rows = train_rows({"a"});
  for (StepRow& row : rows) {
    if (workers(row) > 1) row.unusable = "left out";
  }
  StepRow served = measured(row_of("a", {1}, 16));
  served.servers = 1;
  rows.push_back(served);
  const auto table = fit_table(rows, context(), false);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_TRUE(table->rows.empty());
}

TEST(FitTable, WithoutMeasurementsThePriorsStand) {
  const auto table = fit_table({}, context(), true);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_TRUE(table->rows.empty());
  EXPECT_NEAR(table->law.fabric.cost, context().priors.fabric.cost, 1e-6);
}

// The row in the middle of what was measured: two workers on two VMs at a batch of 32, which alone
// is (20 + 96) ms · 1.04 + 100 ms = 220.64 ms.
TEST(Forecast, IsNearWhatTheRowsSay) {
  const StepRow row = row_of("a", {1, 1}, 32);
  const Forecast said = forecast_of(row);
  ASSERT_TRUE(said.time.has_value());
  EXPECT_NEAR(said.time->in(kMillisecond), 220.64, 0.15 * 220.64);
  EXPECT_LT(*said.p10, *said.time);
  EXPECT_GT(*said.p90, *said.time);
  EXPECT_EQ(said.note, "");
}

TEST(Forecast, MeasuredColumnsOfTheTestAreNotLookedAt) {
  StepRow row = row_of("a", {1, 1}, 32);
  const Forecast blank = forecast_of(row);
  row.time = 1 * kHour;
  row.synchronisation = 1 * kHour;
  row.repeat = 1 * kHour;
  const Forecast filled = forecast_of(row);
  EXPECT_EQ(filled.time, blank.time);
  EXPECT_EQ(filled.p10, blank.p10);
  EXPECT_EQ(filled.p90, blank.p90);
}

// 64 is the largest batch measured alone, and 16 the smallest: 129 is beyond twice the one, 7 below
// half of the other.
TEST(Forecast, SaysWhenItRestsOnAFarBatch) {
  const char* far = "the batch is far from those measured on one worker";
  EXPECT_EQ(forecast_of(row_of("a", {1, 1}, 128)).note, "");
  EXPECT_EQ(forecast_of(row_of("a", {1, 1}, 129)).note, far);
  EXPECT_EQ(forecast_of(row_of("a", {1, 1}, 7)).note, far);
  EXPECT_TRUE(forecast_of(row_of("a", {1, 1}, 129)).time.has_value());
}

TEST(Forecast, SaysWhyThereIsNone) {
  const Forecast unknown = forecast_of(row_of("z", {1, 1}, 32));
  EXPECT_FALSE(unknown.time.has_value());
  EXPECT_FALSE(unknown.p10.has_value());
  EXPECT_EQ(unknown.note, "z was not measured on one worker of T4");
  StepRow row = row_of("a", {1, 1}, 32);
  row.unusable = "out of memory";
  EXPECT_EQ(forecast_of(row).note, "out of memory");
}

// A table that prints the time of a sample: 64 samples make a step of two workers with 32 each.
TEST(Forecast, IsInTheUnitOfTheTable) {
  StepRow row = row_of("a", {1, 1}, 32);
  const Seconds step = *forecast_of(row).time;
  row.times_per_step = 64;
  const Forecast by_sample = forecast_of(row);
  EXPECT_NEAR(64 * (*by_sample.time / step), 1, 1e-9);
  EXPECT_LT(*by_sample.p10, *by_sample.time);
}

// Of a job whose size nobody says, times by printed unit count only in proportion: the same table
// in units a thousand times as long gives the same forecasts, a thousand times as long.
TEST(Forecast, OfAPrintedUnitIsInProportion) {
  const auto of_unit = [](double unit) {
    std::vector<StepRow> rows = train_rows({"nobody knows"});
    for (StepRow& row : rows) {
      row.times_per_step = workers(row) * row.batch_per_worker;
      row.time = unit / row.times_per_step * *row.time;
    }
    StepRow test = row_of("nobody knows", {1, 1}, 32);
    test.times_per_step = 64;
    const auto said = forecast(rows, std::vector<StepRow>{test}, context());
    CHECK(said.ok());
    return said->front();
  };
  const Forecast plain = of_unit(1);
  const Forecast longer = of_unit(1000);
  EXPECT_NEAR(*longer.time / (1000 * *plain.time), 1, 1e-3);
  EXPECT_NEAR(*longer.p90 / (1000 * *plain.p90), 1, 1e-2);
}

TEST(Forecast, OneForEachTestRowInOrder) {
  const std::vector<StepRow> test = {row_of("a", {1, 1}, 32), row_of("z", {1}, 32),
                                     row_of("a", {4}, 32)};
  const auto forecasts = forecast(train_rows({"a"}), test, context());
  ASSERT_TRUE(forecasts.ok()) << forecasts.error().message;
  ASSERT_EQ(forecasts->size(), 3U);
  EXPECT_GT(*(*forecasts)[0].time, *(*forecasts)[2].time);
  EXPECT_FALSE((*forecasts)[1].time.has_value());
}

TEST(Forecast, OfAnUnseenJobIsLessSure) {
  auto rows = train_rows({"a"});
  rows.push_back(measured(row_of("b", {1}, 16)));
  rows.push_back(measured(row_of("b", {1}, 64)));
  const std::vector<StepRow> test = {row_of("a", {1, 1}, 32), row_of("b", {1, 1}, 32)};
  const auto forecasts = forecast(rows, test, context());
  ASSERT_TRUE(forecasts.ok()) << forecasts.error().message;
  const auto width = [](const Forecast& it) { return std::log(*it.p90 / *it.p10); };
  EXPECT_GT(width((*forecasts)[1]), width((*forecasts)[0]));
}

// Job b was measured on two VMs only: there its time is what was measured, and beyond it grows.
TEST(Forecast, StartsFromTheFewestWorkersWhereOneWasNotMeasured) {
  auto train = train_rows({"a"});
  const StepRow two = measured(row_of("b", {1, 1}, 16));
  train.push_back(two);
  train.push_back(measured(row_of("b", {1, 1, 1}, 16)));
  const auto forecasts =
      forecast(train, std::vector<StepRow>{row_of("b", {1, 1}, 16), row_of("b", {1, 1, 1, 1}, 16)},
               context());
  ASSERT_TRUE(forecasts.ok()) << forecasts.error().message;
  ASSERT_TRUE((*forecasts)[0].time.has_value());
  EXPECT_NEAR(*(*forecasts)[0].time / *two.time, 1, 1e-9);
  EXPECT_EQ((*forecasts)[0].note, "from 2 workers, as one was not measured alone");
  EXPECT_GT(*(*forecasts)[1].time, *two.time);
  EXPECT_LT(*(*forecasts)[1].p10, *(*forecasts)[1].time);
}

TEST(SeenOnCluster, AsksForATimeOfSeveralWorkers) {
  const std::vector<StepRow> rows{measured(row_of("a", {1}, 16)), measured(row_of("b", {2}, 16)),
                                  row_of("c", {1, 1}, 16)};
  EXPECT_FALSE(seen_on_cluster(rows, "a"));
  EXPECT_TRUE(seen_on_cluster(rows, "b"));
  EXPECT_FALSE(seen_on_cluster(rows, "c"));
}

}  // namespace

}  // namespace stint
