#include "validate/deadline_refusals.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/date.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "measure/tables/lifetime_table.h"
#include "measure/tables/refusal_pattern.h"

namespace stint {

Result<std::string> add_refusals(const std::string& file, std::vector<ReplayPool>& pools) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto failures = read_creation_failures(*text, file);
  if (!failures.ok()) return failures.error();
  const auto pattern = refusal_pattern(*failures, file);
  if (!pattern.ok()) return pattern.error();
  Seconds longest;
  for (ReplayPool& pool : pools) {
    // What is late may be refused, too.
    pool.refused = refused_ticks(*pattern, pool.gap, 2 * pool.game.deadline);
    longest = std::max(longest, pool.game.deadline * pool.gap);
  }
  const auto within = std::count_if(pattern->times.begin(), pattern->times.end(),
                                    [&](Seconds time) { return time < longest; });
  return fmt::format(
      "{} {} of {}: the first {} from {} on, with {}, begin with every window", pattern->provider,
      pattern->device.empty() ? "(GPU not said)" : pattern->device, file, to_text(longest, "h"),
      to_text(date_at(pattern->first)), counted(static_cast<std::size_t>(within), "failed start"));
}

}  // namespace stint
