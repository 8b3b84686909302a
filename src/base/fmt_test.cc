#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stint {

// Each line needs a part of fmt that src/base/fmt.cc compiles.
TEST(Fmt, FormatsNumbersWithoutTheSharedLibrary) {
  EXPECT_EQ(fmt::format("{} {} {:.3g} {:e}", 0.1F, 0.1, 1234567.0, 1.5),
            "0.1 0.1 1.23e+06 1.500000e+00");
  EXPECT_EQ(fmt::format("{:L}", 1234567), "1234567");
  EXPECT_EQ(fmt::format("{:>8}|{:08.3f}", "x", 3.14159), "       x|0003.142");
}

}  // namespace stint
