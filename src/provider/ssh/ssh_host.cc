#include "provider/ssh/ssh_host.h"

#include <fmt/format.h>
#include <set>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kNameMax = 255;  // Of DNS.
constexpr int kPortMax = 65'535;

}  // namespace

Status check_ssh_name(std::string_view what, std::string_view name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:";
  const bool possible = !name.empty() && name.size() <= kNameMax && name[0] != '-' &&
                        name.find_first_not_of(kAllowed) == std::string_view::npos;
  if (possible) return {};
  return bad_usage(
      fmt::format("'{}' is not {}; use letters, digits, '.', '_' and '-'", printable(name), what));
}

Status check_ssh_hosts(const std::vector<SshHost>& hosts) {
  if (hosts.empty()) return bad_usage("there are no hosts; name at least one");
  if (hosts.size() > kSshHostsMax) {
    return bad_usage(fmt::format("there are more than {} hosts", kSshHostsMax));
  }
  std::set<std::string_view> names;
  for (const SshHost& host : hosts) {
    Status checked = check_ssh_name("the name of a host", host.name);
    if (checked.ok() && !host.address.empty()) {
      checked = check_ssh_name("the address of a host", host.address);
    }
    if (checked.ok() && !host.user.empty()) {
      checked = check_ssh_name("the name of a user", host.user);
    }
    if (!checked.ok()) return checked;
    if (host.port && (*host.port < 1 || *host.port > kPortMax)) {
      return bad_usage(fmt::format("the port of {} must be from 1 to {}, not {}", host.name,
                                   kPortMax, *host.port));
    }
    if (!names.insert(host.name).second) {
      return bad_usage(fmt::format("there are two hosts {}; name each once", host.name));
    }
  }
  return {};
}

Result<std::vector<SshHost>> parse_ssh_hosts(const std::vector<std::string>& list) {
  std::vector<SshHost> hosts;
  for (const std::string& text : list) {
    SshHost host;
    const std::size_t at = text.find('@');
    if (at != std::string::npos) host.user = text.substr(0, at);
    if (at == 0) return bad_usage(fmt::format("'{}' has no user before the @", printable(text)));
    host.name = at == std::string::npos ? text : text.substr(at + 1);
    const std::size_t colon = host.name.find(':');
    // Several colons are an IPv6 address.
    if (colon != std::string::npos && host.name.rfind(':') == colon) {
      host.port = parse_int(host.name.substr(colon + 1));
      if (!host.port) return bad_usage(fmt::format("'{}' has no port", printable(text)));
      host.name.resize(colon);
    }
    hosts.push_back(std::move(host));
  }
  const Status checked = check_ssh_hosts(hosts);
  if (!checked.ok()) return checked.error();
  return hosts;
}

}  // namespace stint
