#pragma once

#include <memory>

#include "calibrate/device/device_model_fit.h"
#include "calibrate/device/device_table.h"

namespace stint {

/// A table whose rows the device model is fitted to.
class DeviceModelTable : public DeviceTable {
 public:
  /// The device model fitted to the measured ones of the rows with these numbers.
  virtual Result<DeviceModelFit> fit(std::span<const std::size_t> rows) const = 0;

  /// Lets `model` answer instead of a fit to the training rows.
  virtual void answer_with(DeviceModel model) = 0;
};

/// Steps and forward passes of transformers (measure/tables/neusight_table.h) by the device model.
/// A job is a transformer; rows are told apart by vendor, mode and option. Figures of a GPU come
/// from the file of GPUs, what it does not have from the catalogue. Baselines are the predictions
/// that are stored with the rows.
///
/// Rows of several GPUs are not learned from. Their times are those of the device model plus
///
///   data parallel (dpN):     batch/N on each, all-reduce of the FP32 gradients
///   tensor parallel (tpN):   a part of heads, feed-forward and vocabulary on each, two all-reduces
///                            of the activations per layer and pass
///   pipeline (ppN_m):        m micro-batches over N stages, (m + N − 1)/(m N) of the time alone
///
/// over the link between the accelerators.
std::unique_ptr<DeviceModelTable> make_neusight_table(const Catalog& catalog);

}  // namespace stint
