#include "base/temporary_folder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <optional>

#include "base/file.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsPrivateAndGoesAwayWithAllThatIsInIt) {
  std::string path;
  {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made.ok());
    const std::optional<TemporaryFolder> folder(std::move(*made));
    path = folder->path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    EXPECT_TRUE(write_file(path + "/a/b", "c").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace stint
