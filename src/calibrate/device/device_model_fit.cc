#include "calibrate/device/device_model_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "predict/calibrated_law.h"
#include "solver/least_squares.h"

namespace stint {
namespace {

constexpr double kTimeDeviation = 0.08;       // Of the log of a time about the model.
constexpr double kClassDeviation = 0.5;       // Of the log of a sum over a class.
constexpr double kTail = 2;                   // Deviations beyond which the loss is linear.
constexpr double kPartsOverWhole = 1.1;       // Sums of classes beyond this are inconsistent.
constexpr double kArithmeticDeviation = 0.1;  // Between accelerators, beyond the data sheet.
constexpr double kBandwidthDeviation = 0.04;
constexpr double kVendorDeviation = 0.5;
constexpr double kExponentMax = 0.95;  // Below 1: a higher peak is never slower.
constexpr std::size_t kDevicesToLeaveOut = 3;
constexpr double kSpreadMin = 0.03;
constexpr double kInSampleToSpread =
    1.3;  // Residuals of a fit are smaller than errors of new rows.
constexpr const char* kHome = "NVIDIA";

/// The unknowns of a fit: constants, then two differences for each vendor and each accelerator.
struct Layout {
  std::vector<std::string> vendors;
  std::vector<std::string> devices;
};

using Rows = std::vector<const DeviceMeasurement*>;

Layout layout_of(const Rows& rows) {
  std::set<std::string> vendors;
  std::set<std::string> devices;
  for (const DeviceMeasurement* row : rows) {
    if (row->device.vendor != kHome) vendors.insert(row->device.vendor);
    devices.insert(row->device.name);
  }
  return {.vendors = {vendors.begin(), vendors.end()}, .devices = {devices.begin(), devices.end()}};
}

DeviceModel model_of(const Layout& layout, std::span<const double> x) {
  DeviceModel model;
  std::size_t next = 0;
  for (const DeviceConstant& it : device_constants()) model.*it.member = std::exp(x[next++]);
  const auto read = [&](const std::vector<std::string>& names, auto& into) {
    for (const std::string& name : names) {
      into[name] = {.arithmetic = x[next], .bandwidth = x[next + 1]};
      next += 2;
    }
  };
  read(layout.vendors, model.vendors);
  read(layout.devices, model.devices);
  return model;
}

std::vector<Unknown> unknowns_of(const Layout& layout) {
  const DeviceModel prior;
  std::vector<Unknown> unknowns;
  for (const DeviceConstant& field : device_constants()) {
    const double mean = std::log(prior.*field.member);
    unknowns.push_back({.prior_mean = mean, .prior_deviation = field.deviation, .start = mean});
    if (field.member == &DeviceModel::power_exponent) unknowns.back().max = std::log(kExponentMax);
  }
  for (std::size_t i = 0; i < layout.vendors.size(); ++i) {
    unknowns.insert(unknowns.end(), 2, Unknown{.prior_deviation = kVendorDeviation});
  }
  for (std::size_t i = 0; i < layout.devices.size(); ++i) {
    unknowns.push_back({.prior_deviation = kArithmeticDeviation});
    unknowns.push_back({.prior_deviation = kBandwidthDeviation});
  }
  return unknowns;
}

double log_error(const DeviceMeasurement& row, const DeviceModel& model) {
  const ForwardTimes forward = forward_times(row.operators, row.device, model);
  return std::log(pass_time(forward, row.passes, model) / row.time);
}

/// Whether the sums of classes fit into the forward pass.
bool consistent(const DeviceMeasurement& row) {
  Seconds sum;
  for (const auto& part : row.by_class) sum += part.value_or(Seconds{});
  return sum <= kPartsOverWhole * row.forward.value_or(row.time);
}

struct Observation {
  const DeviceMeasurement* row = nullptr;
  bool sums = false;
};

std::size_t observed_classes(const Observation& it) {
  if (!it.sums) return 0;
  return static_cast<std::size_t>(std::count_if(it.row->by_class.begin(), it.row->by_class.end(),
                                                [](const auto& part) { return part.has_value(); }));
}

void write_residuals(std::span<const Observation> observations, const DeviceModel& model,
                     std::span<double> residuals) {
  std::size_t next = 0;
  for (const Observation& it : observations) {
    const ForwardTimes forward = forward_times(it.row->operators, it.row->device, model);
    const Seconds time = pass_time(forward, it.row->passes, model);
    residuals[next++] = std::log(time / it.row->time) / kTimeDeviation;
    for (std::size_t kind = 0; it.sums && kind < kOperatorClasses; ++kind) {
      const auto& part = it.row->by_class[kind];
      if (!part) continue;
      const Seconds ours = std::max(forward.by_class[kind], 1e-9 * kSecond);
      residuals[next++] = std::log(ours / *part) / kClassDeviation;
    }
  }
}

struct Solved {
  Layout layout;
  Fitted fitted;
  DeviceModel model;
};

Result<Solved> solve(const Rows& rows) {
  Solved solved{.layout = layout_of(rows), .fitted = {}, .model = {}};
  std::vector<Observation> observations;
  std::size_t count = 0;
  for (const DeviceMeasurement* row : rows) {
    observations.push_back({.row = row, .sums = consistent(*row)});
    count += 1 + observed_classes(observations.back());
  }
  const Layout& layout = solved.layout;
  auto fitted = fit({.unknowns = unknowns_of(layout),
                     .rows = count,
                     .residuals =
                         [&](std::span<const double> x, std::span<double> residuals) {
                           write_residuals(observations, model_of(layout, x), residuals);
                         },
                     .robust_beyond = kTail});
  if (!fitted.ok()) return fitted.error();
  solved.fitted = std::move(*fitted);
  solved.model = model_of(layout, solved.fitted.values);
  return solved;
}

double quantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(place))];
}

