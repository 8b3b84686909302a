// The nouns, their readers and writers, and the JSON Schemas in docs/formats say the same thing.
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "base/file.h"
#include "base/random.h"
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
#include "schema.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

/// A noun with its types forgotten: read a text and write it back, or say why it is refused.
struct Format {
  std::string name;
  std::function<Json()> schema;
  std::function<Result<std::string>(const std::string&)> rewrite;
};

template <class Read, class Write>
std::function<Result<std::string>(const std::string&)> rewriter(Read read, Write write) {
  return [=](const std::string& text) -> Result<std::string> {
    const auto loaded = read(text, "document");
    if (!loaded.ok()) return loaded.error();
    return write(loaded->noun);
  };
}

Result<std::string> rewrite_measurement(const std::string& text) {
  const auto json = parse_json(text, "document");
  if (!json.ok()) return json.error();
  // One document per line is the form of the file; a whole line ends in a newline.
  const auto loaded = read_measurements(to_text(*json, JsonStyle::kLine) + "\n", "document");
  if (!loaded.ok()) return loaded.error();
  return write_measurement(loaded->noun.at(0));
}

Result<std::string> rewrite_cluster(const std::string& text) {
  const auto loaded = read_document<ClusterStatus>(text, kClusterSchema, "document");
  if (!loaded.ok()) return loaded.error();
  return write_document(loaded->noun, kClusterSchema);
}

Result<std::string> rewrite_layout_step(const std::string& text) {
  const auto loaded = read_document<LayoutStep>(text, kLayoutStepSchema, "document");
  if (!loaded.ok()) return loaded.error();
  return write_document(loaded->noun, kLayoutStepSchema);
}

Result<std::string> rewrite_checkpoint(const std::string& text) {
  const auto loaded = read_document<Checkpoint>(text, kCheckpointSchema, "document");
  if (!loaded.ok()) return loaded.error();
  return write_document(loaded->noun, kCheckpointSchema);
}

Result<std::string> rewrite_run_event(const std::string& text) {
  const auto json = parse_json(text, "document");
  if (!json.ok()) return json.error();
  const auto loaded = read_run_journal(to_text(*json, JsonStyle::kLine) + "\n", "document");
  if (!loaded.ok()) return loaded.error();
  const JournalLine& line = loaded->noun.at(0);
  return write_run_event(line.event, line.actions.value_or(std::vector<RunAction>{}));
}

Result<std::string> rewrite_run_snapshot(const std::string& text) {
  const auto json = parse_json(text, "document");
  if (!json.ok()) return json.error();
  const auto loaded = read_run_journal(to_text(*json, JsonStyle::kLine) + "\n", "document");
  if (!loaded.ok()) return loaded.error();
  if (!loaded->noun.at(0).snapshot) return bad_input("not a snapshot");
  return write_run_snapshot(*loaded->noun.at(0).snapshot);
}

std::vector<Format> nouns() {
  return {{"calibration", calibration_schema, rewriter(read_calibration, write_calibration)},
          {"catalog", catalog_schema, rewriter(read_catalog, write_catalog)},
          {"checkpoint", checkpoint_schema, rewrite_checkpoint},
          {"cluster", cluster_schema, rewrite_cluster},
          {"interleave", sharing_schema, rewriter(read_sharing, write_sharing)},
          {"job", job_schema, rewriter(read_job, write_job)},
          {"layout-step", layout_step_schema, rewrite_layout_step},
          {"measurement", measurement_schema, rewrite_measurement},
          {"plan", plan_schema, rewriter(read_plan, write_plan)},
          {"plans", together_schema, rewriter(read_together, write_together)},
          {"prediction", prediction_schema, rewriter(read_prediction, write_prediction)},
          {"run", run_schema, rewriter(read_run, write_run)},
          {"run-event", run_event_schema, rewrite_run_event},
          {"run-plan", run_plan_schema, rewriter(read_run_plan, write_run_plan)},
          {"run-snapshot", run_snapshot_schema, rewrite_run_snapshot},
          {"search", search_schema, rewriter(read_search, write_search)},
          {"validation", validation_schema, rewriter(read_validation, write_validation)},
          {"validation_deadline", deadline_validation_schema,
           rewriter(read_deadline_validation, write_deadline_validation)},
          {"validation_interleave", interleave_validation_schema,
           rewriter(read_interleave_validation, write_interleave_validation)},
          {"validation_plan", plan_validation_schema,
           rewriter(read_plan_validation, write_plan_validation)},
          {"validation_search", search_validation_schema,
           rewriter(read_search_validation, write_search_validation)}};
}

std::vector<Format> formats() {
  std::vector<Format> all = nouns();
  for (const cli::ViewFormat& view : cli::view_formats()) {
    all.push_back({view.name, view.json_schema, view.rewrite});
  }
  return all;
}

