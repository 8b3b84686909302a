#include "validate/validation_report.h"

#include <fmt/format.h>

#include "base/csv.h"

namespace stint {
namespace {

std::string number_cell(const std::optional<double>& number) {
  return number ? fmt::format("{:.9g}", *number) : "";
}

}  // namespace

std::string predictions_csv(std::span<const PredictionLine> lines) {
  std::string text = csv_line({"row", "predicted", "p10", "p90", "note"});
  for (const PredictionLine& line : lines) {
    text += csv_line({fmt::format("{}", line.row), number_cell(line.predicted),
                      number_cell(line.p10), number_cell(line.p90), line.note});
  }
  return text;
}

std::vector<Fold> leave_one_out(std::span<const std::string> keys) {
  std::map<std::string, Fold> folds;
  for (const std::string& key : keys) folds[key];
  for (auto& [key, fold] : folds) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      (keys[i] == key ? fold.test : fold.train).push_back(i);
    }
  }
  std::vector<Fold> list;
  for (auto& [key, fold] : folds) list.push_back(std::move(fold));
  return list;
}

Fold train_then_test(std::size_t train, std::size_t rows) {
  Fold fold;
  for (std::size_t i = 0; i < rows; ++i) (i < train ? fold.train : fold.test).push_back(i);
  return fold;
}

Status check_validation_files(const std::vector<std::string>& train,
                              const std::vector<std::string>& test, const std::string& split) {
  if (train.empty()) return bad_usage("--train FILE is required: the rows to learn from");
  if (test.empty() && split.empty()) {
    return bad_usage("--test FILE or --split is required: the rows to predict");
  }
  if (!test.empty() && !split.empty()) {
    return bad_usage("--test and --split exclude each other: --split takes its rows from --train");
  }
  return {};
}

}  // namespace stint
