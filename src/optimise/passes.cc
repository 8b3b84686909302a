#include "optimise/passes.h"

#include <algorithm>

namespace stint {

bool Passes::enabled(const char* name) const {
  return std::find(disabled_.begin(), disabled_.end(), name) == disabled_.end();
}

}  // namespace stint
