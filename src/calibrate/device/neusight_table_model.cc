#include "calibrate/device/neusight_table_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "calibrate/device/device_model_fit.h"
#include "catalog/gpu_spelling.h"
#include "measure/tables/neusight_table.h"
#include "measure/tables/table_cells.h"
#include "predict/collective.h"
#include "predict/law.h"

namespace stint {
namespace {

constexpr Precision kPrecision = Precision::kFp32;        // Of all rows.
constexpr double kLinkShare = 0.7;                        // Of a link's rate that a ring reaches.
constexpr BytesPerSecond kHostLink = 12 * kGB / kSecond;  // PCIe 3.0 x16, where no link is known.
constexpr Seconds kHopLatency = 10 * kMicrosecond;
constexpr int kLanesOfFullIssue = 128;  // Of a multiprocessor with four schedulers.
constexpr double kSplitSpread = 0.2;    // Deviation that splitting over GPUs adds.
constexpr double kAllReducesPerLayer = 2;

/// How a row is split over GPUs.
struct Way {
  enum class Kind { kAlone, kFused, kData, kTensor, kPipeline };
  Kind kind = Kind::kAlone;
  int parts = 1;
  int micro_batches = 1;
};

/// "", "fusion", "dp4", "tp4" or "pp4_1"; nothing for another option.
std::optional<Way> way_of(std::string_view option) {
  if (option.empty()) return Way{};
  if (option == "fusion") return Way{.kind = Way::Kind::kFused};
  const std::string_view kind = option.substr(0, 2);
  const std::size_t line = option.find('_');
  if (option.size() < 3) return std::nullopt;
  const std::optional<int> parts = count_of(option.substr(2, line - 2));
  const bool split = line != std::string_view::npos;
  const std::optional<int> rest = count_of(split ? option.substr(line + 1) : "1");
  if (!parts || !rest) return std::nullopt;
  if (kind == "dp") return Way{.kind = Way::Kind::kData, .parts = *parts};
  if (kind == "tp") return Way{.kind = Way::Kind::kTensor, .parts = *parts};
  if (kind != "pp") return std::nullopt;
  return Way{.kind = Way::Kind::kPipeline, .parts = *parts, .micro_batches = *rest};
}

/// A row with all that is needed to predict it.
struct Setup {
  DeviceFigures device;
  TransformerShape shape;
  Way way;
  BytesPerSecond link = kHostLink;  // One direction.
};

Setup with_catalog(const NeusightGpu* listed, const Gpu* known, const std::string& name) {
  Setup setup;
  DeviceFigures& device = setup.device;
  if (known != nullptr) {
    const auto figures = device_figures(*known, kPrecision);
    if (figures.ok()) device = *figures;
    if (known->link_bandwidth) setup.link = *known->link_bandwidth / 2 * kLinkShare;
  }
  device.name = known != nullptr ? known->name : name;
  if (listed != nullptr) {
    if (listed->peak) device.peak = *listed->peak;
    if (listed->bandwidth) device.bandwidth = *listed->bandwidth;
    if (listed->multiprocessors) device.multiprocessors = listed->multiprocessors;
    if (known == nullptr) {
      device.vendor = listed->amd ? "AMD" : "NVIDIA";
      device.full_issue = !listed->amd && listed->lanes.value_or(0) >= kLanesOfFullIssue;
    }
  }
  return setup;
}

Result<TransformerShape> shape_of(const NeusightModel& model, double length) {
  TransformerShape shape{
      .layers = std::llround(model.layers),
      .hidden = std::llround(model.hidden),
      .heads = std::llround(model.heads),
      .feed_forward = std::llround(model.feed_forward.value_or(4 * model.hidden)),
      .vocabulary = std::llround(model.vocabulary),
      .experts = std::llround(model.experts.value_or(1)),
      .positions = std::llround(length)};
  for (const auto& [type, name] : names_of(TransformerType{})) {
    if (model.type != name) continue;
    shape.type = type;
    return shape;
  }
  return bad_input(fmt::format("the type {} of the model {} is not known", printable(model.type),
                               printable(model.name)));
}

/// The time of a row by the device model.
Seconds time_of_row(const NeusightRow& row, const Setup& setup, const DeviceModel& model) {
  const Bytes value = bytes_per_value(kPrecision);
  const Way& way = setup.way;
  const bool data = way.kind == Way::Kind::kData;
  const bool tensor = way.kind == Way::Kind::kTensor;
  const bool pipeline = way.kind == Way::Kind::kPipeline;
  const double share = data ? way.parts : pipeline ? way.micro_batches : 1;
  const TokenBatch tokens{.batch = std::max(1.0, row.batch / share), .length = row.length};
  const auto operators = forward_operators(setup.shape, tokens, value, tensor ? way.parts : 1);
  const ModelPasses passes{.training = row.training, .fused = way.kind == Way::Kind::kFused};
  const Seconds time = pass_time(forward_times(operators, setup.device, model), passes, model);

  const Link link{.inverse_bandwidth = 1 / setup.link, .latency = kHopLatency};
  if (data && row.training) {
    return time + ring_allreduce_time(parameters(setup.shape) * value, way.parts, link);
  }
  if (tensor) {
    const Bytes activations =
        tokens.batch * tokens.length * static_cast<double>(setup.shape.hidden) * value;
    const double count =
        kAllReducesPerLayer * static_cast<double>(setup.shape.layers) * (row.training ? 2 : 1);
    return time + count * ring_allreduce_time(activations, way.parts, link);
  }
  if (pipeline) return time * ((way.micro_batches + way.parts - 1.0) / way.parts);
  return time;
}

bool measured_alone(const Way& way) {
  return way.kind == Way::Kind::kAlone || way.kind == Way::Kind::kFused;
}

/// What no measured row is behind; empty: nothing.
std::string unvalidated(const Setup& setup, const DeviceModel& model) {
  if (!measured_alone(setup.way)) return "unvalidated: no row of several GPUs was learned from";
  if (model.peak_max.contains(setup.device.vendor)) return "";
  return fmt::format("unvalidated: no accelerator of {} was measured", setup.device.vendor);
}

class NeusightTable final : public DeviceModelTable {
 public:
  explicit NeusightTable(const Catalog& catalog) : catalog_(catalog) {}

