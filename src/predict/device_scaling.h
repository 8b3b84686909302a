#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "plan/calibration.h"
#include "predict/compute_curve.h"
#include "predict/device_model.h"
#include "predict/work_time.h"

namespace stint {

/// How times carry over from one accelerator to another, fitted by calibrate/device_fit.h.
struct DeviceLaw {
  double compute_share = 0.5;  // Of the time that arithmetic bounds, for jobs that do not say.
  double spread = 0;           // Deviation of the log of a time that was carried over.
  std::optional<FixedShare> fixed_share = {};  // Absent: times are proportional to the batch.
  DeviceModel model = {};                      // For jobs that say what they compute and move.
  WorkModel work = {};                         // For jobs that say so operator by operator.
  // Models of accelerators ("a100") whose rows are behind the spread, and behind `work`; empty:
  // not stated.
  std::vector<std::string> measured = {};
  std::vector<std::string> work_measured = {};
};

/// The models of the accelerators that a calibration names as those of its rows, or has constants
/// of (scope "gpu:…"), each once.
std::vector<std::string> measured_models(const Calibration& calibration);

/// The constants compute_share and device_spread of a calibration, and fixed_share where it has
/// one; bad input when another is missing or one is out of range.
Result<DeviceLaw> device_law(const Calibration& calibration);

/// How long a job takes on `to` when it takes 1 on `from`.
///
///   r = share · F_from/F_to + (1 − share) · B_from/B_to
///
/// F is peak arithmetic and B memory bandwidth by the data sheets. F is TF32 where both have it,
/// because frameworks use it alike on both, otherwise FP32 of both: the peak of one kind of unit
/// says nothing about another kind. Usage error when a figure is missing.
Result<double> device_ratio(const Gpu& from, const Gpu& to, double share);

/// How long `job` takes on `to` when it takes 1 on `from`: the ratio of plain_time
/// (predict/device_model.h) where the job says what a sample computes and moves, else device_ratio
/// with the law's share. Peaks are those of device_ratio. Usage error when a figure is missing.
Result<double> job_ratio(const JobProfile& job, const Gpu& from, const Gpu& to,
                         const DeviceLaw& law);

/// The accelerator that `name` means: exactly, or of that family the one with the most FP32 and a
/// link to others, which is the form that clouds rent. Null when there is none.
const Gpu* find_gpu(const Catalog& catalog, std::string_view name);

/// What a worker of a job takes on a VM.
struct DeviceTimes {
  ComputeCurve curve;      // On the device that was measured.
  std::string device;      // The VM's accelerator, or the name a processor was measured by.
  std::string measured;    // As the profile names it.
  double scale = 1;        // Times on the VM over the measured ones.
  double deviation = 0;    // Of the log of that; zero for a device that was measured.
  bool predicted = false;  // Computed from the job's work (predict/work_time.h).
  bool validated = true;   // Whether measured rows of the accelerator's model are behind them.
  Seconds input_per_sample = {};  // Of the worker's processors, by the job's work.

  bool carried_over() const { return deviation > 0 && !predicted; }
};

/// The times of `job` on `type`: measured ones of its accelerator, by its name or family, else
/// those of the measured accelerator nearest in peak arithmetic, carried over. A job with work has
/// times of every accelerator that can run it (predict/work_time.h), and none are carried over. A
/// VM without accelerator needs times of a device called like the VM or "cpu". Usage errors name
/// what is missing.
Result<DeviceTimes> device_times(const JobProfile& job, const Catalog& catalog, const VmType& type,
                                 const DeviceLaw& law);

}  // namespace stint
