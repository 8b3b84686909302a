#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/market.h"

namespace stint {

/// A machine that somebody has and that ssh reaches.
struct SshHost {
  std::string name = {};     // As ssh's own configuration may know it.
  std::string address = {};  // Empty: the name.
  std::string user = {};     // Empty: as ssh is configured.
  std::optional<int> port = {};
  std::optional<int> gpus = {};
  std::string type = {};  // VM type of the catalogue; empty: any.
  Market market = Market::kOnDemand;
  std::optional<DollarsPerSecond> price = {};

  bool operator==(const SshHost&) const = default;
};

inline constexpr std::size_t kSshHostsMax = 1'000;

/// Usage error unless it can be a host's or a user's name for ssh, which takes what begins with a
/// dash for an option. `what` names it in the error.
Status check_ssh_name(std::string_view what, std::string_view name);

/// Usage error unless names, addresses and ports are possible, and no two names are equal.
Status check_ssh_hosts(const std::vector<SshHost>& hosts);

/// Hosts of a list such as "a,user@b,user@c:2222".
Result<std::vector<SshHost>> parse_ssh_hosts(const std::vector<std::string>& list);

}  // namespace stint
