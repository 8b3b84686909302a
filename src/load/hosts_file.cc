#include "load/hosts_file.h"

#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "load/yaml.h"

namespace stint {
namespace {

/// Reads one file; the first error is kept.
class HostsReader {
 public:
  explicit HostsReader(const std::string& file) : file_(file) {}

  Result<std::vector<SshHost>> read(const Yaml& yaml) {
    const bool right = yaml.kind == Yaml::Kind::kMapping && yaml.members.size() == 1 &&
                       yaml.members[0].key == "hosts" &&
                       yaml.members[0].value.kind == Yaml::Kind::kList;
    if (!right) return problem(yaml.place, "a hosts file is 'hosts:' with a list of hosts");
    std::vector<SshHost> hosts;
    for (const Yaml& item : yaml.members[0].value.items) {
      auto host = read_host(item);
      if (!host.ok()) return host.error();
      const Status checked = check_ssh_hosts({*host});
      if (!checked.ok()) return problem(item.place, checked.error().message);
      hosts.push_back(std::move(*host));
    }
    const Status checked = check_ssh_hosts(hosts);
    if (!checked.ok()) return problem(yaml.place, checked.error().message);
    return hosts;
  }

 private:
  Result<SshHost> read_host(const Yaml& item) const {
    SshHost host;
    if (item.kind == Yaml::Kind::kText) {
      host.name = item.text;
      return host;
    }
    if (item.kind != Yaml::Kind::kMapping) {
      return problem(item.place, fmt::format("a host is a name or a mapping, not {}", item.name()));
    }
    for (const YamlMember& member : item.members) {
      const Status set = set_member(host, member);
      if (!set.ok()) return set.error();
    }
    if (host.name.empty()) return problem(item.place, "a host needs a name");
    return host;
  }

  Status set_member(SshHost& host, const YamlMember& member) const {
    const auto wrong = [&](std::string_view message) {
      return problem(member.place, fmt::format("{} {}", printable(member.key), message));
    };
    const Yaml& value = member.value;
    if (value.kind != Yaml::Kind::kText) return wrong("must be a single value");
    if (member.key == "name")
      host.name = value.text;
    else if (member.key == "address")
      host.address = value.text;
    else if (member.key == "user")
      host.user = value.text;
    else if (member.key == "type")
      host.type = value.text;
    else if (member.key == "port" || member.key == "gpus") {
      const auto number = parse_int(value.text);
      if (!number || *number < 0 || *number > kCountMax) return wrong("must be a whole number");
      (member.key == "port" ? host.port : host.gpus) = number;
    } else if (member.key == "market") {
      if (value.text != "spot" && value.text != "on-demand")
        return wrong("must be spot or on-demand");
      host.market = value.text == "spot" ? Market::kSpot : Market::kOnDemand;
    } else if (member.key == "price") {
      const auto price = parse_quantity<DollarsPerSecond>(value.text);
      if (!price.ok()) return wrong("is wrong: " + price.error().message);
      if (*price < DollarsPerSecond{}) return wrong("must not be below zero");
      host.price = *price;
    } else {
      const std::vector<std::string> keys = {"name", "address", "user",   "port",
                                             "gpus", "type",    "market", "price"};
      return wrong("is no property of a host." + did_you_mean(nearest_names(member.key, keys, 1)));
    }
    return {};
  }

  Error problem(const TextPlace& place, std::string_view message) const {
    return bad_input(fmt::format("{}: {}", to_text(file_, place), message));
  }

  const std::string& file_;
};

}  // namespace

Result<std::vector<SshHost>> parse_hosts_file(std::string_view text, const std::string& file) {
  const auto yaml = parse_yaml(text, file);
  if (!yaml.ok()) return yaml.error();
  return HostsReader(file).read(*yaml);
}

Result<std::vector<SshHost>> read_hosts_file(const std::string& path) {
  const auto text = read_file(path, static_cast<double>(kYamlBytesMax) * kByte);
  if (!text.ok()) return text.error();
  return parse_hosts_file(*text, path);
}

}  // namespace stint
