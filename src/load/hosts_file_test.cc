#include "load/hosts_file.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::string complaint(std::string_view text) {
  const auto hosts = parse_hosts_file(text, "hosts.yaml");
  if (hosts.ok()) return "none";
  EXPECT_EQ(hosts.error().kind, ErrorKind::kBadInput);
  return hosts.error().message;
}

TEST(HostsFile, HoldsHostsWithTheirProperties) {
  const auto hosts = parse_hosts_file(
      "hosts:\n"
      "  - name: box1\n    address: 10.0.0.1\n    user: train\n    port: 2222\n    gpus: 2\n"
      "    type: local.large\n    market: spot\n    price: 0.36 USD/h\n"
      "  - box2\n",
      "hosts.yaml");
  ASSERT_TRUE(hosts.ok()) << hosts.error().message;
  ASSERT_EQ(hosts->size(), 2U);
  const SshHost& first = (*hosts)[0];
  EXPECT_EQ(first.name, "box1");
  EXPECT_EQ(first.address, "10.0.0.1");
  EXPECT_EQ(first.user, "train");
  EXPECT_EQ(first.port, 2222);
  EXPECT_EQ(first.gpus, 2);
  EXPECT_EQ(first.type, "local.large");
  EXPECT_EQ(first.market, Market::kSpot);
  EXPECT_NEAR(first.price->in(kDollar / kHour), 0.36, 1e-12);
  EXPECT_EQ((*hosts)[1], SshHost{.name = "box2"});
}

TEST(HostsFile, ErrorsNameTheirPlace) {
  EXPECT_EQ(complaint("- a\n"), "hosts.yaml:1:1: a hosts file is 'hosts:' with a list of hosts");
  EXPECT_EQ(complaint("hosts:\n  - user: me\n"), "hosts.yaml:2:5: a host needs a name");
  EXPECT_EQ(complaint("hosts:\n  - name: a\n    prize: 1\n"),
            "hosts.yaml:3:5: prize is no property of a host. Did you mean 'price'?");
  EXPECT_NE(complaint("hosts:\n  - name: a\n    price: 1\n").find("hosts.yaml:3:5: price"),
            std::string::npos);
  EXPECT_NE(complaint("hosts:\n  - name: a\n    market: cheap\n").find("spot or on-demand"),
            std::string::npos);
  EXPECT_NE(complaint("hosts:\n  - name: a\n    port: ssh\n").find("whole number"),
            std::string::npos);
  EXPECT_NE(complaint("hosts:\n  - name: [a]\n").find("single value"), std::string::npos);
  EXPECT_NE(complaint("hosts:\n  - name: -oX\n").find("hosts.yaml:2:5: '-oX'"), std::string::npos);
  EXPECT_NE(complaint("hosts:\n  - a\n  - a\n").find("two hosts a"), std::string::npos);
  EXPECT_NE(complaint("hosts: []\n").find("no hosts"), std::string::npos);
  EXPECT_NE(complaint("hosts: [[a]]\n").find("not a list"), std::string::npos);
  EXPECT_FALSE(read_hosts_file("/nowhere/hosts.yaml").ok());
}

}  // namespace
}  // namespace stint
