#include "load/job_files.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "calibrate/law_fit.h"
#include "load/bundled.h"

namespace stint {

JobsByName shipped_jobs() {
  JobsByName jobs;
  for (const BundledFile& file : bundled_jobs()) {
    auto job = read_job(file.bytes, file.path);
    CHECK(job.ok());
    const std::string name = job->noun.name;
    jobs.emplace(name, std::move(job->noun));
  }
  return jobs;
}

Result<JobsByName> read_jobs(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json.ok()) return json.error();
  const auto* list = json->as<Json::Array>();
  if (list == nullptr) {
    const bool one = json->as<Json::Object>() != nullptr;
    return bad_input(fmt::format("{}: must be an array of job profiles, not {}{}", source,
                                 json->kind(), one ? "; put [ and ] around a single one" : ""));
  }
  JobsByName jobs;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Json entry = (*list)[i];
    // Inside an array a profile may leave its mark out.
    if (entry.as<Json::Object>() != nullptr && entry.find("schema") == nullptr) {
      entry.add("schema", kJobSchema);
    }
    auto job = read_job(to_text(entry, JsonStyle::kLine), fmt::format("{}, job {}", source, i + 1));
    if (!job.ok()) return job.error();
    const std::string name = job->noun.name;
    if (!jobs.emplace(name, std::move(job->noun)).second) {
      return bad_input(
          fmt::format("{}: the job {} appears twice; keep one", source, printable(name)));
    }
  }
  return jobs;
}

Calibration shipped_calibration(std::string_view name) {
  const auto files = bundled_calibrations();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const BundledFile& file) { return name_of(file) == name; });
  CHECK(found != files.end());
  auto calibration = read_calibration(found->bytes, found->path);
  CHECK(calibration.ok());
  return std::move(calibration->noun);
}

Calibration shipped_priors() { return shipped_calibration("priors"); }

NetworkKnowledge shipped_networks() {
  const auto law = collective_law(shipped_calibration("collectives"));
  CHECK(law.ok());
  const auto physics = fabric_physics(shipped_calibration("fabrics"), *law);
  CHECK(physics.ok());
  const auto priors = law_priors(shipped_priors());
  CHECK(priors.ok());
  return {.physics = *physics,
          .unknown = {.mean = priors->fabric, .deviation = priors->fabric_deviation}};
}

}  // namespace stint
