#include "base/codec.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

enum class Market { kOnDemand, kSpot };

std::span<const EnumName<Market>> names_of(Market /*type*/) {
  static constexpr EnumName<Market> kNames[] = {{Market::kOnDemand, "on-demand"},
                                                {Market::kSpot, "spot"}};
  return kNames;
}

struct Price {
  DollarsPerSecond rate;
  std::optional<Date> date;
  Json::Object unknown = {};
};

template <class Walk>
void describe(Walk& walk, Like<Walk, Price>& it) {
  walk.field("price", it.rate, "What an hour costs.", {.range = Range::kPositive});
  walk.field("date", it.date, "When it was taken.");
  walk.rest(it.unknown);
}

struct Offer {
  std::string name;
  Market market = Market::kOnDemand;
  int count = 1;
  std::vector<Price> prices;
  std::map<std::string, double> shares;
  Seconds time;
  bool open = false;
  Json::Object unknown = {};
};

template <class Walk>
void describe(Walk& walk, Like<Walk, Offer>& it) {
  walk.field("name", it.name, "What it is called.", {.range = Range::kAtLeastOne});
  walk.field("market", it.market, "How it is paid.");
  walk.field("count", it.count, "How many.", {.range = Range::kAtLeastOne});
  walk.field("prices", it.prices, "Over time.");
  walk.field("shares", it.shares, "By name.", {.range = Range::kFraction});
  walk.number("time_s", it.time, kSecond, "How long.", Range::kNotNegative);
  walk.field("open", it.open, "Whether it can be had.");
  walk.rest(it.unknown);
}

std::string problem(const Offer& it) {
  return it.count > 1 && it.prices.empty() ? "several of them need a price" : "";
}

constexpr const char* kSchema = "stint.offer/1";
constexpr const char* kWhole = R"({
  "schema": "stint.offer/1",
  "name": "a", "market": "spot", "count": 2,
  "prices": [{"price": "3.06 USD/h", "date": "2026-07", "colour": "red"}],
  "shares": {"x": 0.5},
  "time_s": 1.5, "open": true, "extra": [1, {"y": null}]
})";

Result<Loaded<Offer>> read(const std::string& text) {
  const auto json = parse_json(text, "a.json");
  if (!json.ok()) return json.error();
  return decode<Offer>(*json, kSchema, "a.json");
}

/// The error after `from` in the whole document became `to`.
std::string error_after(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto result = read(text);
  return result.ok() ? "" : result.error().message;
}

TEST(Codec, ReadsEveryKindOfField) {
  const auto loaded = read(kWhole);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Offer& offer = loaded->noun;
  EXPECT_EQ(offer.name, "a");
  EXPECT_EQ(offer.market, Market::kSpot);
  EXPECT_EQ(offer.count, 2);
  EXPECT_DOUBLE_EQ(offer.prices[0].rate.in(kDollar / kHour), 3.06);
  EXPECT_EQ(to_text(*offer.prices[0].date), "2026-07");
  EXPECT_EQ(offer.shares.at("x"), 0.5);
  EXPECT_DOUBLE_EQ(offer.time.in(kSecond), 1.5);
  EXPECT_TRUE(offer.open);
}

TEST(Codec, KeepsUnknownFieldsAndWarnsAboutThem) {
  const auto loaded = read(kWhole);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->warnings,
            (std::vector<std::string>{"a.json:4: /prices/0/colour: unknown field, kept as it is",
                                      "a.json:6: /extra: unknown field, kept as it is"}));
  EXPECT_EQ(encode(loaded->noun, kSchema), *parse_json(kWhole, "a.json"));
}

