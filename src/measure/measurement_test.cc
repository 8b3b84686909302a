#include "measure/measurement.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

Measurement iteration(std::int64_t number) {
  return {.run = "a",
          .at = 100 * kSecond,
          .iteration = IterationRecord{.number = number, .time = 0.5 * kSecond}};
}

TEST(Measurement, ReadsTheLinesItWrites) {
  Measurement charge{.run = "a", .at = 101 * kSecond};
  charge.charge = Charge{.amount = 0.25 * kDollar, .reason = "g4dn.xlarge"};
  const std::string text = write_measurement(iteration(1)) + "\n" + write_measurement(charge);
  const auto loaded = read_measurements(text, "m.jsonl");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_EQ(loaded->noun.size(), 2U);
  EXPECT_EQ(loaded->noun[0].iteration->number, 1);
  EXPECT_EQ(loaded->noun[1].charge->amount, 0.25 * kDollar);
  EXPECT_EQ(write_measurement(loaded->noun[0]), write_measurement(iteration(1)));
}

TEST(Measurement, LeavesOutALineThatACrashCutOff) {
  const std::string text = write_measurement(iteration(1)) + write_measurement(iteration(2));
  for (std::size_t keep = text.size() / 2 + 1; keep + 1 < text.size(); ++keep) {
    const auto loaded = read_measurements(text.substr(0, keep), "m.jsonl");
    ASSERT_TRUE(loaded.ok()) << keep;
    EXPECT_EQ(loaded->noun.size(), 1U);
    ASSERT_EQ(loaded->warnings.size(), 1U);
    EXPECT_EQ(loaded->warnings[0], "m.jsonl:2: truncated during a write; skipped");
  }
}

TEST(Measurement, RefusesABadLineInTheMiddle) {
  const auto loaded =
      read_measurements("{\"schema\"\n" + write_measurement(iteration(2)), "m.jsonl");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message.find("m.jsonl:1:"), 0U);
}

TEST(Measurement, RefusesANewerSchemaOnALastLineWithoutANewline) {
  std::string text = write_measurement(iteration(1)) + write_measurement(iteration(2));
  text.pop_back();
  EXPECT_TRUE(read_measurements(text, "m.jsonl").ok());
  text.replace(text.rfind("measurement/1"), 13, "measurement/2");
  const auto loaded = read_measurements(text, "m.jsonl");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message.find("m.jsonl:2: from a newer Stint"), 0U);
}

TEST(Measurement, HoldsExactlyOneThing) {
  Measurement both = iteration(1);
  both.charge = Charge{.amount = 1 * kDollar, .reason = "x"};
  EXPECT_FALSE(validate(both).ok());
  EXPECT_FALSE(validate(Measurement{.run = "a"}).ok());
  EXPECT_TRUE(validate(iteration(1)).ok());
}

TEST(Measurement, KeepsLinesOfANewerStint) {
  const auto loaded = read_measurements(
      "{\"schema\":\"stint.measurement/1\",\"run\":\"a\",\"at_s\":1.0,\"price_change\":{}}\n", "m");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->warnings.size(), 1U);
  EXPECT_EQ(loaded->noun[0].unknown.size(), 1U);
}

TEST(Measurement, RefusesMoreLinesThanMemoryIsMeantFor) {
  const std::string text(kRecordLinesMax + 1, '\n');
  const auto read = read_measurements(text, "m.jsonl");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "m.jsonl: the file has more than 500000 lines; split it");
}

TEST(Measurement, IsReadLineByLineWithoutThoseThatAreSkipped) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/m.jsonl";
  std::vector<std::int64_t> numbers;
  const auto read = [&] {
    numbers.clear();
    return each_measurement(
        path, [](std::string_view line) { return line.find("\"number\":2") != line.npos; },
        [&](const Measurement& one) { numbers.push_back(one.iteration->number); });
  };
  ASSERT_TRUE(read().ok());  // There is no file yet.
  std::string text;
  for (int i = 1; i <= 3; ++i) text += write_measurement(iteration(i));
  ASSERT_TRUE(write_file(path, text + text.substr(0, 9)).ok());
  const auto warnings = read();
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  EXPECT_EQ(warnings->size(), 1U);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 3}));
  ASSERT_TRUE(write_file(path, "{}\n").ok());
  EXPECT_FALSE(read().ok());
}

}  // namespace
}  // namespace stint