std::string schema_path(const Format& format) {
  const Json schema = format.schema();
  const std::string mark =
      *schema.find("properties")->find("schema")->find("const")->as<std::string>();
  return fmt::format("{}/docs/formats/stint.{}.{}.schema.json", STINT_SOURCE, format.name,
                     mark.substr(mark.rfind('/') + 1));
}

std::vector<std::string> samples(const Format& format, const char* kind) {
  std::vector<std::string> texts;
  const auto folder = fs::path(STINT_SOURCE) / "tests/formats" / format.name / kind;
  for (const auto& entry : fs::directory_iterator(folder)) {
    texts.push_back(*read_file(entry.path().string()));
  }
  EXPECT_GE(texts.size(), 1U) << folder;
  return texts;
}

TEST(Formats, TheCommittedSchemasAreTheOnesTheCodeDescribes) {
  for (const Format& format : formats()) {
    EXPECT_EQ(*read_file(schema_path(format)), to_text(format.schema(), JsonStyle::kPretty) + "\n")
        << "run build/dev/stint_formats docs/formats";
  }
}

TEST(Formats, ThePageLinksToEverySchemaAndEverySchemaIsDescribed) {
  const std::string page = *read_file(std::string(STINT_SOURCE) + "/docs/formats.md");
  std::set<std::string> described;
  for (const Format& format : formats()) {
    described.insert(fs::path(schema_path(format)).filename().string());
  }
  for (const auto& entry : fs::directory_iterator(fs::path(STINT_SOURCE) / "docs/formats")) {
    const std::string name = entry.path().filename().string();
    EXPECT_NE(page.find("(formats/" + name + ")"), std::string::npos) << name;
    EXPECT_TRUE(described.contains(name)) << name;
  }
}

TEST(Formats, GoodDocumentsPassBothAndRoundTripExactly) {
  for (const Format& format : formats()) {
    const std::string schema = *read_file(schema_path(format));
    for (const std::string& text : samples(format, "good")) {
      EXPECT_EQ(schema_problem(schema, text), "") << text;
      const auto written = format.rewrite(text);
      ASSERT_TRUE(written.ok()) << written.error().message;
      EXPECT_EQ(schema_problem(schema, *written), "") << *written;
      EXPECT_EQ(*parse_json(*written, "written"), *parse_json(text, "original")) << *written;
    }
  }
}

TEST(Formats, BadDocumentsFailBoth) {
  for (const Format& format : formats()) {
    const std::string schema = *read_file(schema_path(format));
    for (const std::string& text : samples(format, "bad")) {
      EXPECT_NE(schema_problem(schema, text), "") << text;
      EXPECT_FALSE(format.rewrite(text).ok()) << text;
    }
  }
}

/// Every value of a document, to be damaged one at a time.
void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (auto* array = json.as<Json::Array>()) {
    for (Json& item : *array) collect(item, values);
  } else if (auto* object = json.as<Json::Object>()) {
    for (auto& [name, value] : *object) collect(value, values);
  }
}

void damage(Json& document, Random& random) {
  std::vector<Json*> values;
  collect(document, values);
  Json& victim = *values[static_cast<std::size_t>(random.below(static_cast<int>(values.size())))];
  auto* object = victim.as<Json::Object>();
  if (object != nullptr && !object->empty() && random.below(2) == 0) {
    object->erase(object->begin() + random.below(static_cast<int>(object->size())));
    return;
  }
  const Json replacements[] = {Json(),
                               Json(Json::Value{true}),
                               Json(-1),
                               Json(Json::Value{0.5}),
                               Json(""),
                               Json("3 h"),
                               Json(7),
                               Json(Json::Array{}),
                               Json(Json::Object{}),
                               Json("-2 GB"),
                               Json("2026-02-30"),
                               Json("x")};
  victim = replacements[random.below(std::size(replacements))];
}

// The schema is never stricter than the reader: what the reader takes, the schema allows, and what
// it writes then is valid too.
TEST(Formats, DamagedDocumentsAreJudgedAlike) {
  constexpr int kSeed = 42;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  int refused = 0;
  for (const Format& format : formats()) {
    const std::string schema = *read_file(schema_path(format));
    for (const std::string& text : samples(format, "good")) {
      for (int i = 0; i < 30; ++i) {
        Json document = *parse_json(text, "good");
        damage(document, random);
        const std::string damaged = to_text(document, JsonStyle::kPretty);
        const auto written = format.rewrite(damaged);
        if (!written.ok()) {
          ++refused;
          continue;
        }
        ASSERT_EQ(schema_problem(schema, damaged), "") << damaged;
        ASSERT_EQ(schema_problem(schema, *written), "") << *written;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace stint
