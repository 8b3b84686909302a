#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace stint {
namespace {

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

using HashState = std::array<std::uint32_t, 8>;

std::uint32_t word_at(const char* bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = (word << 8U) | static_cast<std::uint8_t>(bytes[i]);
  return word;
}

/// Round t of FIPS 180-4, 6.2.2, of the words a to h, of which each moves on by one place: the
/// caller names them in the order they have after t rounds.
inline void one_round(const std::uint32_t (&v)[6], std::uint32_t& d, std::uint32_t& h,
                      std::uint32_t added) {
  const auto& [a, b, c, e, f, g] = v;
  const std::uint32_t sum_e = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
  const std::uint32_t first = h + sum_e + ((e & f) ^ (~e & g)) + added;
  const std::uint32_t sum_a = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
  d += first;
  h = first + sum_a + ((a & b) ^ (a & c) ^ (b & c));
}

void mix_portably(HashState& hash, const char* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 16; ++t) w[t] = word_at(blocks + 4 * t);
    for (std::size_t t = 16; t < 64; ++t) {
      const std::uint32_t x = w[t - 15];
      const std::uint32_t y = w[t - 2];
      w[t] = w[t - 16] + w[t - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3U)) +
             (std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10U));
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t t = 0; t < 64; t += 8) {
      one_round({a, b, c, e, f, g}, d, h, kRound[t] + w[t]);
      one_round({h, a, b, d, e, f}, c, g, kRound[t + 1] + w[t + 1]);
      one_round({g, h, a, c, d, e}, b, f, kRound[t + 2] + w[t + 2]);
      one_round({f, g, h, b, c, d}, a, e, kRound[t + 3] + w[t + 3]);
      one_round({e, f, g, a, b, c}, h, d, kRound[t + 4] + w[t + 4]);
      one_round({d, e, f, h, a, b}, g, c, kRound[t + 5] + w[t + 5]);
      one_round({c, d, e, g, h, a}, f, b, kRound[t + 6] + w[t + 6]);
      one_round({b, c, d, f, g, h}, e, a, kRound[t + 7] + w[t + 7]);
    }
    const HashState v = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += v[i];
  }
}

#if defined(__x86_64__)

// The SHA extensions of x86 are several times as fast; every byte of a checkpoint is hashed on its
// way to a receiver. The names and the order of the words are those of Intel's manual.
#define STINT_SHA_TARGET __attribute__((target("sha,sse4.1")))

/// Rounds 4t to 4t + 3 with the words `w0`, which become words 4t + 16 to 4t + 19.
STINT_SHA_TARGET inline void four_rounds(std::size_t t, __m128i (&state)[2], __m128i& w0,
                                         __m128i w1, __m128i w2, __m128i w3) {
  const auto* constants = reinterpret_cast<const __m128i*>(kRound.data() + 4 * t);
  const __m128i k = _mm_add_epi32(w0, _mm_loadu_si128(constants));
  state[1] = _mm_sha256rnds2_epu32(state[1], state[0], k);
  state[0] = _mm_sha256rnds2_epu32(state[0], state[1], _mm_shuffle_epi32(k, 0x0e));
  if (t >= 12) return;
  w0 = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
  w0 = _mm_sha256msg2_epu32(w0, w3);
}

STINT_SHA_TARGET void mix_with_extensions(HashState& hash, const char* blocks, std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  auto* const words = reinterpret_cast<__m128i*>(hash.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i state[2] = {_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0)};
  for (; count > 0; --count, blocks += 64) {
    const __m128i before[2] = {state[0], state[1]};
    __m128i w[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const auto* part = reinterpret_cast<const __m128i*>(blocks) + i;
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(part), big_endian);
    }
    for (std::size_t t = 0; t < 16; t += 4) {
      four_rounds(t, state, w[0], w[1], w[2], w[3]);
      four_rounds(t + 1, state, w[1], w[2], w[3], w[0]);
      four_rounds(t + 2, state, w[2], w[3], w[0], w[1]);
      four_rounds(t + 3, state, w[3], w[0], w[1], w[2]);
    }
    state[0] = _mm_add_epi32(state[0], before[0]);
    state[1] = _mm_add_epi32(state[1], before[1]);
  }
  const __m128i feba = _mm_shuffle_epi32(state[0], 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(state[1], 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool has_extensions() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kSse41 = 1U << 19U;
  constexpr unsigned kSha = 1U << 29U;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSse41) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

#endif

auto mix_for(Instructions instructions) {
#if defined(__x86_64__)
  static const bool extended = has_extensions();
  if (extended && instructions == Instructions::kBest) return &mix_with_extensions;
#endif
  (void)instructions;
  return &mix_portably;
}

}  // namespace

// The hash begins with the square roots of the first eight primes (FIPS 180-4, 5.3.3).
Sha256::Sha256(Instructions instructions)
    : mix_(mix_for(instructions)), hash_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::add(std::string_view bytes) {
  const std::size_t held = bytes_ % kBlock;
  bytes_ += bytes.size();
  if (held > 0) {
    const std::size_t some = std::min(bytes.size(), kBlock - held);
    std::copy_n(bytes.data(), some, rest_.data() + held);
    bytes.remove_prefix(some);
    if (held + some < kBlock) return;
    mix_(hash_, rest_.data(), 1);
  }
  const std::size_t whole = bytes.size() / kBlock;
  mix_(hash_, bytes.data(), whole);
  bytes.remove_prefix(whole * kBlock);
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

Digest Sha256::digest() const {
  // After the text: a one, zeros, and its length in bits.
  std::array<char, 2 * kBlock> end{};
  const std::size_t held = bytes_ % kBlock;
  std::copy_n(rest_.begin(), held, end.begin());
  end[held] = '\x80';
  const std::size_t size = held + 1 <= kBlock - 8 ? kBlock : 2 * kBlock;
  for (std::size_t i = 0; i < 8; ++i) {
    end[size - 1 - i] = static_cast<char>(static_cast<std::uint8_t>((8 * bytes_) >> (8 * i)));
  }
  HashState hash = hash_;
  mix_(hash, end.data(), size / kBlock);
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(hash[i / 4] >> (24U - 8U * (i % 4)));
  }
  return digest;
}

HmacSha256::HmacSha256(std::string_view key) {
  std::array<char, 64> padded{};
  const Digest hashed = sha256(key);
  if (key.size() > padded.size()) {
    std::copy(hashed.begin(), hashed.end(), padded.begin());
  } else {
    std::copy(key.begin(), key.end(), padded.begin());
  }
  for (const auto& [hash, mask] : {std::pair(&inner_, 0x36), std::pair(&outer_, 0x5c)}) {
    std::array<char, 64> masked = padded;
    for (char& c : masked) c = static_cast<char>(c ^ mask);
    hash->add({masked.data(), masked.size()});
  }
}

Digest HmacSha256::digest() const {
  const Digest inner = inner_.digest();
  Sha256 outer = outer_;
  outer.add({reinterpret_cast<const char*>(inner.data()), inner.size()});
  return outer.digest();
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digest();
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  HmacSha256 hash(key);
  hash.add(bytes);
  return hash.digest();
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
