#include "app/calibrate/calibrate_sharing.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "app/share/free_sharing_model.h"
#include "base/file.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
}

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_calibrate_sharing_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// All pairs of four jobs, each at 0.6 of its rate alone.
std::string pairs() {
  std::string text =
      "gpu,model_a,batch_a,model_b,batch_b,packed_a_steps_per_s,packed_b_steps_per_s,oom,"
      "capped_to_isolated\n";
  for (const char* a : {"one", "two", "three", "four"}) {
    for (const char* b : {"one", "two", "three", "four"}) {
      text += fmt::format("V100,{},8,{},8,6,6,0,0\n", a, b);
    }
  }
  return text;
}

std::string alone() {
  std::string text = "gpu,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\n";
  for (const char* name : {"one", "two", "three", "four", "Recommendation"}) {
    text += fmt::format("V100,{},8,1,10\n", name);
  }
  return text;
}

TEST(CalibrateSharing, KeepsWhatItFinds) {
  const std::string out = file("mine.json", "");
  // What is unsteady or capped would pull it up.
  const std::string odd = "V100,one,8,Recommendation,8,9,9,0,0\nV100,one,8,two,8,10,10,0,1\n";
  const auto found = calibrate_sharing(
      at_day_one(), {.train = {file("pairs.csv", pairs() + odd), file("alone.csv", alone())},
                     .name = "mine",
                     .provenance = "here",
                     .out = out});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->data[0].rows, 16);
  EXPECT_EQ(found->data[0].jobs.size(), 4U);
  EXPECT_EQ(found->data[0].provenance, "here");
  EXPECT_EQ(found->accuracy[0].n, 32);
  EXPECT_LT(found->accuracy[0].mape, 0.1);
  const auto kept = load_calibration(out);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  const auto law = free_sharing_law(kept->noun);
  ASSERT_TRUE(law.ok()) << law.error().message;
  // That all four are faster than at half speed may be chance, so others are in between.
  const FreeShares shares = free_shares(*law, "V100", {kSecond, kSecond});
  EXPECT_GT(shares.share[0], 0.54);
  EXPECT_LT(shares.share[0], 0.6);
}

TEST(CalibrateSharing, SaysWhatIsWrong) {
  const auto error = [](const CalibrateRequest& request) {
    const auto found = calibrate_sharing(at_day_one(), request);
    return found.ok() ? "no error" : found.error().message;
  };
  EXPECT_EQ(error({}), "--train FILE is missing: the rows to learn from");
  EXPECT_EQ(error({.train = {"nowhere.csv"}}), "--name is missing: what to call the calibration");
  EXPECT_EQ(error({.train = {file("alone.csv", alone())}, .name = "mine"}),
            "no pair to learn from: none has rates of both jobs, alone and together, on one GPU");
}

// The shipped constants are those that the fit finds in the published tables.
TEST(CalibrateSharing, ShippedConstantsAreWhatTheFitFinds) {
  const auto shipped = load_free_sharing_law();
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string folder = std::string(data) + "/gavel/";
  const auto found = calibrate_sharing(
      at_day_one(),
      {.train = {folder + "packed_pairs.csv", folder + "isolated.csv"}, .name = "mine"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto law = free_sharing_law(*found);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_NEAR(shipped->slope, law->slope, 0.005);
  EXPECT_NEAR(shipped->elsewhere.log_share, law->elsewhere.log_share, 0.005);
  ASSERT_EQ(shipped->devices.size(), 3U);
  for (const auto& [name, device] : law->devices) {
    EXPECT_NEAR(shipped->devices.at(name).log_share, device.log_share, 0.005) << name;
    EXPECT_NEAR(shipped->devices.at(name).spread, device.spread, 0.005) << name;
  }
}

}  // namespace
}  // namespace stint
