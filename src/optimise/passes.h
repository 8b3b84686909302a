#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "plan/plan.h"

namespace stint {

/// Which passes run, how long each took, and what it did.
class Passes {
 public:
  /// Both must outlive it.
  Passes(const Clock& clock, const std::vector<std::string>& disabled)
      : clock_(clock), disabled_(disabled) {}

  bool enabled(const char* name) const;

  /// Runs `work`, which fills in the report of the pass.
  template <class Work>
  void run(const char* name, Work work) {
    PassReport report{.name = name};
    const Seconds start = clock_.now();
    work(report);
    report.time = std::max(Seconds{}, clock_.now() - start);
    reports_.push_back(std::move(report));
  }

  const std::vector<PassReport>& reports() const { return reports_; }

 private:
  const Clock& clock_;
  const std::vector<std::string>& disabled_;
  std::vector<PassReport> reports_;
};

inline constexpr const char* kDominancePass = "dominance";
inline constexpr const char* kBoundsPass = "bounds";
inline constexpr const char* kRelaxationPass = "relaxation";
inline constexpr const char* kMixedPass = "mixed";
inline constexpr const char* kFrontPass = "front";
inline constexpr const char* kPosteriorPass = "posterior";

}  // namespace stint
