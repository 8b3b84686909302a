#include "provider/agent/metadata_watch.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

#include "base/connection.h"
#include "base/date.h"
#include "base/json.h"
#include "base/listener.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr int kPort = 80;
constexpr std::size_t kAnswerMax = 65536;     // Bytes.
constexpr std::size_t kTextMax = 256;         // Bytes of a type or zone.
constexpr Seconds kGcpNotice = 30 * kSecond;  // Google documents it for preemptible VMs.
constexpr int kOk = 200;
constexpr int kUnauthorised = 401;

constexpr const char* kTokenPath = "/latest/api/token";
constexpr const char* kTokenHeader = "X-aws-ec2-metadata-token";
constexpr const char* kAzureCompute = "/metadata/instance/compute?api-version=2021-02-01";
constexpr const char* kAzureEvents = "/metadata/scheduledevents?api-version=2020-07-01";

std::string request_text(const MetadataQuestion& question, const std::string& host) {
  // With HTTP/1.0 an answer ends with its connection, and never comes in chunks.
  std::string text =
      fmt::format("{} {} HTTP/1.0\r\nHost: {}\r\n", question.method, question.path, host);
  for (const auto& [name, value] : question.headers) text += fmt::format("{}: {}\r\n", name, value);
  return text + "\r\n";
}

/// The part after the last slash, where Google puts the name.
std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::optional<std::string> member_text(const Json& json, const char* name) {
  const Json* member = json.find(name);
  const std::string* text = member == nullptr ? nullptr : member->as<std::string>();
  if (text == nullptr || text->empty() || text->size() > kTextMax) return std::nullopt;
  return harmless(*text);
}

Seconds left_until(Seconds then, Seconds now) { return std::max(Seconds{}, then - now); }

}  // namespace

AskMetadata metadata_at(const std::string& place, Seconds limit) {
  const std::vector<std::string> parts = split(place, ':');
  const std::string& address = parts[0];
  const int port = parts.size() > 1 ? parse_int(parts[1]).value_or(kPort) : kPort;
  return [=](const MetadataQuestion& question) -> std::optional<MetadataAnswer> {
    auto socket = connect_to(address, port, limit);
    if (!socket.ok()) return std::nullopt;
    Connection connection(std::move(*socket), limit);
    connection.set_limit(limit);
    if (!connection.write(request_text(question, place))) return std::nullopt;
    std::string bytes;
    for (char byte = 0; bytes.size() < kAnswerMax && connection.read(&byte, 1);) bytes += byte;
    return parse_metadata_answer(bytes);
  };
}

std::optional<MetadataAnswer> parse_metadata_answer(std::string_view bytes) {
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  const std::size_t end = bytes.find(kEndOfHead);
  if (end == std::string_view::npos || !bytes.starts_with("HTTP/1.")) return std::nullopt;
  const std::vector<std::string> first = split(bytes.substr(0, bytes.find("\r\n")), ' ');
  const auto status = first.size() > 1 ? parse_int(first[1]) : std::nullopt;
  if (!status) return std::nullopt;
  return MetadataAnswer{.status = *status,
                        .body = std::string(bytes.substr(end + kEndOfHead.size()))};
}

bool MetadataWatch::take_token() {
  const auto answer = ask_({.method = "PUT",
                            .path = kTokenPath,
                            .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}});
  const bool given = answer && answer->status == kOk && !answer->body.empty() &&
                     answer->body.size() <= kTextMax &&
                     answer->body.find_first_of("\r\n") == std::string::npos;
  if (given) token_ = answer->body;
  return given;
}

std::optional<MetadataAnswer> MetadataWatch::get(std::string path) {
  MetadataQuestion question{.path = std::move(path)};
  if (kind_ == Kind::kEc2) question.headers = {{kTokenHeader, token_}};
  if (kind_ == Kind::kGcp) question.headers = {{"Metadata-Flavor", "Google"}};
  if (kind_ == Kind::kAzure) question.headers = {{"Metadata", "true"}};
  auto answer = ask_(question);
  if (kind_ != Kind::kEc2 || !answer || answer->status != kUnauthorised) return answer;
  // The token has expired.
  if (!take_token()) return std::nullopt;
  question.headers = {{kTokenHeader, token_}};
  return ask_(question);
}

