#include "load/constant_reader.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {

double ConstantReader::value(const std::string& scope, const std::string& name, const char* unit) {
  const auto& all = calibration_.constants;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Constant& it) {
    return it.scope == scope && it.name == name;
  });
  const bool sound = found != all.end() && found->unit == unit && found->value > 0;
  if (sound) return found->value;
  if (status_.ok()) {
    status_ = bad_input(
        fmt::format("the calibration '{}' needs a constant '{}' above zero in {} of the scope '{}'",
                    printable(calibration_.name), name, unit, scope));
  }
  return 0;
}

}  // namespace stint
