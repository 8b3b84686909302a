#include "calibrate/free_sharing_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// A job that takes `step` seconds alone, of which both get half but for the noise.
PackedPair pair_of(const std::string& a, const std::string& b, double noise) {
  const auto side = [&](const std::string& name, double share) {
    return PackedSide{.job = {name, 1}, .alone = 4 / kSecond, .packed = 4 * share / kSecond};
  };
  return {.first = side(a, 0.5 * std::exp(noise)),
          .second = side(b, 0.5 * std::exp(-noise)),
          .device = "K80",
          .fits = true};
}

std::vector<PackedPair> pairs_of(const std::vector<std::string>& jobs, double noise) {
  std::vector<PackedPair> pairs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t j = i; j < jobs.size(); ++j) pairs.push_back(pair_of(jobs[i], jobs[j], noise));
  }
  return pairs;
}

// All rates are off by 0.2 in the logarithm, one up and one down, which equal steps cannot tell:
// the 80th percentile of |error| is 0.2, over 1.2816. e^0.2 and e^−0.2 are off by 0.221 and 0.181.
TEST(FreeSharingFit, SpreadIsThatOfJobsLeftOut) {
  const auto fit = fit_free_sharing(pairs_of({"a", "b", "c", "d"}, 0.2));
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  const FreeSharingDevice& device = fit->law.devices.at("K80");
  EXPECT_NEAR(std::exp(device.log_share), 0.5, 0.02);
  EXPECT_NEAR(device.spread, 0.2 / 1.2816, 0.03);
  EXPECT_EQ(fit->law.elsewhere.spread, device.spread);
  EXPECT_EQ(fit->pairs, 10);
  EXPECT_EQ(fit->jobs.size(), 4U);
  EXPECT_EQ(fit->error.n, 20);
  EXPECT_NEAR(fit->error.mape, 0.201, 0.02);
}

TEST(FreeSharingFit, NeedsJobsToLeaveOut) {
  const auto fit = fit_free_sharing(std::vector{pair_of("a", "b", 0), pair_of("b", "c", 0)});
  ASSERT_FALSE(fit.ok());
  EXPECT_EQ(fit.error().message,
            "the error on unseen jobs cannot be estimated: no two pairs have four different jobs; "
            "give more pairs");
  EXPECT_FALSE(fit_free_sharing({}).ok());
}

}  // namespace
}  // namespace stint
