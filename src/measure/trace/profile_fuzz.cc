// Records of the hook in a training script: lines that are read become a valid profile, or are
// refused with a reason.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "measure/trace/operator_work.h"
#include "measure/trace/profile_summary.h"

namespace {

/// Operators become the work of a valid job, or are refused.
void check_operators(const std::vector<stint::ProfileRecord>& records,
                     const stint::ProfileSummary& summary) {
  const auto run = stint::operator_run(records, summary);
  if (!run.ok()) {
    CHECK(!run.error().message.empty());
    return;
  }
  for (const stint::WorkPrecision precision :
       {stint::WorkPrecision::kFp32, stint::WorkPrecision::kMixed}) {
    auto work =
        stint::operator_work(std::vector{*run}, {.precision = precision, .fused_attention = true});
    if (!work.ok()) continue;
    stint::JobProfile job = stint::profile_of("fuzz", {summary});
    job.work = std::move(work->work);
    if (stint::validate(job).ok()) CHECK(stint::read_job(stint::write_job(job), "fuzz").ok());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto records = stint::read_profile_records(text, "fuzz");
  if (!records.ok()) {
    CHECK(!records.error().message.empty());
    return 0;
  }
  const auto summary = stint::summarise_profile(records->noun, std::nullopt);
  if (!summary.ok()) {
    CHECK(!summary.error().message.empty());
    return 0;
  }
  check_operators(records->noun, *summary);
  const stint::JobProfile job = stint::profile_of("fuzz", {*summary});
  const stint::Status valid = stint::validate(job);
  CHECK(valid.ok() || !valid.error().message.empty());
  if (valid.ok()) CHECK(stint::read_job(stint::write_job(job), "fuzz").ok());
  return 0;
}
