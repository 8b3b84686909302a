// All JSON nouns: a document that is read must be valid, and written and read again it must be the
// same document.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "measure/measurement.h"
#include "measure/noun_fuzz.h"
#include "plan/calibration.h"
#include "plan/plan.h"
#include "plan/prediction.h"
#include "plan/validation.h"

namespace {

void try_measurements(std::string_view text) {
  const auto loaded = stint::read_measurements(text, "fuzz");
  if (!loaded.ok()) return;
  std::string once;
  for (const auto& line : loaded->noun) {
    CHECK(stint::validate(line).ok());
    once += stint::write_measurement(line);
  }
  const auto again = stint::read_measurements(once, "fuzz");
  CHECK(again.ok());
  std::string twice;
  for (const auto& line : again->noun) twice += stint::write_measurement(line);
  CHECK(once == twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  stint::try_noun(text, stint::read_job, stint::write_job);
  stint::try_noun(text, stint::read_catalog, stint::write_catalog);
  stint::try_noun(text, stint::read_prediction, stint::write_prediction);
  stint::try_noun(text, stint::read_validation, stint::write_validation);
  stint::try_noun(text, stint::read_plan, stint::write_plan);
  stint::try_noun(text, stint::read_calibration, stint::write_calibration);
  try_measurements(text);
  return 0;
}
