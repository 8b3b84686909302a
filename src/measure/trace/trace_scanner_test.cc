#include "measure/trace/trace_scanner.h"

#include <gtest/gtest.h>
#include <vector>

#include "base/json.h"
#include "base/random.h"

namespace stint {
namespace {

struct Scanned {
  std::vector<std::string> events;
  std::map<std::string, std::string> members;
  std::string error;
};

/// Scans `text` in chunks that end at `cuts`.
Scanned scan(std::string_view text, const std::vector<std::size_t>& cuts = {}) {
  Scanned result;
  TraceScanner scanner("t.json", [&](std::string_view event) {
    result.events.emplace_back(event);
    return Status();
  });
  std::size_t begin = 0;
  std::vector<std::size_t> ends = cuts;
  ends.push_back(text.size());
  for (const std::size_t end : ends) {
    // A copy of its own, so that the sanitizer sees a read past the chunk.
    const std::string chunk(text.substr(begin, end - begin));
    const Status status = scanner.push(chunk);
    if (!status.ok()) {
      result.error = status.error().message;
      return result;
    }
    begin = end;
  }
  const Status status = scanner.finish();
  if (!status.ok()) result.error = status.error().message;
  result.members = scanner.members();
  return result;
}

Json random_value(Random& random, int depth) {
  static constexpr const char* kTexts[] = {"", "a", "}", "[{\"", "\\", "\\\"", "ü\n", "x,y:z"};
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
      return {random.below(2) == 0};
    case 1:
      return {random.below(1000) - 500};
    case 2:
      return {random.uniform(-1, 1)};
    case 3:
      return {kTexts[random.below(8)]};
    case 4: {
      Json::Array array;
      for (int i = random.below(4); i > 0; --i) array.push_back(random_value(random, depth - 1));
      return {std::move(array)};
    }
    default: {
      Json::Object object;
      for (int i = 0; i < random.below(4); ++i) {
        object.emplace_back(std::string(kTexts[random.below(8)]) + std::to_string(i),
                            random_value(random, depth - 1));
      }
      return {std::move(object)};
    }
  }
}

Json random_event(Random& random) {
  Json event{Json::Object{}};
  for (int i = 0; i < random.below(4); ++i) {
    event.add("m" + std::to_string(i), random_value(random, 3));
  }
  return event;
}

TEST(TraceScanner, CutsBothFormsIntoTheirEvents) {
  EXPECT_EQ(scan(R"([{"a": 1}, {"b": "}"}])").events,
            (std::vector<std::string>{R"({"a": 1})", R"({"b": "}"})"}));
  const Scanned object =
      scan(R"({"schemaVersion": 1, "traceEvents": [{"a": [{}]}], "distributedInfo": {"rank": 3}})");
  EXPECT_EQ(object.error, "");
  EXPECT_EQ(object.events, (std::vector<std::string>{R"({"a": [{}]})"}));
  EXPECT_EQ(object.members.at("schemaVersion"), "1");
  EXPECT_EQ(object.members.at("distributedInfo"), R"({"rank": 3})");
}

// The property: random traces, cut at every pair of places, hold what a parser of the whole finds.
TEST(TraceScanner, EqualsAWholeParseWhereverTheChunksEnd) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Json::Array events;
    for (int i = random.below(5); i > 0; --i) events.push_back(random_event(random));
    Json trace{events};
    if (seed % 2 == 0) {
      trace = Json(Json::Object{});
      trace.add("before", random_value(random, 2));
      trace.add("traceEvents", {events});
      trace.add("after\\", random_value(random, 2));
    }
    const std::string text = to_text(trace, seed % 3 == 0 ? JsonStyle::kPretty : JsonStyle::kLine);
    const Scanned whole = scan(text);
    ASSERT_EQ(whole.error, "");
    ASSERT_EQ(whole.events.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto parsed = parse_json(whole.events[i], "event");
      ASSERT_TRUE(parsed.ok()) << whole.events[i];
      EXPECT_EQ(*parsed, events[i]);
    }
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      const std::size_t second = cut + static_cast<std::size_t>(random.below(7));
      const Scanned cut_up = scan(text, {cut, std::min(second, text.size())});
      ASSERT_EQ(cut_up.error, "") << cut;
      ASSERT_EQ(cut_up.events, whole.events) << cut;
      ASSERT_EQ(cut_up.members, whole.members) << cut;
    }
  }
}

TEST(TraceScanner, TellsEveryTruncationFromAWholeTrace) {
  const std::string text =
      R"({"a": "b\"}", "traceEvents": [{"name": "x\\"}, {"d": [1]}], "n": 12} )";
  ASSERT_EQ(scan(text).error, "");
  for (std::size_t size = 0; size + 2 <= text.size(); ++size) {
    EXPECT_NE(scan(text.substr(0, size)).error, "") << size;
  }
}

// "[{"a": 1}, {"b" has 15 bytes: the second event began and did not end.
TEST(TraceScanner, SaysWhereTheFileBreaksOff) {
  EXPECT_EQ(scan(R"([{"a": 1}, {"b")").error,
            "t.json: the file ends at byte 15, inside event 2; it is truncated, so take the trace "
            "again or copy the whole file");
  EXPECT_NE(scan(R"([{"a": 1},)").error.find("byte 10, after 1 whole event;"), std::string::npos);
}

TEST(TraceScanner, RefusesWhatIsNoTrace) {
  const auto refused = [](std::string_view text, std::string_view part) {
    const std::string error = scan(text).error;
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
  };
  refused("", "the file is empty");
  refused("  \n", "the file is empty");
  refused("hello", "starts with '{' or '['");
  refused("[1, 2]", "byte 2: not a trace: element 1 is not an object");
  refused(R"({"name": "job"})", "it has no traceEvents");
  refused(R"({"traceEvents": 3})", "traceEvents must be an array");
  refused(R"({"traceEvents": [], "traceEvents": []})", "appears twice");
  refused(R"([{} {}])", "no comma after event 1");
  refused(R"([] [])", "unexpected data after");
  refused(R"({"a" 1})", "invalid JSON");
}

TEST(TraceScanner, BoundsWhatItKeepsOfLargeItems) {
  const std::string large(100000, 'x');
  const std::string text =
      R"({"big": ")" + large + R"(", "traceEvents": [{"s": ")" + large + R"("}], "small": true})";
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1000; cut < text.size(); cut += 1000) cuts.push_back(cut);
  const Scanned scanned = scan(text, cuts);
  EXPECT_EQ(scanned.error, "");
  ASSERT_EQ(scanned.events.size(), 1U);
  EXPECT_EQ(scanned.events[0].size(), large.size() + 9);  // {"s": " and "} are nine bytes.
  EXPECT_EQ(scanned.members, (std::map<std::string, std::string>{{"small", "true"}}));

  TraceScanner endless("t.json", [](std::string_view) { return Status(); });
  ASSERT_TRUE(endless.push("[{\"s\": \"").ok());
  const std::string chunk(16 << 20, 'x');
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(endless.push(chunk).ok());
  EXPECT_FALSE(endless.push(chunk).ok());
}

TEST(TraceScanner, StopsWhereTheSinkFails) {
  int seen = 0;
  TraceScanner scanner("t.json", [&](std::string_view) -> Status {
    ++seen;
    return failed("enough");
  });
  EXPECT_FALSE(scanner.push("[{}, {}]").ok());
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace stint
