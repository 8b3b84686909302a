#include "predict/free_sharing.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "catalog/catalog.h"

namespace stint {
namespace {

constexpr std::string_view kScope = "free sharing";
constexpr std::string_view kDevicePrefix = "free sharing: ";

std::optional<double> value_of(const Calibration& calibration, std::string_view scope,
                               std::string_view name) {
  for (const Constant& it : calibration.constants) {
    if (it.scope == scope && it.name == name) return it.value;
  }
  return std::nullopt;
}

Result<FreeSharingDevice> device_of(const Calibration& calibration, const std::string& scope) {
  const auto log_share = value_of(calibration, scope, "log_share");
  const auto spread = value_of(calibration, scope, "spread");
  if (!log_share || !spread) {
    return bad_input(fmt::format("the calibration {} lacks {} of {}", calibration.name,
                                 log_share ? "spread" : "log_share", printable(scope)));
  }
  if (*log_share > 0 || *spread <= 0) {
    return bad_input(
        fmt::format("the calibration {} must have log_share up to 0 and spread above 0 of {}",
                    calibration.name, printable(scope)));
  }
  return FreeSharingDevice{*log_share, *spread};
}

void add_constants(const std::string& scope, const FreeSharingDevice& it,
                   std::vector<Constant>& all) {
  all.push_back({.name = "log_share", .scope = scope, .value = it.log_share, .unit = "ln(1)"});
  all.push_back({.name = "spread", .scope = scope, .value = it.spread, .unit = "ln(1)"});
}

/// The most exact family that `name` is of.
const FreeSharingDevice& known_device(const FreeSharingLaw& law, std::string_view name) {
  const FreeSharingDevice* best = &law.elsewhere;
  std::size_t length = 0;
  for (const auto& [family, device] : law.devices) {
    if (!names_family(name, family) || family.size() < length) continue;
    best = &device;
    length = family.size();
  }
  return *best;
}

}  // namespace

Result<FreeSharingLaw> free_sharing_law(const Calibration& calibration) {
  const auto slope = value_of(calibration, kScope, "slope");
  if (!slope) {
    return bad_input(fmt::format("the calibration {} lacks slope of {}", calibration.name, kScope));
  }
  const auto elsewhere = device_of(calibration, std::string(kScope));
  if (!elsewhere.ok()) return elsewhere.error();
  FreeSharingLaw law{.slope = *slope, .elsewhere = *elsewhere};
  for (const Constant& it : calibration.constants) {
    if (!it.scope.starts_with(kDevicePrefix)) continue;
    const auto device = device_of(calibration, it.scope);
    if (!device.ok()) return device.error();
    law.devices[it.scope.substr(kDevicePrefix.size())] = *device;
  }
  return law;
}

std::vector<Constant> free_sharing_constants(const FreeSharingLaw& law) {
  const std::string scope(kScope);
  std::vector<Constant> all{{.name = "slope", .scope = scope, .value = law.slope, .unit = "1"}};
  add_constants(scope, law.elsewhere, all);
  for (const auto& [name, device] : law.devices) {
    add_constants(std::string(kDevicePrefix) + name, device, all);
  }
  return all;
}

FreeShares free_shares(const FreeSharingLaw& law, std::string_view device,
                       const std::array<Seconds, 2>& steps) {
  for (const Seconds step : steps) CHECK(step > Seconds{});
  const FreeSharingDevice& it = known_device(law, device);
  const double longer = law.slope * std::log(steps[0] / steps[1]);
  const auto share = [&](double more) { return std::exp(std::min(0.0, it.log_share + more)); };
  return {.share = {share(longer), share(-longer)}, .deviation = it.spread};
}

}  // namespace stint
