#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint {

/// The 32 bytes of a digest.
using Digest = std::array<std::uint8_t, 32>;

/// The instructions that a hash uses: all that this processor has, or those that all have.
enum class Instructions { kBest, kPortable };

/// SHA-256 as defined by FIPS 180-4, of bytes that are added piece by piece.
class Sha256 {
 public:
  explicit Sha256(Instructions instructions = Instructions::kBest);

  void add(std::string_view bytes);

  /// The digest of all bytes so far; more may follow.
  Digest digest() const;

 private:
  static constexpr std::size_t kBlock = 64;  // Bytes.
  using Mix = void (*)(std::array<std::uint32_t, 8>& hash, const char* blocks, std::size_t count);

  Mix mix_;
  std::array<std::uint32_t, 8> hash_;
  std::array<char, kBlock> rest_{};  // The bytes after the last whole block.
  std::uint64_t bytes_ = 0;
};

/// HMAC-SHA-256, as defined by RFC 2104, of bytes that are added piece by piece. A copy continues
/// by itself, so that the work for the key is done once.
class HmacSha256 {
 public:
  explicit HmacSha256(std::string_view key);

  void add(std::string_view bytes) { inner_.add(bytes); }

  Digest digest() const;

 private:
  Sha256 inner_;
  Sha256 outer_;
};

/// The same for bytes that are there at once.
Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

/// In lower case, two digits a byte.
std::string to_hex(std::string_view bytes);
std::string to_hex(const Digest& digest);

}  // namespace stint
