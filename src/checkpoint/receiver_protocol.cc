#include "checkpoint/receiver_protocol.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace stint {
namespace {

/// The words between single spaces.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

/// A number of digits only, as we write it, up to `most`.
std::optional<std::int64_t> number_in(std::string_view word, std::int64_t most) {
  if (word.empty() || !is_digit(word[0]) || (word[0] == '0' && word.size() > 1)) return {};
  std::int64_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == word.data() + word.size();
  if (!whole || number > most) return {};
  return number;
}

std::optional<std::uint32_t> checksum_in(std::string_view word) {
  const auto number = number_in(word, std::numeric_limits<std::uint32_t>::max());
  if (!number) return {};
  return static_cast<std::uint32_t>(*number);
}

/// Reads the words after the first.
std::optional<ShardName> shard_in(const std::vector<std::string_view>& words) {
  const auto step = number_in(words[1], kStepMax);
  const auto number = number_in(words[2], kShardCountMax);
  const auto count = number_in(words[3], kShardCountMax);
  if (!step || !number || !count || *number >= *count) return {};
  return ShardName{
      .step = *step, .number = static_cast<int>(*number), .count = static_cast<int>(*count)};
}

}  // namespace

Result<ReceiverRequest> parse_request(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words[0] == "put" && words.size() == 6) {
    const auto shard = shard_in(words);
    const auto bytes = number_in(words[4], kShardBytesMax);
    const auto checksum = checksum_in(words[5]);
    if (!bytes) return bad_input("a shard must have 0 bytes to 64 GiB");
    if (shard && checksum) {
      return ReceiverRequest(PutRequest{.shard = *shard, .bytes = *bytes, .checksum = *checksum});
    }
  }
  if (words[0] == "get" && words.size() == 4) {
    if (const auto shard = shard_in(words)) return ReceiverRequest(GetRequest{.shard = *shard});
  }
  if (words[0] == "drop" && words.size() == 2) {
    if (const auto step = number_in(words[1], kStepMax)) {
      return ReceiverRequest(DropRequest{.step = *step});
    }
  }
  return bad_input(fmt::format("'{}' is not a request", printable(line)));
}

std::string to_line(const ReceiverRequest& request) {
  const auto place = [](const ShardName& shard) {
    return fmt::format("{} {} {}", shard.step, shard.number, shard.count);
  };
  if (const auto* put = std::get_if<PutRequest>(&request)) {
    return fmt::format("put {} {} {}\n", place(put->shard), put->bytes, put->checksum);
  }
  if (const auto* get = std::get_if<GetRequest>(&request)) {
    return fmt::format("get {}\n", place(get->shard));
  }
  return fmt::format("drop {}\n", std::get<DropRequest>(request).step);
}

Result<HereAnswer> parse_here(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words[0] == "here" && words.size() == 3) {
    const auto bytes = number_in(words[1], kShardBytesMax);
    const auto checksum = checksum_in(words[2]);
    if (bytes && checksum) return HereAnswer{.bytes = *bytes, .checksum = *checksum};
  }
  return bad_input(fmt::format("'{}' is not an answer", printable(line)));
}

std::string to_line(const HereAnswer& answer) {
  return fmt::format("here {} {}\n", answer.bytes, answer.checksum);
}

}  // namespace stint
