#include "app/plan/plan_limits.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/date.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "catalog/lookup.h"

namespace stint {
namespace {

constexpr const char* kDeadlineExample = "write a time of day as 2026-11-20T18:00Z";

/// Durations have a unit before any dash; moments begin with a year and one.
bool looks_like_a_moment(std::string_view text) {
  return text.size() > 4 && text[4] == '-' && std::all_of(text.begin(), text.begin() + 4, is_digit);
}

bool has_price(const Catalog& catalog, const std::vector<Market>& markets) {
  return std::any_of(catalog.types.begin(), catalog.types.end(), [&](const VmType& type) {
    return std::any_of(type.offers.begin(), type.offers.end(), [&](const Offer& offer) {
      return lowest_price(offer, markets).has_value();
    });
  });
}

/// The flags that name machines, as far as they are given.
std::vector<std::string> machine_flags(const MachineFilter& machines) {
  std::vector<std::string> flags;
  if (!machines.gpus.empty()) flags.emplace_back("--gpu");
  if (!machines.types.empty()) flags.emplace_back("--types");
  if (!machines.excluded.empty()) flags.emplace_back("--exclude");
  if (!machines.processors.empty()) flags.emplace_back("--arch");
  return flags;
}

/// Nothing of the catalogue is left.
Error nothing_left(const Constraints& constraints, const std::string& place) {
  const std::vector<std::string> flags = machine_flags(constraints.machines);
  if (flags.empty()) {
    return bad_usage(fmt::format(
        "the catalogue has no machine with an accelerator{}; relax --providers or --regions",
        place));
  }
  return bad_usage(fmt::format("no machine with an accelerator{} passes {}; relax one of them",
                               place, join(flags, " and ")));
}

/// "of aws in us-east-1 or us-west-2", or empty.
std::string place_of(const Constraints& constraints) {
  std::string text;
  if (!constraints.providers.empty()) text += " of " + join(constraints.providers, " or ");
  if (!constraints.regions.empty()) text += " in " + join(constraints.regions, " or ");
  return text;
}

}  // namespace

Result<Seconds> parse_deadline(std::string_view text, const Clock& clock) {
  text = trim(text);
  if (looks_like_a_moment(text)) {
    const auto moment = parse_instant(text);
    if (!moment) {
      return bad_usage(fmt::format("--deadline: '{}' is not a time; {}, or a date", printable(text),
                                   kDeadlineExample));
    }
    if (*moment > clock.now()) return *moment - clock.now();
    return bad_usage(fmt::format("--deadline: {} is in the past: today is {} (UTC)",
                                 printable(text), to_text(date_at(clock.now()))));
  }
  const auto duration = parse_quantity<Seconds>(text);
  if (!duration.ok()) {
    return bad_usage(fmt::format("--deadline: {}; {}", duration.error().message, kDeadlineExample));
  }
  if (*duration > Seconds{}) return *duration;
  return bad_usage("--deadline must be above zero");
}

std::string money_text(std::string_view text) {
  const std::string_view trimmed = trim(text);
  if (!trimmed.starts_with('$')) return std::string(text);
  const std::string_view amount = trimmed.substr(1, trimmed.find('/') - 1);
  const bool number = !amount.empty() && std::all_of(amount.begin(), amount.end(), [](char c) {
    return is_digit(c) || c == '.';
  });
  if (!number) return std::string(text);
  return fmt::format("{}USD{}", amount, trimmed.substr(1 + amount.size()));
}

Result<Spending> parse_budget(std::string_view given) {
  const std::string text = money_text(given);
  Spending spending;
  bool positive = false;
  if (text.find('/') == std::string::npos) {
    const auto amount = parse_quantity<Dollars>(text);
    if (!amount.ok()) {
      return bad_usage(
          fmt::format("--budget: {}; '3 USD/h' limits the cost per hour", amount.error().message));
    }
    positive = *amount > Dollars{};
    spending.budget = *amount;
  } else {
    const auto rate = parse_quantity<DollarsPerSecond>(text);
    if (!rate.ok()) return bad_usage("--budget: " + rate.error().message);
    positive = *rate > DollarsPerSecond{};
    spending.rate_max = *rate;
  }
  if (!positive) return bad_usage("--budget must be above zero");
  return spending;
}

Result<double> parse_confidence(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const bool percent = trimmed.ends_with('%');
  const auto number = parse_double(trim(trimmed.substr(0, trimmed.size() - (percent ? 1 : 0))));
  if (number) return percent ? *number / 100 : *number;
  return bad_usage(
      fmt::format("--confidence must be a number such as 0.95 or 95%, not '{}'", printable(text)));
}

std::string only_provider(const Constraints& constraints) {
  return constraints.providers.size() == 1 ? constraints.providers.front() : "";
}

Status check_limits(const Constraints& constraints) {
  if (constraints.deadline && *constraints.deadline <= Seconds{}) {
    return bad_usage("--deadline must be above zero");
  }
  const bool spends_nothing = (constraints.budget && *constraints.budget <= Dollars{}) ||
                              (constraints.rate_max && *constraints.rate_max <= DollarsPerSecond{});
  if (spends_nothing) return bad_usage("--budget must be above zero");
  const bool sane = constraints.confidence >= 0.5 && constraints.confidence <= kConfidenceMax;
  if (!sane) {
    return bad_usage(
        fmt::format("--confidence must be from 0.5 to {}, not {}; it is the probability of meeting "
                    "deadline and budget",
                    kConfidenceMax, constraints.confidence));
  }
  if (constraints.vms_max < 1 || constraints.vms_max > kPlannedVmsMax) {
    return bad_usage(fmt::format("--max-vms must be from 1 to {}", kPlannedVmsMax));
  }
  return {};
}

Status check_offers(const Catalog& catalog, const Constraints& constraints) {
  if (std::count(constraints.machines.gpus.begin(), constraints.machines.gpus.end(), "none") > 0) {
    return bad_usage("--gpu none: a plan needs machines with an accelerator");
  }
  auto rentable = select(catalog,
                         {.providers = constraints.providers,
                          .regions = constraints.regions,
                          .markets = {},
                          .machines = constraints.machines,
                          .gpu_memory_min = {},
                          .price_max = {}},
                         SortKey::kName);
  if (!rentable.ok()) return rentable.error();
  const MachineChoice choice(catalog, constraints.machines);
  std::erase_if(rentable->types,
                [&](const VmType& type) { return !choice.reason_against(type).empty(); });
  const std::string place = place_of(constraints);
  if (rentable->types.empty()) return nothing_left(constraints, place);
  if (!has_price(*rentable, {})) {
    return bad_input(
        fmt::format("the catalogue has no price of any machine{}; add prices with "
                    "'stint catalog import FILE'",
                    place));
  }
  if (has_price(*rentable, constraints.markets)) return {};
  return bad_usage(fmt::format(
      "nothing{} has a price on the {} market; allow both with --markets on-demand,spot", place,
      constraints.markets.front() == Market::kSpot ? "spot" : "on-demand"));
}

}  // namespace stint
