#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace stint {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "stint: a bug in stint: CHECK(%s) failed at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace stint
