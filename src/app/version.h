#pragma once

#include <string>
#include <vector>

namespace stint {

struct Version {
  std::string number;
  std::string compiler;
  std::vector<std::string> schemas;  // The documents this program reads and writes.
};

Version version();

}  // namespace stint