  Status add(const Csv& csv, const std::string& source, TableRole role) override {
    const auto kind = neusight_file(csv);
    if (!kind) {
      return bad_input(source + ": the header is none of latencies, GPUs or models of NeuSight");
    }
    Status status;
    if (*kind == NeusightFile::kLatency) status = add_rows(csv, role);
    if (*kind == NeusightFile::kGpus) status = add_named(read_neusight_gpus(csv), gpus_);
    if (*kind == NeusightFile::kModels) status = add_named(read_neusight_models(csv), models_);
    if (status.ok()) resolve();
    return status;
  }

  std::span<const DeviceRow> rows() const override { return rows_; }

  std::vector<std::string> baselines() const override {
    return {kNeusightRivals.begin(), kNeusightRivals.end()};
  }

  Result<std::vector<DeviceForecast>> forecast(const Fold& fold,
                                               std::string_view model) const override {
    if (!model.empty()) return stored(fold, model);
    std::optional<DeviceModel> answer = given_;
    if (!answer) {
      const auto fitted = fit(fold.train);
      if (!fitted.ok()) return fitted.error();
      answer = fitted->model;
    }
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : fold.test) forecasts.push_back(forecast_row(i, *answer));
    return forecasts;
  }

  Result<DeviceModelFit> fit(std::span<const std::size_t> rows) const override {
    std::vector<DeviceMeasurement> measured;
    for (const std::size_t i : rows) {
      const bool usable = rows_[i].measured && rows_[i].unusable.empty();
      if (usable && measured_alone(setups_[i].way)) measured.push_back(measurement(i));
    }
    return fit_device_model(measured);
  }

  void answer_with(DeviceModel model) override { given_ = std::move(model); }

 private:
  Status add_rows(const Csv& csv, TableRole role) {
    auto read = read_neusight_rows(csv);
    if (!read.ok()) return read.error();
    for (NeusightRow& row : *read) {
      rows_.push_back({.role = role,
                       .gpu = row.gpu,
                       .family = row.model,
                       .job = row.model,
                       .groups = {},
                       .measured = row.time});
      neusight_.push_back(std::move(row));
    }
    return {};
  }

