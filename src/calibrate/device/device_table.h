#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "base/units.h"
#include "calibrate/split.h"
#include "catalog/catalog.h"
#include "measure/tables/device_table_format.h"

namespace stint {

/// What a row of every format of seconds on accelerators has.
struct DeviceRow {
  TableRole role = TableRole::kTrain;
  std::string gpu;                  // What leave-one-gpu-out holds out.
  std::string family;               // What leave-one-family-out holds out.
  std::string job;                  // What scores are told apart by.
  std::vector<std::string> groups;  // Other groups of rows that get a score of their own.
  std::optional<Seconds> measured;  // Absent: not measured.
  std::string unusable = {};        // Why no model is about the row; then it is not scored either.
};

struct DeviceForecast {
  std::optional<Seconds> time;  // Absent: the note gives the reason.
  std::optional<Seconds> p10;   // An interval has both ends or none.
  std::optional<Seconds> p90;
  std::string note = {};
};

/// The rows of one format, and the models that predict some of them from others. A format is a
/// reader, a model of ours and its baselines; all else is common to the formats.
class DeviceTable {
 public:
  virtual ~DeviceTable() = default;

  /// Appends the rows of a file, whose kind its header tells. Bad input when it is none of the
  /// format's or a cell cannot be read. Measured columns may be missing where `role` is kTest.
  virtual Status add(const Csv& csv, const std::string& source, TableRole role) = 0;

  /// All rows, in the order in which they were added.
  virtual std::span<const DeviceRow> rows() const = 0;

  virtual std::vector<std::string> baselines() const = 0;

  /// Learns from the rows `fold.train`, those without a measurement left out, and predicts the rows
  /// `fold.test`, one forecast each, without their measurements. `model` is a baseline or, when
  /// empty, ours.
  virtual Result<std::vector<DeviceForecast>> forecast(const Fold& fold,
                                                       std::string_view model) const = 0;

  /// Sentences on files or rows that were read and not used.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// An empty table of `format`. `catalog` has the figures of accelerators and must outlive it.
std::unique_ptr<DeviceTable> make_device_table(DeviceTableFormat format, const Catalog& catalog);

/// The baselines of all formats, each once.
std::vector<std::string> device_baselines();

}  // namespace stint
