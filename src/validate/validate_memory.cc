#include "validate/validate_memory.h"

#include <fmt/format.h>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "validate/sharded/validate_memory_layouts.h"
#include "validate/validate_memory_marks.h"
#include "validate/validate_memory_plans.h"

namespace stint {
namespace {

enum class Kind { kAlone, kPairs, kPlans };

Result<Kind> kind_of(const std::string& text, const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  if (csv->find_column("layers_per_stage")) return Kind::kPlans;
  if (csv->find_column("model_a")) return Kind::kPairs;
  if (csv->find_column("batch_per_gpu")) return Kind::kAlone;
  return bad_input(
      fmt::format("{}: its header has none of the columns layers_per_stage (plans), model_a "
                  "(pairs) and batch_per_gpu (jobs alone), so it is not a table of memory",
                  source));
}

struct Tables {
  std::vector<Mark> marks;
  std::vector<PlanMemory> plans;
};

Status read_marks(Kind kind, const std::string& text, const std::string& file,
                  std::vector<Mark>& marks) {
  if (kind == Kind::kPairs) {
    const auto rows = read_pair_marks(text, file);
    if (!rows.ok()) return rows.error();
    for (const PairMark& it : *rows) {
      marks.push_back({.jobs = {it.first, it.second}, .device = it.device, .fits = it.fits});
    }
    return {};
  }
  const auto rows = read_memory_marks(text, file);
  if (!rows.ok()) return rows.error();
  for (const MemoryMark& it : *rows) {
    marks.push_back({.jobs = {it.job}, .device = it.device, .fits = it.fits});
  }
  return {};
}

Result<Tables> read_tables(const std::vector<std::string>& files) {
  Tables tables;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto kind = kind_of(*text, file);
    if (!kind.ok()) return kind.error();
    if (*kind == Kind::kPlans) {
      const auto rows = read_plan_memory(*text, file);
      if (!rows.ok()) return rows.error();
      tables.plans.insert(tables.plans.end(), rows->begin(), rows->end());
    } else {
      const Status read = read_marks(*kind, *text, file, tables.marks);
      if (!read.ok()) return read.error();
    }
  }
  return tables;
}

Result<ValidationReport> validate_plan_tables(Tables train, Tables test,
                                              const MemoryRequest& request) {
  if (request.layers.empty()) {
    return bad_usage("plans need --layers FILE, the layer sizes of their models");
  }
  const auto text = read_file(request.layers);
  if (!text.ok()) return text.error();
  const auto sizes = read_layer_sizes(*text, request.layers);
  if (!sizes.ok()) return sizes.error();
  return validate_plans(std::move(train.plans), std::move(test.plans), LayerTable(*sizes),
                        {.split = request.split, .plain = request.plain});
}

}  // namespace

Result<ValidationReport> validate_memory(const Environment& environment,
                                         const MemoryRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  if (request.format) {
    return validate_memory_layouts(environment, {.format = *request.format,
                                                 .train = request.train,
                                                 .test = request.test,
                                                 .split = request.split,
                                                 .priors = request.priors,
                                                 .plain = request.plain});
  }
  if (!request.priors.empty()) return bad_usage("--prior needs --format");
  auto train = read_tables(request.train);
  if (!train.ok()) return train.error();
  auto test = read_tables(request.test);
  if (!test.ok()) return test.error();
  const bool marks = !train->marks.empty() || !test->marks.empty();
  const bool plans = !train->plans.empty() || !test->plans.empty();
  if (marks && plans) {
    return bad_usage("marks of what fits and plans cannot be mixed; validate them separately");
  }
  if (plans) return validate_plan_tables(std::move(*train), std::move(*test), request);
  return validate_marks(environment, std::move(train->marks), std::move(test->marks),
                        {.split = request.split, .plain = request.plain});
}

}  // namespace stint
