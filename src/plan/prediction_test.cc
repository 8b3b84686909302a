#include "plan/prediction.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Prediction sample() {
  Prediction prediction{.cluster = *parse_cluster("4x g4dn.12xlarge"),
                        .throughput_samples_per_second = 512};
  prediction.iteration = {.mean = 1 * kSecond,
                          .p10 = 0.9 * kSecond,
                          .p90 = 1.2 * kSecond,
                          .parts = {.forward = 0.25 * kSecond,
                                    .backward = 0.5 * kSecond,
                                    .exposed_communication = 0.125 * kSecond,
                                    .straggling = 0.0625 * kSecond,
                                    .input = {},
                                    .update = 0.0625 * kSecond}};
  return prediction;
}

TEST(Prediction, ReadsWhatItWrites) {
  const std::string text = write_prediction(sample());
  const auto loaded = read_prediction(text, "p.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_prediction(loaded->noun), text);
  EXPECT_EQ(loaded->noun.cluster, sample().cluster);
  EXPECT_FALSE(loaded->noun.memory.has_value());
}

// 0.25 + 0.5 + 0.125 + 0.0625 + 0 + 0.0625 = 1.
TEST(Prediction, PartsAddUpToTheWhole) {
  EXPECT_DOUBLE_EQ(total(sample().iteration.parts).in(kSecond), 1.0);
  Prediction wrong = sample();
  wrong.iteration.parts.update = 1 * kSecond;
  EXPECT_EQ(validate(wrong).error().message,
            "prediction: /iteration: the parts must add up to mean_s");
  wrong = sample();
  wrong.iteration.p10 = 2 * kSecond;
  EXPECT_EQ(validate(wrong).error().message,
            "prediction: /iteration: p10_s must not be more than p90_s");
}

}  // namespace
}  // namespace stint
