#include "validate/validate_collective.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "calibrate/collective_fit.h"
#include "calibrate/score.h"
#include "measure/tables/nccl_text.h"
#include "validate/row_files.h"

namespace stint {
namespace {

// Sizes that the split "sizes" predicts: the range in which NCCL changes its protocols.
constexpr Bytes kTestFrom = 1 * kMiB;
constexpr Bytes kTestBelow = 64 * kMiB;

constexpr std::array<std::string_view, 3> kModels{"", "alpha-beta", "bandwidth"};

struct Rows {
  std::vector<CollectiveRow> train;
  std::vector<CollectiveRow> test;
  std::vector<std::size_t> places;  // Positions of the test rows in their files.
};

Result<Rows> read_rows(const CollectiveRequest& request) {
  auto train = rows_of_files<CollectiveRow>(request.train, read_collective_table);
  if (!train.ok()) return train.error();
  auto test = rows_of_files<CollectiveRow>(request.test, read_collective_table);
  if (!test.ok()) return test.error();
  Rows rows{.test = std::move(*test)};
  for (std::size_t i = 0; i < rows.test.size(); ++i) rows.places.push_back(i);
  for (std::size_t i = 0; i < train->size(); ++i) {
    const CollectiveRow& row = (*train)[i];
    const bool between = row.payload >= kTestFrom && row.payload < kTestBelow;
    if (!request.split.empty() && between) {
      rows.test.push_back(row);
      rows.places.push_back(i);
    } else if (is_modelled(row)) {
      rows.train.push_back(row);
    }
  }
  return rows;
}

/// The prediction of `model` for a row.
PredictionLine predict_row(const std::string& model, const CollectiveModel& ours, const Rows& rows,
                           std::size_t i) {
  const CollectiveRow& row = rows.test[i];
  PredictionLine line{.row = rows.places[i]};
  if (!is_modelled(row)) {
    line.note = fmt::format("only all_reduce over two ranks or more is modelled, not {} over {}",
                            printable(row.collective), row.workers);
    return line;
  }
  if (model.empty()) {
    const CollectiveEstimate estimate = ours.estimate(row);
    line.predicted = estimate.mean.in(kSecond);
    line.p10 = estimate.p10.in(kSecond);
    line.p90 = estimate.p90.in(kSecond);
    return line;
  }
  const auto time = model == "alpha-beta" ? alpha_beta_time(rows.train, row)
                                          : perfect_bandwidth_time(rows.train, row);
  if (time) {
    line.predicted = time->in(kSecond);
  } else {
    line.note = "the cluster has too few rows in training";
  }
  return line;
}

Validation score_lines(const Rows& rows, const std::vector<PredictionLine>& lines) {
  const auto seconds = [](const std::optional<double>& number) {
    return number ? std::optional(*number * kSecond) : std::nullopt;
  };
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!rows.test[i].time) continue;
    scored.push_back({.job = rows.test[i].cluster,
                      .predicted = seconds(lines[i].predicted),
                      .measured = *rows.test[i].time,
                      .p10 = seconds(lines[i].p10),
                      .p90 = seconds(lines[i].p90)});
  }
  Validation validation{.what = "collective"};
  validation.overall = score(scored);
  validation.jobs = score_by_job(scored);
  validation.mean_over_jobs = mean_over(validation.jobs);
  return validation;
}

}  // namespace

Result<ValidationReport> validate_collective(const CollectiveRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  if (std::find(kModels.begin(), kModels.end(), request.baseline) == kModels.end()) {
    return bad_usage(fmt::format("--baseline {} needs --format", printable(request.baseline)));
  }
  if (!request.split.empty() && request.split != "sizes") {
    return bad_usage(fmt::format("--split {} needs --format", printable(request.split)));
  }
  const auto rows = read_rows(request);
  if (!rows.ok()) return rows.error();
  const auto ours = CollectiveModel::fit(rows->train);
  if (!ours.ok()) return ours.error();

  ValidationReport report;
  for (const std::string_view name : kModels) {
    const std::string model(name);
    std::vector<PredictionLine> lines;
    for (std::size_t i = 0; i < rows->test.size(); ++i) {
      lines.push_back(predict_row(model, *ours, *rows, i));
    }
    Validation validation = score_lines(*rows, lines);
    if (!model.empty()) validation.baseline = model;
    if (!request.split.empty()) validation.split = request.split;
    if (model == request.baseline) {
      report.validation = std::move(validation);
      report.predictions = std::move(lines);
    } else {
      report.beside.push_back(std::move(validation));
    }
  }
  return report;
}

}  // namespace stint
