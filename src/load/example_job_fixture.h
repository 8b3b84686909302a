#pragma once

namespace stint {

/// The file of a job with invented round numbers, for tests only.
inline constexpr const char* kExampleJob = STINT_SOURCE "/tests/fixtures/example-resnet50.json";

}  // namespace stint
