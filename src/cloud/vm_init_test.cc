#include "cloud/vm_init.h"

#include <gtest/gtest.h>

#include "base/process.h"

namespace stint {
namespace {

TEST(VmInit, NewsPassFromOneProcessToAnother) {
  SharedNews* news = shared_news(2);
  EXPECT_FALSE(read_news(news[1]).told_at.has_value());
  const auto child = fork_child([&](int) {
    tell(news[1], 100 * kSecond, 220 * kSecond);
    return 0;
  });
  ASSERT_TRUE(child.ok());
  wait_for_exit(child->pid);
  EXPECT_EQ(*read_news(news[1]).told_at, 100 * kSecond);
  EXPECT_EQ(*read_news(news[1]).takes_at, 220 * kSecond);
  EXPECT_FALSE(read_news(news[0]).takes_at.has_value());
}

}  // namespace
}  // namespace stint
