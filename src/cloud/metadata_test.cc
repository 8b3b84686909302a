#include "cloud/metadata.h"

#include <gtest/gtest.h>
#include <string>

namespace stint {
namespace {

constexpr Seconds kNow = 1'794'819'000 * kSecond;  // 2026-11-16T08:50:00Z.

class Metadata : public testing::Test {
 protected:
  HttpAnswer put(const char* ttl, Seconds now = kNow) {
    return service_.answer({.method = "PUT",
                            .path = "/latest/api/token",
                            .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", ttl}}},
                           {}, now);
  }

  HttpAnswer get(const std::string& path, const std::string& token, const MetadataNews& news = {},
                 Seconds now = kNow) {
    return service_.answer({.method = "GET",
                            .path = "/latest/meta-data/" + path,
                            .headers = {{"x-aws-ec2-metadata-token", token}}},
                           news, now);
  }

  MetadataService service_{{.instance_id = "i-00000000000000001",
                            .instance_type = "local.small",
                            .address = "10.77.0.1",
                            .market = Market::kSpot},
                           Random(1)};
};

TEST_F(Metadata, ATokenOpensTheFacts) {
  const HttpAnswer token = put("60");
  ASSERT_EQ(token.status, 200);
  EXPECT_EQ(token.headers[0].second, "60");
  EXPECT_EQ(get("instance-type", token.body).body, "local.small");
  EXPECT_EQ(get("instance-id", token.body).body, "i-00000000000000001");
  EXPECT_EQ(get("instance-life-cycle", token.body).body, "spot");
  EXPECT_EQ(get("placement/availability-zone", token.body).body, "local-1a");
  EXPECT_EQ(get("nothing", token.body).status, 404);
}

TEST_F(Metadata, WithoutAGoodTokenNothingIsTold) {
  const std::string token = put("60").body;
  EXPECT_EQ(get("instance-type", "").status, 401);
  EXPECT_EQ(get("instance-type", "wrong").status, 401);
  EXPECT_EQ(get("instance-type", token, {}, kNow + 59 * kSecond).status, 200);
  EXPECT_EQ(get("instance-type", token, {}, kNow + 60 * kSecond).status, 401);
}

TEST_F(Metadata, ATokenNeedsALifeOfUpToSixHours) {
  for (const char* ttl : {"", "0", "21601", "soon"}) EXPECT_EQ(put(ttl).status, 400) << ttl;
  EXPECT_EQ(put("21600").status, 200);
}

TEST_F(Metadata, OtherMethodsAndForwardedRequestsAreRefused) {
  EXPECT_EQ(service_.answer({.method = "GET", .path = "/latest/api/token"}, {}, kNow).status, 405);
  EXPECT_EQ(service_.answer({.method = "POST", .path = "/latest/meta-data/"}, {}, kNow).status,
            405);
  const HttpRequest forwarded{
      .method = "PUT", .path = "/latest/api/token", .headers = {{"x-forwarded-for", "1.2.3.4"}}};
  EXPECT_EQ(service_.answer(forwarded, {}, kNow).status, 403);
}

TEST_F(Metadata, NewsAreFoundOnlyOnceThereAreSome) {
  const std::string token = put("600").body;
  for (const char* path :
       {"spot/instance-action", "spot/termination-time", "events/recommendations/rebalance"}) {
    EXPECT_EQ(get(path, token).status, 404) << path;
  }
  const MetadataNews news{.told_at = kNow, .takes_at = kNow + 120 * kSecond};
  EXPECT_EQ(get("spot/instance-action", token, news).body,
            R"({"action":"terminate","time":"2026-11-16T08:52:00Z"})");
  EXPECT_EQ(get("spot/termination-time", token, news).body, "2026-11-16T08:52:00Z");
  EXPECT_EQ(get("events/recommendations/rebalance", token, news).body,
            R"({"noticeTime":"2026-11-16T08:50:00Z"})");
}

TEST(InstanceId, HasSeventeenDigits) {
  Random random(7);
  EXPECT_EQ(instance_id(random).size(), 19U);
}

}  // namespace
}  // namespace stint
