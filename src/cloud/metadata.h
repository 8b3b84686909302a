#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/units.h"
#include "catalog/market.h"
#include "cloud/http.h"

namespace stint {

/// The port of a VM's metadata service, on the VM's own loopback.
inline constexpr int kMetadataPort = 1338;

/// The metadata of a VM that do not change.
struct MetadataFacts {
  std::string instance_id;
  std::string instance_type;
  std::string address;
  Market market = Market::kOnDemand;
};

/// The notices to a VM, as times since 1970; absent while there are none.
struct MetadataNews {
  std::optional<Seconds> told_at = {};   // Time of the notice and of the recommendation.
  std::optional<Seconds> takes_at = {};  // Time of the spot interruption.
};

/// The instance metadata of one VM as EC2 serves them (IMDSv2): a token by PUT, then facts by GET
/// with that token; 401 without a token or with one that is wrong or expired; 404 for a notice that
/// does not exist. The class uses no socket and no clock.
class MetadataService {
 public:
  MetadataService(MetadataFacts facts, Random random) : facts_(std::move(facts)), random_(random) {}

  /// `now` is for the expiry of tokens, on a clock that nobody sets.
  HttpAnswer answer(const HttpRequest& request, const MetadataNews& news, Seconds now);

 private:
  HttpAnswer give_token(const HttpRequest& request, Seconds now);
  std::optional<HttpAnswer> find(const std::string& path, const MetadataNews& news) const;

  MetadataFacts facts_;
  Random random_;
  std::map<std::string, Seconds> tokens_;  // Tokens with their expiry.
};

/// "i-" and 17 hexadecimal digits, as EC2 names instances.
std::string instance_id(Random& random);

/// "2026-11-16T09:30:00Z".
std::string utc_text(Seconds since_epoch);

}  // namespace stint