std::optional<std::string> MetadataWatch::text(const std::string& path) {
  const auto answer = get(path);
  if (!answer || answer->status != kOk) return std::nullopt;
  const std::string text = harmless(trim(answer->body));
  if (text.empty() || text.size() > kTextMax) return std::nullopt;
  return text;
}

bool MetadataWatch::identify(MachineFacts& facts) {
  if (identify_ec2(facts) || identify_gcp(facts) || identify_azure(facts)) return true;
  kind_ = Kind::kNone;
  return false;
}

bool MetadataWatch::identify_ec2(MachineFacts& facts) {
  if (!take_token()) return false;
  kind_ = Kind::kEc2;
  const auto type = text("/latest/meta-data/instance-type");
  if (!type) return false;
  facts.provider = "ec2";
  facts.type = type;
  facts.zone = text("/latest/meta-data/placement/availability-zone");
  return true;
}

bool MetadataWatch::identify_gcp(MachineFacts& facts) {
  kind_ = Kind::kGcp;
  const auto type = text("/computeMetadata/v1/instance/machine-type");
  if (!type) return false;
  facts.provider = "gcp";
  facts.type = last_part(*type);
  const auto zone = text("/computeMetadata/v1/instance/zone");
  if (zone) facts.zone = last_part(*zone);
  return true;
}

bool MetadataWatch::identify_azure(MachineFacts& facts) {
  kind_ = Kind::kAzure;
  const auto answer = get(kAzureCompute);
  if (!answer || answer->status != kOk) return false;
  const auto json = parse_json(answer->body, "metadata");
  const auto type = json.ok() ? member_text(*json, "vmSize") : std::nullopt;
  if (!type) return false;
  facts.provider = "azure";
  facts.type = type;
  const auto location = member_text(*json, "location");
  const auto zone = member_text(*json, "zone");
  if (location) facts.zone = zone ? *location + "-" + *zone : *location;
  return true;
}

std::optional<MachineNotice> MetadataWatch::notice(Seconds now) {
  if (kind_ == Kind::kNone) return std::nullopt;
  if (kind_ == Kind::kGcp) {
    const auto preempted = text("/computeMetadata/v1/instance/preempted");
    if (preempted != "TRUE") return std::nullopt;
    return MachineNotice{.source = "gcp", .left = kGcpNotice};
  }
  const bool ec2 = kind_ == Kind::kEc2;
  const auto answer = get(ec2 ? "/latest/meta-data/spot/instance-action" : kAzureEvents);
  if (!answer || answer->status != kOk) return std::nullopt;
  return ec2 ? ec2_notice(answer->body, now) : azure_notice(answer->body, now);
}

std::optional<MachineNotice> ec2_notice(std::string_view body, Seconds now) {
  const auto json = parse_json(body, "metadata");
  if (!json.ok()) return std::nullopt;
  const auto time = member_text(*json, "time");
  if (!time) return std::nullopt;
  const auto then = parse_instant(*time);
  MachineNotice notice{.source = "ec2"};
  if (then) notice.left = left_until(*then, now);
  return notice;
}

std::optional<MachineNotice> azure_notice(std::string_view body, Seconds now) {
  const auto json = parse_json(body, "metadata");
  const Json* events = json.ok() ? json->find("Events") : nullptr;
  const auto* list = events == nullptr ? nullptr : events->as<Json::Array>();
  if (list == nullptr) return std::nullopt;
  for (const Json& event : *list) {
    const auto type = member_text(event, "EventType");
    if (type != "Preempt" && type != "Terminate") continue;
    MachineNotice notice{.source = "azure"};
    const auto time = member_text(event, "NotBefore");
    // Azure leaves the time out once the event has begun.
    const auto then = time ? parse_http_date(*time) : std::optional<Seconds>(now);
    if (then) notice.left = left_until(*then, now);
    return notice;
  }
  return std::nullopt;
}

std::optional<Seconds> parse_http_date(std::string_view text) {
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::vector<std::string> parts = split(text, ' ');
  if (parts.size() != 6 || parts[5] != "GMT") return std::nullopt;
  const auto* month = std::find(std::begin(kMonths), std::end(kMonths), parts[2]);
  const auto day = parse_int(parts[1]);
  const auto year = parse_int(parts[3]);
  if (month == std::end(kMonths) || !day || !year) return std::nullopt;
  return parse_instant(
      fmt::format("{:04}-{:02}-{:02}T{}Z", *year, month - std::begin(kMonths) + 1, *day, parts[4]));
}

}  // namespace stint
