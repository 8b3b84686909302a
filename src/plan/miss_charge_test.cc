#include "plan/miss_charge.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// ln(0.95 / 0.05) = ln 19 = 2.944; below one half nothing is charged.
TEST(MissCharge, IsTheLogOddsOfTheConfidence) {
  EXPECT_NEAR(miss_charge(0.95).bills, 2.944, 0.001);
  EXPECT_NEAR(miss_charge(0.9).bills, 2.197, 0.001);
  EXPECT_EQ(miss_charge(0.5).bills, 0);
  EXPECT_EQ(miss_charge(0.2).bills, 0);
}

// Kept with 90 %, a miss of 3 bills costs 0.3 of a bill on average.
TEST(MissCharge, MakesAPlanDearerByTheExpectedCharge) {
  EXPECT_NEAR(risk_factor({.bills = 3}, 0.9), 1.3, 1e-12);
  EXPECT_EQ(risk_factor({.bills = 3}, 1), 1);
  EXPECT_EQ(risk_factor({.bills = 3}, 0), 4);
}

}  // namespace
}  // namespace stint