TEST(Codec, ErrorsGiveFileLineAndPointer) {
  EXPECT_EQ(error_after("\"3.06 USD/h\"", "\"-3 USD/h\""),
            "a.json:4: /prices/0/price: must be above zero, not -3 USD/h");
  EXPECT_NE(error_after("\"3.06 USD/h\"", "3.06").find("'3.06' has no unit"), std::string::npos);
  EXPECT_EQ(error_after("\"spot\"", "\"spto\""),
            "a.json:3: /market: 'spto' is not one of on-demand, spot");
  EXPECT_EQ(error_after("\"count\": 2", "\"count\": 2.5"),
            "a.json:3: /count: must be a whole number, not 2.5");
  EXPECT_EQ(error_after("\"count\": 2", "\"count\": 0"),
            "a.json:3: /count: must be 1 or more, not 0");
  EXPECT_EQ(error_after("\"count\": 2", "\"count\": 99999999999"),
            "a.json:3: /count: must be from 1 to 16777216, not 99999999999");
  EXPECT_EQ(error_after("\"name\": \"a\",", ""), "a.json:1: the field \"name\" is missing; add it");
  EXPECT_EQ(error_after("\"a\"", "null"),
            "a.json:3: /name: must be a text, not null; leave the field out if it is unknown");
  EXPECT_EQ(error_after("0.5", "1.5"), "a.json:5: /shares/x: must be from 0 to 1, not 1.5");
  EXPECT_EQ(error_after("1.5", "-1"), "a.json:6: /time_s: must be zero or more, not -1");
  EXPECT_EQ(error_after("[{\"price\": \"3.06 USD/h\", \"date\": \"2026-07\", \"colour\": \"red\"}]",
                        "[]"),
            "a.json:1: several of them need a price");
}

TEST(Codec, TellsSchemasApart) {
  EXPECT_EQ(error_after("stint.offer/1", "stint.offer/2"),
            "a.json:2: from a newer Stint (stint.offer/2; this version reads up to stint.offer/1); "
            "update Stint");
  EXPECT_EQ(error_after("stint.offer/1", "stint.job/1"),
            "a.json:2: this is a stint.job/1 file, but a stint.offer/1 file is needed");
  EXPECT_EQ(error_after("\"schema\": \"stint.offer/1\",", ""),
            "a.json:1: not a Stint file: it lacks \"schema\": \"stint.offer/1\"");
}

TEST(Codec, ChecksNounsInMemory) {
  Offer offer{.name = "a", .count = 0};
  EXPECT_EQ(check_fields(offer, "offer").error().message,
            "offer: /count: must be 1 or more, not 0");
  offer.count = 2;
  EXPECT_EQ(check_fields(offer, "offer").error().message, "offer: several of them need a price");
  offer.prices.push_back({.rate = -1 * kDollar / kHour});
  EXPECT_NE(check_fields(offer, "offer").error().message.find("/prices/0/price: must be above"),
            std::string::npos);
  offer.prices[0].rate = 1 * kDollar / kHour;
  EXPECT_TRUE(check_fields(offer, "offer").ok());
}

/// A field may have a maximum below that of its type.
struct Fleet {
  int vms = 1;
  std::uint32_t checksum = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, Fleet>& it) {
  walk.field("vms", it.vms, "How many.", {.range = Range::kAtLeastOne, .max = 8});
  walk.field("checksum", it.checksum, "Of all.");
}

TEST(Codec, AFieldMayHaveItsOwnMaximum) {
  const auto read_fleet = [](const char* text) {
    const auto fleet = read_document<Fleet>(text, "stint.fleet/1", "a.json");
    return fleet.ok() ? "" : fleet.error().message;
  };
  EXPECT_EQ(read_fleet(R"({"schema": "stint.fleet/1", "vms": 8, "checksum": 4294967295})"), "");
  EXPECT_EQ(read_fleet(R"({"schema": "stint.fleet/1", "vms": 9, "checksum": 0})"),
            "a.json:1: /vms: must be from 1 to 8, not 9");
  EXPECT_EQ(read_fleet(R"({"schema": "stint.fleet/1", "vms": 1, "checksum": -1})"),
            "a.json:1: /checksum: must be zero or more, not -1");
  const std::string schema = to_text(SchemaWalk::schema_of<Fleet>(), JsonStyle::kLine);
  EXPECT_NE(schema.find(R"("vms":{"type":"integer","minimum":1,"maximum":8,)"), std::string::npos);
}

TEST(Codec, MakesASchemaOfTheSameFields) {
  const Json schema = schema_document(kSchema, "Offer", SchemaWalk::schema_of<Offer>());
  const std::string text = to_text(schema, JsonStyle::kLine);
  EXPECT_NE(text.find(R"("required":["schema","name","market","count","time_s","open"])"),
            std::string::npos);
  EXPECT_NE(text.find(R"("market":{"enum":["on-demand","spot"])"), std::string::npos);
}

