#include "load/python_world.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

TEST(PythonWorld, UnpacksThePackageWhereThePathPointsAt) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(unpack_python(folder->path()).ok());
  EXPECT_TRUE(std::filesystem::exists(folder->path() + "/stint/__init__.py"));
  EXPECT_TRUE(std::filesystem::exists(folder->path() + "/stint_site/sitecustomize.py"));
  EXPECT_EQ(python_path("/f", ""), "/f/stint_site:/f");
  EXPECT_EQ(python_path("/f", "/mine:/theirs"), "/f/stint_site:/f:/mine:/theirs");
}

TEST(PythonWorld, KnowsAnInterpreterByItsName) {
  for (const char* name : {"python", "python3", "/usr/bin/python3.11", "pypy3", "./pypy"}) {
    EXPECT_TRUE(is_python(name)) << name;
  }
  for (const char* name : {"bash", "torchrun", "python3-config", "", "3", "/usr/bin/", "ipython"}) {
    EXPECT_FALSE(is_python(name)) << name;
  }
}

TEST(PythonWorld, AnInterpreterWithoutTorchIsUnavailable) {
  const Status none = check_torch("/no/such/python3");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(none.error().message.starts_with("cannot start /no/such/python3; "));
  // A program that always fails stands for an interpreter that does not find it.
  const Status without = check_torch("/bin/false");
  ASSERT_FALSE(without.ok());
  EXPECT_TRUE(without.error().message.starts_with("/bin/false has no torch; "));
}

}  // namespace
}  // namespace stint
