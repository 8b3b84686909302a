#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace stint {
namespace {

constexpr std::size_t kBlock = 64;  // Bytes.

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4,
// 4.2.2).
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Words = std::array<std::uint32_t, 8>;

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = (word << 8U) | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return word;
}

/// FIPS 180-4, 6.2.2.
void mix(Words& hash, std::string_view block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) w[t] = word_at(block, 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15];
    const std::uint32_t b = w[t - 2];
    w[t] = w[t - 16] + w[t - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
  }
  Words v = hash;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum_e = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
    const std::uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    const std::uint32_t first = v[7] + sum_e + choice + kRound[t] + w[t];
    const std::uint32_t sum_a = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
    const std::uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    v = {first + sum_a + majority, v[0], v[1], v[2], v[3] + first, v[4], v[5], v[6]};
  }
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += v[i];
}

}  // namespace

Digest sha256(std::string_view bytes) {
  // The square roots of the first eight primes (FIPS 180-4, 5.3.3).
  Words hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) mix(hash, bytes.substr(0, kBlock));
  // After the text: a one, zeros, and its length in bits.
  std::string rest(bytes);
  rest += '\x80';
  rest.resize(rest.size() <= kBlock - 8 ? kBlock - 8 : 2 * kBlock - 8, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) {
    rest += static_cast<char>(static_cast<std::uint8_t>(bits >> static_cast<unsigned>(shift)));
  }
  for (std::size_t at = 0; at < rest.size(); at += kBlock) {
    mix(hash, std::string_view(rest).substr(at, kBlock));
  }
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(hash[i / 4] >> (24U - 8U * (i % 4)));
  }
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  const auto text_of = [](const Digest& digest) {
    return std::string(digest.begin(), digest.end());
  };
  std::string padded = key.size() > kBlock ? text_of(sha256(key)) : std::string(key);
  padded.resize(kBlock, '\0');
  const auto masked = [&](int mask) {
    std::string text = padded;
    for (char& c : text) c = static_cast<char>(c ^ mask);
    return text;
  };
  const std::string inner = masked(0x36) + std::string(bytes);
  return sha256(masked(0x5c) + text_of(sha256(inner)));
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string to_hex(const Digest& digest) {
  return to_hex(std::string(digest.begin(), digest.end()));
}

}  // namespace stint
