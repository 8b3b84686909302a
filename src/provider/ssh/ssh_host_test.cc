#include "provider/ssh/ssh_host.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::string error_of(const std::vector<std::string>& list) {
  const auto hosts = parse_ssh_hosts(list);
  if (hosts.ok()) return "none";
  EXPECT_EQ(hosts.error().kind, ErrorKind::kUsage);
  return hosts.error().message;
}

TEST(SshHost, ListsNameUserAndPort) {
  const auto hosts = parse_ssh_hosts({"a", "me@b.example", "me@10.0.0.3:2222", "fe80::1"});
  ASSERT_TRUE(hosts.ok());
  EXPECT_EQ(*hosts, (std::vector<SshHost>{{.name = "a"},
                                          {.name = "b.example", .user = "me"},
                                          {.name = "10.0.0.3", .user = "me", .port = 2222},
                                          {.name = "fe80::1"}}));
}

TEST(SshHost, NothingBecomesAnOptionOfSsh) {
  EXPECT_EQ(error_of({"-oProxyCommand=x"}),
            "'-oProxyCommand=x' is not the name of a host; use letters, digits, '.', '_' and '-'");
  EXPECT_NE(error_of({"-l@a"}).find("name of a user"), std::string::npos);
  EXPECT_NE(error_of({"a b"}), "none");
  EXPECT_NE(error_of({"a;reboot"}), "none");
  EXPECT_NE(error_of({"$(x)"}), "none");
  EXPECT_FALSE(check_ssh_hosts({{.name = "a", .address = "-x"}}).ok());
}

TEST(SshHost, RefusesWhatIsNoList) {
  EXPECT_NE(error_of({}), "none");
  EXPECT_NE(error_of({""}), "none");
  EXPECT_NE(error_of({"@a"}).find("no user"), std::string::npos);
  EXPECT_NE(error_of({"a:"}).find("no port"), std::string::npos);
  EXPECT_NE(error_of({"a:0"}).find("from 1 to 65535"), std::string::npos);
  EXPECT_EQ(error_of({"a", "b", "a"}), "there are two hosts a; name each once");
  EXPECT_NE(error_of(std::vector<std::string>(kSshHostsMax + 1, "a")), "none");
}

}  // namespace
}  // namespace stint
