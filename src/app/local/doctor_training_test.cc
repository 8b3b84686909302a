#include "app/local/doctor_training.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Verdict = Finding::Level;

class DoctorTrainingTest : public testing::Test {
 protected:
  DoctorTrainingTest() {
    places_ = {.path = place_.path() + "/bin", .python = place_.path() + "/usr/python3"};
    places_.root = place_.path();
  }

  /// A program that prints this.
  void program(const std::string& name, const std::string& says, int code = 0) {
    const std::string path = place_.path() + "/" + name;
    ASSERT_TRUE(write_file(path, "#!/bin/sh\ncat <<'EOF'\n" + says + "EOF\nexit " +
                                     std::to_string(code) + "\n")
                    .ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  std::vector<std::string> details(const std::string& feature) {
    std::vector<std::string> found;
    for (const Finding& it : examine_training(places_)) {
      EXPECT_NE(it.level, Verdict::kBroken);
      if (it.feature == feature) found.push_back(it.detail);
    }
    return found;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  TrainingPlaces places_;
};

TEST_F(DoctorTrainingTest, NothingAtAllIsNoFailure) {
  const auto findings = examine_training(places_);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].level, Verdict::kAdvice);
  EXPECT_THAT(findings[0].detail, HasSubstr("no python3 found"));
  EXPECT_EQ(findings[1].level, Verdict::kGood);
  EXPECT_THAT(findings[1].detail, HasSubstr("no NVIDIA GPU"));
}

TEST_F(DoctorTrainingTest, BothInterpretersAreLookedAt) {
  program("usr/python3", "a warning\nstint-python 3.11.2\nstint-torch 1.13.0 without CUDA\n");
  program("bin/python3",
          "stint-python 3.13.1\nstint-error ModuleNotFoundError: No module named 'torch'\n");
  EXPECT_THAT(details("python"),
              ElementsAre(place_.path() + "/usr/python3: Python 3.11.2, torch 1.13.0 without CUDA",
                          place_.path() + "/bin/python3: Python 3.13.1, torch cannot be imported "
                                          "(ModuleNotFoundError: No module named 'torch')"));
  for (const Finding& it : examine_training(places_)) EXPECT_EQ(it.level, Verdict::kGood);
}

TEST_F(DoctorTrainingTest, TheSameInterpreterIsLookedAtOnce) {
  program("usr/python3", "stint-python 3.11.2\nstint-error ImportError: \n");
  std::filesystem::create_directories(places_.path);
  std::filesystem::create_symlink(places_.python, places_.path + "/python3");
  const auto findings = examine_training(places_);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].level, Verdict::kAdvice);  // Nobody has torch.
  EXPECT_EQ(findings[0].fix, "sudo apt-get install python3-torch");
}

TEST_F(DoctorTrainingTest, AnInterpreterThatFailsIsSaidSo) {
  program("usr/python3", "", 1);
  EXPECT_THAT(details("python"), ElementsAre(places_.python + " does not run"));
}

TEST_F(DoctorTrainingTest, GpusAreListedWithTheirDrivers) {
  program("bin/nvidia-smi",
          "Tesla T4, 15360 MiB, 535.104.05\nNVIDIA A10G, 23028 MiB, 535.104.05\n");
  EXPECT_THAT(details("gpu"), ElementsAre("Tesla T4, 15360 MiB, driver 535.104.05",
                                          "NVIDIA A10G, 23028 MiB, driver 535.104.05"));
}

TEST_F(DoctorTrainingTest, WithoutTheToolDevicesAndDriverAreToldBySystemFiles) {
  ASSERT_TRUE(write_file(place_.path() + "/dev/nvidia0", "").ok());
  ASSERT_TRUE(write_file(place_.path() + "/dev/nvidiactl", "").ok());
  EXPECT_THAT(details("gpu"), ElementsAre("/dev/nvidia0; no driver is loaded; no nvidia-smi"));
  program("bin/nvidia-smi", "", 9);
  ASSERT_TRUE(write_file(place_.path() + "/proc/driver/nvidia/version",
                         "NVRM version: NVIDIA 535.104.05\nGCC version: 12\n")
                  .ok());
  EXPECT_THAT(details("gpu"),
              ElementsAre("/dev/nvidia0; NVRM version: NVIDIA 535.104.05; nvidia-smi fails"));
}

}  // namespace
}  // namespace stint
