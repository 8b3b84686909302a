// Texts that options hold; the first byte chooses: quotas, lifetimes of spot machines, deadlines
// and budgets, or goals. What is read is of use, and a quota that is written is read as the same
// one.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/local/local_cases.h"
#include "app/plan/plan_limits.h"
#include "app/run/run_market.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/text.h"
#include "cloud/cgroup.h"
#include "load/job_overrides.h"
#include "optimise/question.h"

namespace {

template <class Q>
void check_positive(const Q& quantity, Q unit) {
  CHECK(quantity > Q{});
  CHECK(std::isfinite(quantity.in(unit)));
}

template <class T>
bool read(const stint::Result<T>& result) {
  CHECK(result.ok() || !result.error().message.empty());
  return result.ok();
}

void try_quotas(std::string_view text) {
  const auto quotas = stint::parse_quotas(text);
  if (read(quotas)) {
    for (const stint::Quota& quota : *quotas) {
      CHECK(quota.vcpus >= 0);
      const auto again = stint::parse_quotas(stint::to_text(quota));
      CHECK(again.ok());
      CHECK(again->size() == 1);
      CHECK(again->front() == quota);
    }
  }
  const auto processors = stint::parse_double(text);
  if (!processors) return;
  const auto quota = stint::cpu_quota(*processors);
  if (read(quota)) CHECK(quota->quota_us > 0);
}

void try_life(const std::string& text) {
  // A trace is a file, which this must not read.
  if (text.starts_with("trace:")) return;
  const auto spells = stint::parse_spells(text, "--life");
  if (read(spells)) {
    check_positive(spells->stay, stint::kSecond);
    if (spells->away) check_positive(*spells->away, stint::kSecond);
  }
  stint::ClusterSpec spec{.vms = {{.name = "vm1", .market = stint::Market::kSpot}}};
  const stint::Status set = stint::set_lives(spec, text, 1);
  CHECK(set.ok() || !set.error().message.empty());
  if (spec.vms[0].life) CHECK(*spec.vms[0].life >= stint::Seconds{});
}

void try_limits(std::string_view text) {
  const auto deadline = stint::parse_deadline(text, stint::FixedClock(0 * stint::kSecond));
  if (read(deadline)) check_positive(*deadline, stint::kSecond);
  const auto spending = stint::parse_budget(text);
  if (!read(spending)) return;
  CHECK(spending->budget.has_value() != spending->rate_max.has_value());
  if (spending->budget) check_positive(*spending->budget, stint::kDollar);
  if (spending->rate_max) check_positive(*spending->rate_max, stint::kDollar / stint::kHour);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0]) {
    case 'q':
      try_quotas(text);
      break;
    case 'l':
      try_life(std::string(text));
      break;
    case 'd':
      try_limits(text);
      break;
    default:
      read(stint::parse_goal(text));
  }
  return 0;
}
