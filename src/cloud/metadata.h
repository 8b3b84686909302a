#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/units.h"
#include "catalog/market.h"
#include "cloud/http.h"

namespace stint {

/// Where a VM's metadata service listens, on the VM's own loopback.
inline constexpr int kMetadataPort = 1338;

/// What a VM is told about itself.
struct MetadataFacts {
  std::string instance_id;
  std::string instance_type;
  std::string address;
  Market market = Market::kOnDemand;
};

/// The bad news a VM is told, as times since 1970; absent while there is none.
struct MetadataNews {
  std::optional<Seconds> told_at = {};   // When the notice and the recommendation were given.
  std::optional<Seconds> takes_at = {};  // When the VM is taken back.
};

/// The instance metadata of one VM as EC2 serves it (IMDSv2): a token by PUT, then facts by GET
/// with that token; 401 without a token or with one that is wrong or too old; 404 for news that
/// there is not. It touches no socket and no clock.
class MetadataService {
 public:
  MetadataService(MetadataFacts facts, Random random) : facts_(std::move(facts)), random_(random) {}

  HttpAnswer answer(const HttpRequest& request, const MetadataNews& news, Seconds now);

 private:
  HttpAnswer give_token(const HttpRequest& request, Seconds now);
  std::optional<HttpAnswer> find(const std::string& path, const MetadataNews& news) const;

  MetadataFacts facts_;
  Random random_;
  std::map<std::string, Seconds> tokens_;  // With the time each expires.
};

/// "i-" and 17 hexadecimal digits, as EC2 names instances.
std::string instance_id(Random& random);

/// "2026-11-16T09:30:00Z".
std::string utc_text(Seconds since_epoch);

}  // namespace stint
