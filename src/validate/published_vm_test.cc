#include "validate/published_vm.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(PublishedVm, CostsAsMuchAsFourSmallGpus) {
  const double hourly = (published_vm_price() * kHour).in(kDollar);
  EXPECT_GT(hourly, 3);
  EXPECT_LT(hourly, 6);
}

}  // namespace
}  // namespace stint