double spread_of(const std::vector<double>& log_errors) {
  return std::max(kSpreadMin, quantile(log_errors, 0.8) / kEightInTen);
}

/// Errors on the rows of each accelerator by a fit without it.
Result<std::vector<double>> errors_left_out(const Rows& rows, const Layout& layout) {
  std::vector<double> errors;
  for (const std::string& device : layout.devices) {
    Rows kept;
    for (const DeviceMeasurement* row : rows) {
      if (row->device.name != device) kept.push_back(row);
    }
    const auto solved = solve(kept);
    if (!solved.ok()) return solved.error();
    for (const DeviceMeasurement* row : rows) {
      const bool vendor_known =
          row->device.vendor == kHome || solved->model.vendors.contains(row->device.vendor);
      if (row->device.name != device || !vendor_known) continue;
      errors.push_back(log_error(*row, solved->model));
    }
  }
  return errors;
}

void set_accuracy(DeviceModelFit& fit, const std::vector<double>& errors) {
  std::vector<double> sizes;
  std::vector<double> relative;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    relative.push_back(std::abs(std::expm1(error)));
  }
  fit.model.spread = spread_of(sizes);
  fit.accuracy = {.name = "seconds on an accelerator",
                  .split = "leave-one-gpu-out",
                  .n = static_cast<int>(errors.size()),
                  .median_ape = quantile(relative, 0.5),
                  .p90_ape = quantile(relative, 0.9)};
  for (const double it : relative) fit.accuracy.mape += it / static_cast<double>(relative.size());
}

/// The ends of what was measured.
void set_range(DeviceModel& model, const Rows& rows) {
  for (const DeviceMeasurement* row : rows) {
    const DeviceFigures& device = row->device;
    FlopsPerSecond& peak = model.peak_max[device.vendor];
    peak = std::max(peak, device.peak);
    if (!device.power_headroom) continue;
    const double headroom = *device.power_headroom;
    model.headroom_min = std::min(model.headroom_min.value_or(headroom), headroom);
  }
}

std::vector<Constant> constants_of(const Solved& solved, const std::vector<Unknown>& unknowns) {
  std::vector<Constant> constants;
  const auto add = [&](std::string name, std::string scope) {
    const std::size_t i = constants.size();
    constants.push_back({.name = std::move(name),
                         .scope = std::move(scope),
                         .value = solved.fitted.values[i],
                         .unit = "ln(1)",
                         .deviation = std::sqrt(solved.fitted.covariance[i][i]),
                         .prior_mean = unknowns[i].prior_mean,
                         .prior_deviation = unknowns[i].prior_deviation,
                         .identified = solved.fitted.identified[i]});
  };
  for (const DeviceConstant& it : device_constants()) add(it.name, "accelerators");
  for (const std::string& name : solved.layout.vendors) {
    add("arithmetic", "vendor:" + name);
    add("bandwidth", "vendor:" + name);
  }
  for (const std::string& name : solved.layout.devices) {
    add("arithmetic", "gpu:" + name);
    add("bandwidth", "gpu:" + name);
  }
  return constants;
}

}  // namespace

Result<DeviceModelFit> fit_device_model(std::span<const DeviceMeasurement> rows) {
  if (rows.empty()) return bad_input("the device model needs at least one measured row");
  Rows all;
  for (const DeviceMeasurement& row : rows) all.push_back(&row);
  auto solved = solve(all);
  if (!solved.ok()) return solved.error();

  DeviceModelFit result{.model = solved->model,
                        .constants = constants_of(*solved, unknowns_of(solved->layout)),
                        .covariance = solved->fitted.covariance,
                        .rows = rows.size(),
                        .devices = solved->layout.devices,
                        .accuracy = {}};
  std::vector<double> residuals;
  for (const DeviceMeasurement* row : all) {
    residuals.push_back(std::abs(log_error(*row, solved->model)));
  }
  set_range(result.model, all);
  result.model.spread_known = kInSampleToSpread * spread_of(residuals);
  if (result.devices.size() >= kDevicesToLeaveOut) {
    const auto errors = errors_left_out(all, solved->layout);
    if (!errors.ok()) return errors.error();
    if (!errors->empty()) set_accuracy(result, *errors);
  }
  result.model.spread = std::max(result.model.spread, result.model.spread_known);
  return result;
}

Calibration to_calibration(const DeviceModelFit& fit, const std::string& name) {
  Calibration calibration{.name = name};
  calibration.constants = fit.constants;
  const auto add = [&](const char* constant, double value, const char* unit,
                       const std::string& scope = "accelerators") {
    calibration.constants.push_back(
        {.name = constant, .scope = scope, .value = value, .unit = unit, .identified = false});
  };
  add("spread", fit.model.spread, "ln(1)");
  add("spread_known", fit.model.spread_known, "ln(1)");
  for (const auto& [vendor, peak] : fit.model.peak_max) {
    add("peak_max", std::log(peak.in(kFlop / kSecond)), "ln(FLOP/s)", "vendor:" + vendor);
  }
  if (fit.model.headroom_min) add("headroom_min", std::log(*fit.model.headroom_min), "ln(1)");
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < fit.constants.size(); ++i) {
    if (in_covariance(fit.constants[i])) kept.push_back(i);
  }
  for (const std::size_t i : kept) {
    std::vector<double>& line = calibration.covariance.emplace_back();
    for (const std::size_t j : kept) line.push_back(fit.covariance[i][j]);
  }
  if (fit.accuracy.n > 0) calibration.accuracy = {fit.accuracy};
  return calibration;
}

}  // namespace stint