/// Types that only results need: lists of numbers, null, and documents inside a document.
struct Receipt {
  std::vector<Seconds> times;
  std::optional<Seconds> end;
  Price paid;
  std::optional<Price> refund;
  std::vector<Price> others;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, Receipt>& it) {
  walk.numbers("times_s", it.times, kSecond, "When.", Range::kNotNegative);
  walk.number_or_null("end_s", it.end, kSecond, "The end; null: none.", Range::kPositive);
  walk.document("paid", it.paid, "stint.price/1", "What was paid.");
  walk.document("refund", it.refund, "stint.price/1", "What was paid back.");
  walk.document("others", it.others, "stint.price/1", "What others paid.");
}

constexpr const char* kReceipt =
    R"({"schema":"stint.receipt/1","times_s":[1.0,2.5],"end_s":null,)"
    R"("paid":{"schema":"stint.price/1","price":"3 USD/h"},)"
    R"("others":[{"schema":"stint.price/1","price":"4 USD/h","date":"2026-07"}]})";

/// The text that a receipt with `from` replaced by `to` is written back as, or why it is refused.
std::string receipt_after(const std::string& from, const std::string& to) {
  std::string text = kReceipt;
  text.replace(text.find(from), from.size(), to);
  const auto loaded = read_document<Receipt>(text, "stint.receipt/1", "a.json");
  if (!loaded.ok()) return loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty());
  const Status checked = check_fields(loaded->noun, "receipt");
  EXPECT_TRUE(checked.ok()) << checked.error().message;
  return to_text(encode(loaded->noun, "stint.receipt/1"), JsonStyle::kLine);
}

TEST(Codec, ResultsHoldNumbersNullsAndDocuments) {
  EXPECT_EQ(receipt_after("null", "null"), kReceipt);
  EXPECT_NE(receipt_after("null", "7.5").find(R"("end_s":7.5)"), std::string::npos);
  EXPECT_EQ(receipt_after("null", "-1"), "a.json:1: /end_s: must be above zero, not -1");
  EXPECT_EQ(receipt_after("2.5", "-2"), "a.json:1: /times_s/1: must be zero or more, not -2");
  EXPECT_EQ(receipt_after("price/1\",\"price\":\"3", "job/1\",\"price\":\"3"),
            "a.json:1: /paid: must be a stint.price/1 document");
  EXPECT_EQ(receipt_after("\"4 USD/h\"", "4").find("a.json:1: /others/0/price: "), 0U);
}

TEST(Codec, RefusesNumbersOutsideThePhysicalRange) {
  EXPECT_EQ(error_after("1.5,", "1e300,"),
            "a.json:6: /time_s: must be from 0 to 315360000000, not 1e+300");
  EXPECT_EQ(error_after("\"count\": 2", "\"count\": 2147483647"),
            "a.json:3: /count: must be from 1 to 16777216, not 2147483647");
  EXPECT_EQ(error_after("\"3.06 USD/h\"", "\"1e300 USD/h\""),
            "a.json:4: /prices/0/price: '1e300 USD/h' is out of range: a price is zero or from "
            "1e-09 USD/h to 1000000000 USD/h");
  EXPECT_EQ(receipt_after("null", "1e-300"),
            "a.json:1: /end_s: must be from 1e-12 to 315360000000, not 1e-300");
  EXPECT_EQ(receipt_after("2.5", "1e300"),
            "a.json:1: /times_s/1: must be from 0 to 315360000000, not 1e+300");
  Offer offer{.name = "a", .time = 1e300 * kSecond};
  EXPECT_EQ(check_fields(offer, "offer").error().message,
            "offer: /time_s: must be from 0 to 315360000000, not 1e+300");
}

TEST(Codec, DocumentsInsideADocumentHaveTheirMarkInItsSchema) {
  const Json schema = SchemaWalk::schema_of<Receipt>();
  const std::string text = to_text(schema, JsonStyle::kLine);
  EXPECT_NE(
      text.find(R"("end_s":{"type":["number","null"],"minimum":1e-12,"maximum":315360000000)"),
      std::string::npos);
  EXPECT_NE(text.find(R"("required":["end_s","paid"])"), std::string::npos);
  EXPECT_NE(text.find(R"("others":{"type":"array","items":{"type":"object","properties":{"schema":)"
                      R"({"const":"stint.price/1")"),
            std::string::npos);
}

}  // namespace
}  // namespace stint
