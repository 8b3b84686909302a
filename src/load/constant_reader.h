#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "risk/spot_time.h"

namespace stint {

/// Takes constants above zero out of a calibration, and remembers the first that is missing or in
/// another unit. The calibration must outlive it.
class ConstantReader {
 public:
  explicit ConstantReader(const Calibration& calibration) : calibration_(calibration) {}

  double number(const std::string& scope, const std::string& name) {
    return value(scope, name, "1");
  }
  Seconds time(const std::string& scope, const std::string& name) {
    return value(scope, name, "s") * kSecond;
  }
  BytesPerSecond rate(const std::string& scope, const std::string& name) {
    return value(scope, name, "byte/s") * kByte / kSecond;
  }

  /// The constant and the one called `name`_deviation.
  RandomTime random_time(const std::string& scope, const std::string& name) {
    return {time(scope, name), time(scope, name + "_deviation")};
  }

  /// Bad input that names the first constant that is wrong.
  const Status& status() const { return status_; }

 private:
  double value(const std::string& scope, const std::string& name, const char* unit);

  const Calibration& calibration_;
  Status status_ = {};
};

}  // namespace stint
