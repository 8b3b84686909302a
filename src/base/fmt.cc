// fmt is packaged as a shared library or header-only. Compiling it only here avoids both a library
// to install beside the binary and a compilation in every source that formats a text.
#include <fmt/format-inl.h>

// The templates that fmt's headers only declare; the linker names any that a newer fmt adds.
namespace fmt::detail {
template auto decimal_point_impl<char>(locale_ref) -> char;
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
}  // namespace fmt::detail
