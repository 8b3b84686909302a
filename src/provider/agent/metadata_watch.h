#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "provider/agent/agent_protocol.h"
#include "provider/agent/machine_facts.h"

namespace stint {

struct MetadataQuestion {
  std::string method = "GET";
  std::string path = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct MetadataAnswer {
  int status = 0;
  std::string body = {};
};

/// Asks a service; nothing when there was no answer.
using AskMetadata = std::function<std::optional<MetadataAnswer>(const MetadataQuestion&)>;

/// Asks over HTTP at "ADDRESS:PORT" or "ADDRESS", whose port is 80, with a limit for each question.
AskMetadata metadata_at(const std::string& place, Seconds limit);

/// The bytes of an answer up to its end; nothing when they are no HTTP.
std::optional<MetadataAnswer> parse_metadata_answer(std::string_view bytes);

/// The metadata service of a VM at EC2 (IMDSv2), Google Cloud or Azure: which of them it is, what
/// it says of the VM, and its notices of interruptions.
class MetadataWatch {
 public:
  explicit MetadataWatch(AskMetadata ask) : ask_(std::move(ask)) {}

  /// Finds out whose service it is, and adds provider, type and zone to `facts`; false when nobody
  /// answers in a known way.
  bool identify(MachineFacts& facts);

  /// The present notice, if any. `now` is wall time since 1970.
  std::optional<MachineNotice> notice(Seconds now);

 private:
  enum class Kind { kNone, kEc2, kGcp, kAzure };

  bool take_token();
  std::optional<MetadataAnswer> get(std::string path);
  std::optional<std::string> text(const std::string& path);
  bool identify_ec2(MachineFacts& facts);
  bool identify_gcp(MachineFacts& facts);
  bool identify_azure(MachineFacts& facts);

  AskMetadata ask_;
  Kind kind_ = Kind::kNone;
  std::string token_ = {};
};

/// The notice in an answer of each service. Malformed answers are none.
std::optional<MachineNotice> ec2_notice(std::string_view body, Seconds now);
std::optional<MachineNotice> azure_notice(std::string_view body, Seconds now);

/// "Mon, 19 Sep 2016 18:29:47 GMT" as time since 1970.
std::optional<Seconds> parse_http_date(std::string_view text);

}  // namespace stint
