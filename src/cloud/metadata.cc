#include "cloud/metadata.h"

#include <ctime>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kZone = "local-1a";
constexpr const char* kRegion = "local-1";
constexpr const char* kTtlHeader = "x-aws-ec2-metadata-token-ttl-seconds";
constexpr const char* kTokenHeader = "x-aws-ec2-metadata-token";
constexpr int kTtlMax = 21600;  // EC2's limit, six hours.
constexpr std::size_t kTokensMax = 1000;

}  // namespace

std::string instance_id(Random& random) { return fmt::format("i-0{:016x}", random.bits()); }

std::string utc_text(Seconds since_epoch) {
  const auto seconds = static_cast<std::time_t>(since_epoch.in(kSecond));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

HttpAnswer MetadataService::give_token(const HttpRequest& request, Seconds now) {
  if (request.header("x-forwarded-for")) return {.status = 403};
  const auto ttl = parse_int(request.header(kTtlHeader).value_or(""));
  if (!ttl || *ttl < 1 || *ttl > kTtlMax) return {.status = 400};
  std::erase_if(tokens_, [&](const auto& token) { return token.second <= now; });
  if (tokens_.size() >= kTokensMax) tokens_.erase(tokens_.begin());
  const std::string token = fmt::format("{:016x}{:016x}==", random_.bits(), random_.bits());
  tokens_[token] = now + *ttl * kSecond;
  return {.body = token, .headers = {{kTtlHeader, std::to_string(*ttl)}}};
}

std::optional<HttpAnswer> MetadataService::find(const std::string& path,
                                                const MetadataNews& news) const {
  const auto text = [](std::string body) { return HttpAnswer{.body = std::move(body)}; };
  const auto json = [](std::string body) {
    return HttpAnswer{.body = std::move(body), .type = "application/json"};
  };
  if (path == "instance-id") return text(facts_.instance_id);
  if (path == "instance-type") return text(facts_.instance_type);
  if (path == "instance-life-cycle") {
    return text(facts_.market == Market::kSpot ? "spot" : "on-demand");
  }
  if (path == "local-ipv4") return text(facts_.address);
  if (path == "placement/availability-zone") return text(kZone);
  if (path == "placement/region") return text(kRegion);
  if (path.empty()) {
    return text(
        "events/\ninstance-id\ninstance-life-cycle\ninstance-type\nlocal-ipv4\nplacement/\nspot/");
  }
  if (!news.told_at || !news.takes_at) return std::nullopt;
  if (path == "spot/instance-action") {
    return json(fmt::format(R"({{"action":"terminate","time":"{}"}})", utc_text(*news.takes_at)));
  }
  if (path == "spot/termination-time") return text(utc_text(*news.takes_at));
  if (path == "events/recommendations/rebalance") {
    return json(fmt::format(R"({{"noticeTime":"{}"}})", utc_text(*news.told_at)));
  }
  return std::nullopt;
}

HttpAnswer MetadataService::answer(const HttpRequest& request, const MetadataNews& news,
                                   Seconds now) {
  constexpr std::string_view kFolder = "/latest/meta-data/";
  if (request.path == "/latest/api/token") {
    return request.method == "PUT" ? give_token(request, now) : HttpAnswer{.status = 405};
  }
  if (request.method != "GET") return {.status = 405};
  const auto token = tokens_.find(request.header(kTokenHeader).value_or(""));
  if (token == tokens_.end() || token->second <= now) return {.status = 401};
  if (!request.path.starts_with(kFolder)) return {.status = 404};
  return find(request.path.substr(kFolder.size()), news).value_or(HttpAnswer{.status = 404});
}

}  // namespace stint
