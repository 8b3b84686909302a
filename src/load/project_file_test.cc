#include "load/project_file.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

Project read(std::string_view text) {
  const auto project = parse_project(text, "stint.yaml");
  EXPECT_TRUE(project.ok()) << project.error().message;
  return project.ok() ? *project : Project{};
}

std::string complaint(std::string_view text) {
  const auto project = parse_project(text, "stint.yaml");
  EXPECT_FALSE(project.ok()) << text;
  if (project.ok()) return "";
  EXPECT_EQ(project.error().kind, ErrorKind::kBadInput);
  return project.error().message;
}

TEST(ProjectFile, HoldsSettingsOfAllAndOfOneVerb) {
  const Project project = read("deadline: 12h\nmarkets: [spot, on-demand]\nrun:\n  steps: 5\n");
  ASSERT_EQ(project.settings.size(), 3u);
  EXPECT_EQ(project.settings[0].key, "deadline");
  EXPECT_EQ(project.settings[0].values, std::vector<std::string>{"12h"});
  EXPECT_FALSE(project.settings[0].list);
  EXPECT_EQ(project.settings[1].values, (std::vector<std::string>{"spot", "on-demand"}));
  EXPECT_TRUE(project.settings[1].list);
  EXPECT_EQ(project.settings[2].section, "run");
  EXPECT_EQ(project.settings[2].place, (TextPlace{4, 3}));
}

TEST(ProjectFile, MayBeEmpty) {
  EXPECT_TRUE(read("").settings.empty());
  EXPECT_TRUE(read("# deadline: 12h\n").settings.empty());
}

TEST(ProjectFile, SaysWhatIsNoSetting) {
  EXPECT_EQ(complaint("- a\n- b\n"),
            "stint.yaml:1:1: a project file is a mapping such as 'deadline: 12h', not a list");
  EXPECT_EQ(complaint("deadline:\n"),
            "stint.yaml:1:1: deadline has no value; give it one, or remove the line");
  EXPECT_EQ(complaint("markets: []\n"), "stint.yaml:1:1: markets is an empty list");
  EXPECT_EQ(complaint("markets: [a, [b]]\n"),
            "stint.yaml:1:1: markets must be a list of single values, not of lists");
  EXPECT_EQ(complaint("run:\n  life:\n    a: 1\n"),
            "stint.yaml:2:3: life must be a value or a list");
}

TEST(ProjectFile, IsReadWhereThereIsOne) {
  const std::string folder = testing::TempDir() + "/project_file";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto none = read_project(folder + "/stint.yaml");
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  ASSERT_TRUE(write_file(folder + "/stint.yaml", "deadline: 12h\n").ok());
  const auto there = read_project(folder + "/stint.yaml");
  ASSERT_TRUE(there.ok() && there->has_value());
  EXPECT_EQ((*there)->file, folder + "/stint.yaml");
  EXPECT_FALSE(read_project(folder).ok());  // A folder of that name.
}

TEST(ProjectFile, ACommandIsSplitAsAShellSplitsIt) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(*command_of("python3 train.py  --lr 0.1 "),
            (Words{"python3", "train.py", "--lr", "0.1"}));
  EXPECT_EQ(*command_of("a 'b c' \"d 'e'\" f\\ g ''"), (Words{"a", "b c", "d 'e'", "f g", ""}));
  EXPECT_EQ(*command_of("a $HOME;b"), (Words{"a", "$HOME;b"}));
  EXPECT_EQ(command_of("a 'b").error().message, "a quote ' is not closed");
  EXPECT_EQ(command_of("  ").error().message, "there is no word in it");
}

}  // namespace
}  // namespace stint
