#include "optimise/question.h"

#include <charconv>
#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"

namespace stint {
namespace {

/// "g5.xlarge" → "g5", "a2-highgpu-1g" → "a2", "Standard_NC24ads_A100_v4" → "NC".
std::string_view family_of(std::string_view name) {
  constexpr std::string_view kAzure = "Standard_";
  if (name.starts_with(kAzure)) {
    name.remove_prefix(kAzure.size());
    return name.substr(0, name.find_first_of("0123456789"));
  }
  return name.substr(0, name.find_first_of(".-"));
}

Error bad_quota(std::string_view part, std::string_view why) {
  return bad_usage(
      fmt::format("--quota: '{}' {}; write for example g5=32 or p4d:spot=96", part, why));
}

Result<Quota> parse_quota(std::string_view part) {
  const auto equals = part.find('=');
  if (equals == std::string_view::npos) return bad_quota(part, "has no number of vCPUs");
  const std::string_view number = part.substr(equals + 1);
  std::string_view name = part.substr(0, equals);
  Quota quota;
  const auto parsed = std::from_chars(number.begin(), number.end(), quota.vcpus);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == number.end();
  if (!whole || quota.vcpus < 0 || quota.vcpus > kCountMax) {
    return bad_quota(part, fmt::format("needs a whole number of vCPUs, at most {}", kCountMax));
  }
  if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view market = name.substr(colon + 1);
    for (const auto& known : names_of(Market{})) {
      if (market == known.second) quota.market = known.first;
    }
    if (!quota.market) return bad_quota(part, "names no market: on-demand or spot");
    name = name.substr(0, colon);
  }
  if (name.empty()) return bad_quota(part, "names no VMs");
  quota.name = name;
  return quota;
}

}  // namespace

std::span<const EnumName<Objective>> names_of(Objective /*type*/) {
  static constexpr EnumName<Objective> kNames[] = {{Objective::kCost, "cost"},
                                                   {Objective::kTime, "time"},
                                                   {Objective::kKnee, "knee"},
                                                   {Objective::kFront, "front"}};
  return kNames;
}

Result<std::vector<Quota>> parse_quotas(std::string_view text) {
  std::vector<Quota> quotas;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto quota = parse_quota(text.substr(0, comma));
    if (!quota.ok()) return quota.error();
    quotas.push_back(*quota);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return quotas;
}

std::string to_text(const Quota& quota) {
  const char* market = !quota.market ? "" : *quota.market == Market::kSpot ? ":spot" : ":on-demand";
  return fmt::format("{}{}={}", quota.name, market, quota.vcpus);
}

bool counts(const Quota& quota, const VmType& type, Market market) {
  if (quota.market && *quota.market != market) return false;
  const std::string wanted = to_lower(quota.name);
  return wanted == to_lower(type.name) || wanted == to_lower(family_of(type.name)) ||
         (type.quota_class && wanted == to_lower(*type.quota_class));
}

}  // namespace stint
