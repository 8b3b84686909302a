#include "calibrate/law_calibration.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

const Constant* find(const Calibration& calibration, const std::string& scope,
                     const std::string& name) {
  for (const Constant& constant : calibration.constants) {
    if (constant.scope == scope && constant.name == name) return &constant;
  }
  return nullptr;
}

/// A law of one job "a" as if it had been fitted, with this uncertainty of all constants.
FittedLaw law_with(double deviation) {
  FittedLaw law;
  const std::size_t unknowns = law_names(FabricLaw{}).size() + law_names(JobLaw{}).size();
  for (const auto& [name, field] : law_names(FabricLaw{})) law.priors.fabric_deviation.*field = 1;
  for (const auto& [name, field] : law_names(JobLaw{})) law.priors.job_deviation.*field = 1;
  law.fabric.cost = 0.25;
  law.dispersion = 0.75;
  law.jobs["a"] = {.law = {.cost = 0.5},
                   .rows = 3,
                   .first_unknown = law_names(FabricLaw{}).size(),
                   .noise = 1.5,
                   .gradients = 5 * kMB};
  law.solution.covariance.assign(unknowns, std::vector<double>(unknowns, 0.0));
  for (std::size_t i = 0; i < unknowns; ++i) {
    law.solution.covariance[i][i] = deviation * deviation;
  }
  return law;
}

TEST(LawCalibration, HoldsFabricJobsAndNoiseByScope) {
  const Calibration priors{
      .constants = {{.name = "cost", .scope = "fabric", .unit = "ln(ns/byte)"}}};
  const Calibration calibration = to_calibration(law_with(0.1), priors, 25 * kGbit / kSecond);
  ASSERT_NE(find(calibration, "fabric", "cost"), nullptr);
  EXPECT_EQ(find(calibration, "fabric", "cost")->value, 0.25);
  EXPECT_EQ(find(calibration, "fabric", "cost")->unit, "ln(ns/byte)");
  EXPECT_DOUBLE_EQ(*find(calibration, "fabric", "cost")->deviation, 0.1);
  ASSERT_NE(find(calibration, "job:a", "job_cost"), nullptr);
  EXPECT_EQ(find(calibration, "job:a", "job_cost")->value, 0.5);
  EXPECT_EQ(find(calibration, "job:a", "noise")->value, 1.5);
  EXPECT_EQ(find(calibration, "noise", "dispersion")->value, 0.75);
  ASSERT_NE(find(calibration, "fabric_reference", "network"), nullptr);
  EXPECT_DOUBLE_EQ(find(calibration, "fabric_reference", "network")->value, 25);
  EXPECT_EQ(find(calibration, "fabric_reference", "network")->unit, "Gbit/s");
  EXPECT_DOUBLE_EQ(find(calibration, "job:a", "gradient_bytes")->value, 5e6);
  EXPECT_EQ(find(calibration, "job", "job_cost")->prior_deviation, 1);
}

TEST(LawCalibration, TheCovarianceIsThatOfTheIdentifiedConstantsOfTheFabric) {
  // A deviation of 0.1 against a prior of 1 identifies all unknowns, one of 0.95 none.
  Calibration sure = to_calibration(law_with(0.1), {}, kReferenceNetwork);
  EXPECT_EQ(sure.covariance.size(), law_names(FabricLaw{}).size());
  Calibration unsure = to_calibration(law_with(0.95), {}, kReferenceNetwork);
  EXPECT_TRUE(unsure.covariance.empty());
  for (Calibration* calibration : {&sure, &unsure}) {
    calibration->name = "test";
    EXPECT_TRUE(validate(*calibration).ok());
  }
}

TEST(LawCalibration, ReadsBackAsPriors) {
  FittedLaw law = law_with(0.1);
  law.priors.noise_floor = 0.03;
  const auto priors = law_priors(to_calibration(law, {}, kReferenceNetwork));
  ASSERT_TRUE(priors.ok()) << priors.error().message;
  EXPECT_EQ(priors->noise_floor, 0.03);
}

}  // namespace
}  // namespace stint