  template <class Noun>
  Status add_named(Result<std::vector<Noun>> read, std::map<std::string, Noun>& into) {
    if (!read.ok()) return read.error();
    for (Noun& it : *read) into[it.name] = it;
    return {};
  }

  /// Finds GPU and shape of every row, since files come in any order.
  void resolve() {
    setups_.assign(rows_.size(), {});
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].unusable = resolve_row(i);
  }

  /// Why a row cannot be predicted; empty: it can.
  std::string resolve_row(std::size_t i) {
    const NeusightRow& row = neusight_[i];
    const auto listed = gpus_.find(row.gpu);
    setups_[i] = with_catalog(listed == gpus_.end() ? nullptr : &listed->second,
                              find_spelled_gpu(catalog_, row.gpu), row.gpu);
    Setup& setup = setups_[i];
    set_groups(i);
    if (setup.device.peak <= FlopsPerSecond{} || setup.device.bandwidth <= BytesPerSecond{}) {
      return fmt::format("there are no figures of the GPU {}", printable(row.gpu));
    }
    const auto model = models_.find(row.model);
    if (model == models_.end()) {
      return fmt::format("no file has the shape of the model {}", printable(row.model));
    }
    const auto shape = shape_of(model->second, row.length);
    if (!shape.ok()) return shape.error().message;
    const auto way = way_of(row.option);
    if (!way) return fmt::format("the option {} is not known", printable(row.option));
    setup.shape = *shape;
    setup.way = *way;
    return "";
  }

  void set_groups(std::size_t i) {
    const NeusightRow& row = neusight_[i];
    const std::string& vendor = setups_[i].device.vendor;
    const char* mode = row.training ? "training" : "inference";
    rows_[i].groups = {vendor, fmt::format("{} {}", vendor, mode), row.gpu};
    if (!row.option.empty()) rows_[i].groups.push_back("option " + row.option);
  }

  DeviceMeasurement measurement(std::size_t i) const {
    const NeusightRow& row = neusight_[i];
    const Setup& setup = setups_[i];
    return {.operators = forward_operators(setup.shape, {.batch = row.batch, .length = row.length},
                                           bytes_per_value(kPrecision)),
            .device = setup.device,
            .passes = {.training = row.training, .fused = setup.way.kind == Way::Kind::kFused},
            .time = *row.time,
            .forward = row.forward,
            .by_class = row.by_kind};
  }

  DeviceForecast forecast_row(std::size_t i, const DeviceModel& model) const {
    if (!rows_[i].unusable.empty()) return {.note = rows_[i].unusable};
    const Setup& setup = setups_[i];
    const Seconds time = time_of_row(neusight_[i], setup, model);
    const bool alone = measured_alone(setup.way);
    const double spread = std::hypot(model_spread(setup.device, model), alone ? 0 : kSplitSpread);
    const double factor = std::exp(kEightInTen * spread);
    return {.time = time,
            .p10 = time / factor,
            .p90 = time * factor,
            .note = unvalidated(setup, model)};
  }

  /// The predictions that are stored with the rows.
  std::vector<DeviceForecast> stored(const Fold& fold, std::string_view model) const {
    const auto found = std::find(kNeusightRivals.begin(), kNeusightRivals.end(), model);
    const auto rival = static_cast<std::size_t>(found - kNeusightRivals.begin());
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : fold.test) {
      DeviceForecast& it = forecasts.emplace_back();
      it.time = neusight_[i].predicted[rival];
      if (!it.time) it.note = fmt::format("the row has no prediction of {}", model);
    }
    return forecasts;
  }

  const Catalog& catalog_;
  std::map<std::string, NeusightGpu> gpus_;
  std::map<std::string, NeusightModel> models_;
  std::vector<DeviceRow> rows_;
  std::vector<NeusightRow> neusight_;
  std::vector<Setup> setups_;
  std::optional<DeviceModel> given_;
};

}  // namespace

std::unique_ptr<DeviceModelTable> make_neusight_table(const Catalog& catalog) {
  return std::make_unique<NeusightTable>(catalog);
}

}  // namespace stint
