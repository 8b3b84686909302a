# The module turnstile, and libstint_turnstile.so of the same sources: what training jobs load.
#
# It travels inside the binary with the Python package, and is loaded into Python interpreters, so it needs nothing but the C library, shows only the C
# interface, and has no sanitizers, which would have to be there first.

stint_module(turnstile FAST)

file(GLOB turnstile_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/turnstile/*.cc)
list(FILTER turnstile_sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
add_library(stint_turnstile_shared SHARED ${turnstile_sources})
target_include_directories(stint_turnstile_shared PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(stint_turnstile_shared PRIVATE -O2 -Wall -Wextra -Wconversion -Werror
                       -Wno-missing-field-initializers)
set_target_properties(stint_turnstile_shared PROPERTIES
  OUTPUT_NAME stint_turnstile
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated/python/stint
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  EXPORT_COMPILE_COMMANDS OFF)
target_link_options(stint_turnstile_shared PRIVATE
  -static-libstdc++ -static-libgcc -Wl,--gc-sections
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/turnstile.map)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_link_options(stint_turnstile_shared PRIVATE -s)
endif()
