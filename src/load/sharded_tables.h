#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/sharded/sharded_case.h"
#include "calibrate/sharded/sharded_fit.h"

namespace stint {

/// The rows of all `files` of one format, one after the other, with the figures of `catalog`.
Result<std::vector<ShardedCase>> read_sharded_cases(ShardedFormat format,
                                                    const std::vector<std::string>& files,
                                                    const Catalog& catalog);

/// The rows of words "FORMAT=FILE", as `option` has them.
Result<std::vector<ShardedCase>> read_sharded_words(const char* option,
                                                    const std::vector<std::string>& words,
                                                    const Catalog& catalog);

/// What rows of other tables tell about the constants of the law; without rows physics alone.
Result<ShardedPriors> learned_priors(const std::vector<ShardedCase>& cases);

}  // namespace stint
