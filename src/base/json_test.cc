#include "base/json.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::string error_of(std::string_view text) {
  const auto result = parse_json(text, "a.json");
  return result.ok() ? "" : result.error().message;
}

TEST(Json, KeepsOrderKindsAndLines) {
  const auto json = parse_json("{\n \"b\": 1,\n \"a\": [2.0,\n true, null]\n}", "a.json");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(to_text(*json, JsonStyle::kLine), R"({"b":1,"a":[2.0,true,null]})");
  EXPECT_EQ(json->line(), 1);
  EXPECT_EQ(json->find("b")->line(), 2);
  const auto& list = *json->find("a")->as<Json::Array>();
  EXPECT_EQ(list[0].line(), 3);
  EXPECT_EQ(list[1].line(), 4);
  EXPECT_EQ(json->find("c"), nullptr);
}

TEST(Json, ANumberAtTheEndOfALineStandsOnThatLine) {
  const auto json = parse_json("[\n1\n,\n2\n]", "a.json");
  ASSERT_TRUE(json.ok());
  const auto& list = *json->as<Json::Array>();
  EXPECT_EQ(list[0].line(), 2);
  EXPECT_EQ(list[1].line(), 4);
}

TEST(Json, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(error_of("{\n\"a\": 1,\n\"b\": "),
            "a.json:3: /b: the file ends in the middle of a value; it may be truncated");
  EXPECT_EQ(error_of("{\"a\": 1,\n\"a\": 2}"),
            "a.json:2: /a: this key appears twice in one object");
  EXPECT_EQ(error_of(" \n"), "a.json: the file is empty");
  EXPECT_EQ(error_of("[1e999]"), "a.json:1: /0: the number 1e999 is too large");
  EXPECT_EQ(error_of("[nan]"), "a.json:1: /0: invalid JSON near '[na'");
  EXPECT_EQ(error_of("[1] x"), "a.json:1: invalid JSON near '1] x'");
  EXPECT_NE(error_of("[\"\xff\"]"), "");
}

TEST(Json, RefusesDeepNesting) {
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_NE(error_of(std::string(65, '[') + std::string(65, ']')).find("nested too deeply"),
            std::string::npos);
}

TEST(Json, ManyKeysAreReadInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  text += "\"k0\":1}";
  EXPECT_EQ(error_of(text), "a.json:1: /k0: this key appears twice in one object");
}

TEST(Json, BooleansAreNotNumbers) {
  EXPECT_NE(Json(true).as<bool>(), nullptr);
  EXPECT_NE(Json(0.5).as<double>(), nullptr);
  EXPECT_NE(Json(1).as<std::int64_t>(), nullptr);
}

TEST(Json, AcceptsAByteOrderMark) { EXPECT_EQ(error_of("\xEF\xBB\xBF[1]"), ""); }

TEST(Json, FloatsReadBackExactly) {
  for (const double number : {0.1, 1.0 / 3, 1e300, 5e-324, 123456789.123456789, 3.0}) {
    const Json json(Json::Value{number});
    EXPECT_EQ(*parse_json(to_text(json, JsonStyle::kLine), "a")->as<double>(), number);
  }
}

TEST(Json, EscapesControlCharacters) {
  const Json json(std::string("a\"\\\n\x01é"));
  const std::string text = to_text(json, JsonStyle::kLine);
  EXPECT_EQ(text, "\"a\\\"\\\\\\n\\u0001é\"");
  EXPECT_EQ(*parse_json(text, "a"), json);
}

TEST(Json, PrettyKeepsFlatListsOnALine) {
  const auto json = parse_json(R"({"a":{"b":1,"c":[1,2]},"d":{}})", "a");
  EXPECT_EQ(to_text(*json, JsonStyle::kPretty),
            "{\n  \"a\": {\n    \"b\": 1,\n    \"c\": [1, 2]\n  },\n  \"d\": {}\n}");
}

TEST(Json, HugeIntegersBecomeFloats) {
  EXPECT_NE(parse_json("18446744073709551615", "a")->as<double>(), nullptr);
  EXPECT_EQ(*parse_json("-9223372036854775808", "a")->as<std::int64_t>(), INT64_MIN);
}

// 40 MB of zeros took 1.9 GB.
TEST(Json, RefusesMoreValuesThanMemoryIsMeantFor) {
  const std::string text = "[0,\n{\"a\": 0},\n0]";  // Five values.
  EXPECT_TRUE(parse_json(text, "a.json", 1, 5).ok());
  EXPECT_EQ(parse_json(text, "a.json", 1, 4).error().message,
            "a.json:3: /2: the document has more than 4 values; split it");
  EXPECT_EQ(parse_json(text, "a.json", 1, 2).error().message,
            "a.json:2: /1: the document has more than 2 values; split it");
}

}  // namespace
}  // namespace stint
