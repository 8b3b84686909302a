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

/// Byte `place` of a number, from the lowest on.
char byte_of(std::uint64_t number, std::size_t place) {
  return static_cast<char>(static_cast<std::uint8_t>(number >> (8 * place)));
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The name of the protocol without its version.
std::string_view family_of(std::string_view protocol) {
  return protocol.substr(0, protocol.find('/') + 1);
}

}  // namespace

std::string greeting_line(std::string_view nonce) {
  return fmt::format("{} {}\n", kReceiverProtocol, nonce);
}

Result<std::string> parse_greeting(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words[0] != kReceiverProtocol && words[0].starts_with(family_of(kReceiverProtocol))) {
    return bad_input(
        fmt::format("speaks {}, and this is {}: use the same version of stint on all machines",
                    printable(words[0]), kReceiverProtocol));
  }
  if (words[0] != kReceiverProtocol || words.size() != 2 || !is_hex(words[1], 2 * kNonceBytes)) {
    return bad_input("is not a receiver of checkpoints");
  }
  return std::string(words[1]);
}

std::optional<ClientHello> parse_client_hello(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != 3 || words[0] != kReceiverProtocol) return std::nullopt;
  if (!is_hex(words[1], 2 * kNonceBytes) || !is_hex(words[2], kProofDigits)) return std::nullopt;
  return ClientHello{.nonce = std::string(words[1]), .proof = std::string(words[2])};
}

std::string to_line(const ClientHello& hello) {
  return fmt::format("{} {} {}\n", kReceiverProtocol, hello.nonce, hello.proof);
}

std::array<char, kFrameHead> frame_head(std::size_t bytes) {
  std::array<char, kFrameHead> head{};
  for (std::size_t i = 0; i < head.size(); ++i) head[i] = byte_of(bytes, head.size() - 1 - i);
  return head;
}

std::size_t frame_bytes(const std::array<char, kFrameHead>& head) {
  std::size_t bytes = 0;
  for (const char c : head) bytes = (bytes << 8U) | static_cast<std::uint8_t>(c);
  return bytes;
}

Digest frame_hmac(const HmacSha256& keyed, std::uint64_t number, std::string_view bytes) {
  std::array<char, 8> count{};
  for (std::size_t i = 0; i < count.size(); ++i) count[i] = byte_of(number, count.size() - 1 - i);
  const auto head = frame_head(bytes.size());
  HmacSha256 hash = keyed;
  hash.add({count.data(), count.size()});
  hash.add({head.data(), head.size()});
  hash.add(bytes);
  return hash.digest();
}

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
