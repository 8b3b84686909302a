// Writes the JSON Schema of every noun into the folder it is given: stint_formats docs/formats.
// The schemas come from the same descriptions that read and write the nouns.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "catalog/catalog.h"
#include "checkpoint/checkpoint_files.h"
#include "cli/views/view_formats.h"
#include "cloud/cluster_status.h"
#include "job/job.h"
#include "measure/layout_step.h"
#include "measure/measurement.h"
#include "plan/calibration.h"
#include "plan/plan.h"
#include "plan/prediction.h"
#include "plan/sharing.h"
#include "plan/validation.h"
#include "plan/validations.h"
#include "run/run_journal.h"
#include "run/run_record.h"
#include "run/search_record.h"

namespace {

/// The version in the mark of a schema: "2" of "stint.run-event/2".
std::string version_of(const stint::Json& schema) {
  const std::string mark =
      *schema.find("properties")->find("schema")->find("const")->as<std::string>();
  return mark.substr(mark.rfind('/') + 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: stint_formats FOLDER\n", stderr);
    return 2;
  }
  std::vector<std::pair<std::string, stint::Json>> schemas = {
      {"calibration", stint::calibration_schema()},
      {"catalog", stint::catalog_schema()},
      {"checkpoint", stint::checkpoint_schema()},
      {"cluster", stint::cluster_schema()},
      {"interleave", stint::sharing_schema()},
      {"job", stint::job_schema()},
      {"layout-step", stint::layout_step_schema()},
      {"measurement", stint::measurement_schema()},
      {"plan", stint::plan_schema()},
      {"plans", stint::together_schema()},
      {"prediction", stint::prediction_schema()},
      {"run", stint::run_schema()},
      {"run-event", stint::run_event_schema()},
      {"run-plan", stint::run_plan_schema()},
      {"run-snapshot", stint::run_snapshot_schema()},
      {"search", stint::search_schema()},
      {"validation", stint::validation_schema()},
      {"validation_deadline", stint::deadline_validation_schema()},
      {"validation_interleave", stint::interleave_validation_schema()},
      {"validation_plan", stint::plan_validation_schema()},
      {"validation_search", stint::search_validation_schema()}};
  for (const stint::cli::ViewFormat& format : stint::cli::view_formats()) {
    schemas.emplace_back(format.name, format.json_schema());
  }
  for (const auto& [name, schema] : schemas) {
    const std::string path =
        std::string(argv[1]) + "/stint." + name + "." + version_of(schema) + ".schema.json";
    const std::string text = stint::to_text(schema, stint::JsonStyle::kPretty) + "\n";
    const stint::Status written = stint::write_file(path, text);
    if (!written.ok()) {
      std::fprintf(stderr, "stint_formats: %s\n", written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
