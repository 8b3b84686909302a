#include "load/yaml.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Yaml read(std::string_view text) {
  const auto yaml = parse_yaml(text, "a.yaml");
  EXPECT_TRUE(yaml.ok()) << yaml.error().message;
  return yaml.ok() ? *yaml : Yaml{};
}

/// The message, after a check that it is bad input.
std::string complaint(std::string_view text) {
  const auto yaml = parse_yaml(text, "a.yaml");
  EXPECT_FALSE(yaml.ok()) << text;
  if (yaml.ok()) return "";
  EXPECT_EQ(yaml.error().kind, ErrorKind::kBadInput);
  return yaml.error().message;
}

// "deadline" begins in column 1 of line 2, its value behind "deadline: " in column 11.
TEST(Yaml, ValuesKnowTheirPlaces) {
  const Yaml yaml = read("# a comment\ndeadline: 12h\nrun:\n  life: [a, 'b c']\n");
  ASSERT_EQ(yaml.kind, Yaml::Kind::kMapping);
  ASSERT_EQ(yaml.members.size(), 2u);
  EXPECT_EQ(yaml.members[0].key, "deadline");
  EXPECT_EQ(yaml.members[0].place, (TextPlace{2, 1}));
  EXPECT_EQ(yaml.members[0].value.text, "12h");
  EXPECT_EQ(yaml.members[0].value.place, (TextPlace{2, 11}));
  const Yaml& run = yaml.members[1].value;
  ASSERT_EQ(run.kind, Yaml::Kind::kMapping);
  EXPECT_EQ(run.members[0].place, (TextPlace{4, 3}));
  ASSERT_EQ(run.members[0].value.items.size(), 2u);
  EXPECT_EQ(run.members[0].value.items[1].text, "b c");
}

TEST(Yaml, AScalarStaysTheTextThatWasWritten) {
  const Yaml yaml = read("a: 0.950\nb: $20\nc: 95%\nd: 2026-11-20\ne: \"1\\t2\"\nf: 1e3\n");
  EXPECT_EQ(yaml.members[0].value.text, "0.950");
  EXPECT_EQ(yaml.members[1].value.text, "$20");
  EXPECT_EQ(yaml.members[2].value.text, "95%");
  EXPECT_EQ(yaml.members[3].value.text, "2026-11-20");
  EXPECT_EQ(yaml.members[4].value.text, "1\t2");
  EXPECT_EQ(yaml.members[5].value.text, "1e3");
}

TEST(Yaml, AnEmptyDocumentIsNull) {
  EXPECT_EQ(read("").kind, Yaml::Kind::kNull);
  EXPECT_EQ(read("# only a comment\n").kind, Yaml::Kind::kNull);
  EXPECT_EQ(read("a:\nb: ~\n").members[0].value.kind, Yaml::Kind::kNull);
}

TEST(Yaml, AnErrorHasFileLineAndColumn) {
  EXPECT_TRUE(complaint("a: 1\nb: [1, 2\n").starts_with("a.yaml:3:1: invalid YAML: "))
      << complaint("a: 1\nb: [1, 2\n");
  EXPECT_TRUE(complaint("a: 1\n\tb: 2\n").starts_with("a.yaml:2:")) << complaint("a: 1\n\tb: 2\n");
}

TEST(Yaml, RefusesWhatAFileOfSettingsNeedsNot) {
  EXPECT_EQ(complaint("a: &x 1\n"),
            "a.yaml:1:4: anchors (&name) are not supported; repeat the value");
  EXPECT_EQ(complaint("a: !!int 1\n"), "a.yaml:1:4: tags (!name) are not supported");
  EXPECT_EQ(complaint("a: 1\nb: 2\na: 3\n"),
            "a.yaml:3:1: the key 'a' stands twice, first in line 1");
  EXPECT_EQ(complaint("[1, 2]: 3\n"), "a.yaml:1:1: a key must be a plain text");
  EXPECT_EQ(complaint("a: 1\n---\nb: 2\n"), "a.yaml holds more than one YAML document");
  EXPECT_EQ(complaint(std::string_view("a: 1\nb: \x04\n", 10)), "a.yaml:2:4: a control character");
  EXPECT_EQ(complaint("a: \xff\n"), "a.yaml is not UTF-8 text");
}

// Ten levels of ten aliases each would be 10^10 values.
TEST(Yaml, ABombOfAliasesIsRefusedAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ", ";
    bomb += "]\n";
  }
  EXPECT_TRUE(complaint(bomb).starts_with("a.yaml:1:5: anchors")) << complaint(bomb);
}

TEST(Yaml, DepthCountAndSizeAreBounded) {
  EXPECT_EQ(read("a: [[[[[[[1]]]]]]]\n").members.size(), 1u);  // Eight levels with the mapping.
  EXPECT_EQ(complaint("a: [[[[[[[[1]]]]]]]]\n"), "a.yaml:1:11: nested deeper than 8 levels");
  EXPECT_FALSE(parse_yaml(std::string(20'000, '['), "a.yaml").ok());
  EXPECT_FALSE(parse_yaml(std::string(20'000, '{'), "a.yaml").ok());
  std::string block;
  for (int i = 0; i < 200; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_FALSE(parse_yaml(block, "a.yaml").ok());
  std::string many = "a: [";
  for (int i = 0; i < 3'000; ++i) many += "1,";
  EXPECT_NE(complaint(many + "]\n").find("more than 2000 values"), std::string::npos);
  EXPECT_NE(complaint(std::string(70'000, '#')).find("70000 bytes"), std::string::npos);
}

}  // namespace
}  // namespace stint
