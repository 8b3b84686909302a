#include "provider/ssh/ssh_book.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

const std::vector<SshHost> kHosts = {{.name = "a", .type = "large", .market = Market::kSpot},
                                     {.name = "b", .type = "small"},
                                     {.name = "c"}};

TEST(SshBook, GivesHostsThatSuitAndAreFree) {
  SshBook book;
  const Seconds now = 1000 * kSecond;
  const auto host = [&](const std::string& type, Market market) {
    const auto found = book.free_host(kHosts, {.name = "vm1", .type = type, .market = market}, now);
    return found ? kHosts[*found].name : "none";
  };
  EXPECT_EQ(host("large", Market::kSpot), "a");
  EXPECT_EQ(host("small", Market::kSpot), "none");
  EXPECT_EQ(host("small", Market::kOnDemand), "b");
  EXPECT_EQ(host("large", Market::kOnDemand), "c");  // Of any type.
  book.leases.push_back({.order = {.name = "vm1"}, .host = "c"});
  EXPECT_EQ(host("large", Market::kOnDemand), "none");
  ASSERT_NE(book.find("vm1"), nullptr);
  book.find("vm1")->gone_at = now;
  EXPECT_EQ(book.find("vm1"), nullptr);
  EXPECT_EQ(host("large", Market::kOnDemand), "c");
}

TEST(SshBook, SaysWhyThereIsNone) {
  SshBook book;
  const MachineOrder order{.name = "vm1"};
  book.mark_broken({.host = "b", .reason = "its key is unknown"});
  book.mark_broken({.host = "c", .reason = "old"});
  book.mark_broken({.host = "c", .reason = "it is silent", .until = 100 * kSecond});
  const MachineRefusal refusal = book.refusal(kHosts, order, 50 * kSecond);
  EXPECT_EQ(refusal.reason, "no on-demand host is free; its key is unknown; it is silent");
  EXPECT_TRUE(refusal.again);
  EXPECT_FALSE(book.free_host(kHosts, order, 50 * kSecond));
  EXPECT_EQ(book.free_host(kHosts, order, 101 * kSecond), 2U);
  book.mark_broken({.host = "a", .reason = "x"});
  book.mark_broken({.host = "c", .reason = "y"});
  EXPECT_FALSE(book.refusal(kHosts, order, 50 * kSecond).again);
}

TEST(SshBook, StaysInItsFolder) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(read_book(folder->path())->leases.empty());
  for (const char* name : {"vm1", "vm2"}) {
    ASSERT_TRUE(change_book(folder->path(), [&](SshBook& book) {
                  book.leases.push_back({.order = {.name = name, .price = kDollar / kHour},
                                         .host = "a",
                                         .up_at = 5 * kSecond});
                }).ok());
  }
  const auto book = read_book(folder->path());
  ASSERT_TRUE(book.ok());
  ASSERT_EQ(book->leases.size(), 2U);
  EXPECT_EQ(book->leases[1].order.name, "vm2");
  EXPECT_EQ(book->leases[1].up_at, 5 * kSecond);
  ASSERT_TRUE(write_file(folder->path() + "/ssh.json", "{").ok());
  EXPECT_FALSE(change_book(folder->path(), [](SshBook&) {}).ok());
  EXPECT_FALSE(change_book("/nowhere", [](SshBook&) {}).ok());
}

}  // namespace
}  // namespace stint
