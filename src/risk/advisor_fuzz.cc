// Interruption bands of a spot advisor, and lifetimes, up to the hazard that follows from them: a
// machine's probability of survival is one.
#include "risk/advisor.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace {

void check_hazard(const stint::Hazard& hazard) {
  for (const double hours : {0.0, 1.0, 24.0, 1e6}) {
    const double share = hazard.survival(hours * stint::kHour);
    CHECK(share >= 0);
    CHECK(share <= 1);
  }
}

void check_hazard(const stint::PoolHazard& hazard) {
  check_hazard(hazard.typical);
  check_hazard(hazard.low);
  check_hazard(hazard.high);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto bands = stint::read_advised_bands(text, "fuzz");
  CHECK(bands.ok() || !bands.error().message.empty());
  if (bands.ok()) {
    for (const stint::AdvisedBand& row : *bands) check_hazard(stint::advised_hazard(row.band));
  }
  const auto lifetimes = stint::read_lifetimes(text, "fuzz");
  if (!lifetimes.ok()) return 0;
  const stint::PoolStudy study = stint::study_of(*lifetimes);
  const auto prior =
      stint::read_spot_prior(stint::spot_calibration(stint::pool_population({&study, 1}), {}));
  CHECK(prior.ok() || !prior.error().message.empty());
  if (prior.ok()) check_hazard(prior->hazard);
  return 0;
}
