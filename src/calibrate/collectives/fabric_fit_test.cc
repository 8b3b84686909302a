#include "calibrate/collectives/fabric_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// A law unlike the priors, within their reach.
CollectiveLaw true_law() {
  const LinkLaw inside{.latency = 5 * kMicrosecond, .efficiency = 0.8, .blend = 0.7};
  const LinkLaw between{.latency = 30 * kMicrosecond, .efficiency = 0.8, .blend = 0.8};
  return {.launch = 12 * kMicrosecond,
          .switched = inside,
          .mesh = inside,
          .pcie = inside,
          .tcp = between,
          .rdma = between,
          .tree_efficiency = 0.95,
          .loss_per_doubling = 0.02};
}

CollectiveCase make(const std::string& system, int vms, Bytes payload) {
  return {
      .system = system,
      .collective = "all_reduce",
      .fabric = {.inside_rate = 300 * kGB / kSecond, .vms = vms, .line_rate = 50 * kGB / kSecond},
      .payload = payload,
      .stated = payload};
}

std::vector<CollectiveCase> curve(const std::string& system, int vms, double factor = 1) {
  std::vector<CollectiveCase> rows;
  for (Bytes size = 8 * kKiB; size <= 4 * kGiB; size = 4 * size) {
    CollectiveCase it = make(system, vms, size);
    it.value = factor * collective_time(it.kind, it.payload, it.fabric, true_law()).in(kSecond);
    rows.push_back(it);
  }
  return rows;
}

std::vector<CollectiveCase> both(const std::string& system, double factor = 1) {
  auto rows = curve(system, 1, factor);
  for (const int vms : {2, 8}) {
    for (const CollectiveCase& it : curve(system, vms, factor)) rows.push_back(it);
  }
  return rows;
}

double width(const CollectiveEstimate& it) { return std::log(it.p90 / it.p10); }

TEST(FabricModel, FindsTheLawBehindItsRows) {
  const auto model = FabricModel::fit(both("a"));
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (const int vms : {1, 2, 4}) {
    const CollectiveCase it = make("a", vms, 100 * kMB);
    const CollectiveEstimate estimate = model->estimate(it);
    const Seconds truth = collective_time(it.kind, it.payload, it.fabric, true_law());
    EXPECT_NEAR(estimate.mean / truth, 1, 0.06) << vms;
    EXPECT_LT(estimate.p10, truth);
    EXPECT_GT(estimate.p90, truth);
  }
}

TEST(FabricModel, IsLessSureFartherFromItsRows) {
  const auto model = FabricModel::fit(both("a"));
  ASSERT_TRUE(model.ok());
  const double known = width(model->estimate(make("a", 2, 100 * kMB)));
  const double other_count = width(model->estimate(make("a", 64, 100 * kMB)));
  const double other_system = width(model->estimate(make("b", 2, 100 * kMB)));
  CollectiveCase guess = make("b", 2, 100 * kMB);
  guess.rate_unknown = true;
  EXPECT_LT(known, other_count);
  EXPECT_LT(known, other_system);
  EXPECT_LT(other_system, width(model->estimate(guess)));
  // The mean stays physical: between the line rate and a tenth of it.
  const CollectiveCase far = make("b", 64, 1 * kGB);
  const double share = line_rate_time(far) / model->estimate(far).mean;
  EXPECT_LT(share, 1);
  EXPECT_GT(share, 0.1);
}

// Four systems that follow one law tell that a fifth does; four that do not, do not.
TEST(FabricModel, LearnsTheWidthOfUnknownSystemsFromSystemsHeldOut) {
  const auto width_elsewhere = [](double factor) {
    std::vector<CollectiveCase> rows;
    double slower = 1;
    for (const char* system : {"a", "b", "c", "d"}) {
      for (const CollectiveCase& it : curve(system, 2, slower)) rows.push_back(it);
      slower = slower > 1 ? 1 : factor;
    }
    const auto model = FabricModel::fit(rows);
    CHECK(model.ok());
    return width(model->estimate(make("e", 2, 100 * kMB)));
  };
  EXPECT_LT(width_elsewhere(1), 0.75 * width_elsewhere(3));
}

TEST(FabricModel, WithoutRowsThePriorsRemain) {
  const auto model = FabricModel::fit({});
  ASSERT_TRUE(model.ok()) << model.error().message;
  const CollectiveCase it = make("a", 2, 1 * kGB);
  const CollectiveEstimate estimate = model->estimate(it);
  EXPECT_GT(estimate.mean, line_rate_time(it));
  EXPECT_LT(estimate.mean, 2 * line_rate_time(it));
  for (const Constant& constant : model->to_calibration("p").constants) {
    EXPECT_FALSE(constant.identified) << constant.name;
  }
}

TEST(FabricModel, CalibrationHoldsTheLaw) {
  const auto model = FabricModel::fit(both("a"));
  ASSERT_TRUE(model.ok());
  const Calibration calibration = model->to_calibration("c");
  const auto law = collective_law(calibration);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_NEAR(law->rdma.efficiency, model->law().rdma.efficiency, 1e-12);
  EXPECT_GT(law->rdma.efficiency_deviation, 0.05);
  // Constants that other rows taught, without rows of one's own.
  const auto started = FabricModel::fit({}, &calibration);
  ASSERT_TRUE(started.ok());
  EXPECT_NEAR(started->law().rdma.latency / law->rdma.latency, 1, 1e-6);
}

TEST(FabricModel, ASystemsFactorsStayItsOwn) {
  auto rows = both("a");
  for (const CollectiveCase& it : both("slow", 3)) rows.push_back(it);
  const auto model = FabricModel::fit(rows);
  ASSERT_TRUE(model.ok());
  const auto ratio = [&](const char* system) {
    const CollectiveCase it = make(system, 2, 100 * kMB);
    return model->estimate(it).mean / collective_time(it.kind, it.payload, it.fabric, true_law());
  };
  EXPECT_NEAR(ratio("a"), 1, 0.1);
  EXPECT_NEAR(ratio("slow"), 3, 0.3);
}

TEST(FabricModel, ValuesOfRatesTurnIntervalsRound) {
  CollectiveCase it = make("a", 1, 1 * kGB);
  it.factor = 2;
  it.inverse = true;
  const CollectiveValue value =
      value_of(it, {.mean = 2 * kSecond, .p10 = 1 * kSecond, .p90 = 4 * kSecond});
  EXPECT_EQ(value.mean, 1);
  EXPECT_EQ(value.p10, 0.5);
  EXPECT_EQ(value.p90, 2);
}

}  // namespace
}  // namespace stint
