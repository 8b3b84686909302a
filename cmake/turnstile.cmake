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

# The thread sanitizer looks at the threads of one process: at the test in which they are members.
# Together with the address sanitizer it does not build, so that here it has its own program. g++
# compiles it in any preset, because clang 14's sanitizer does not know pthread_mutex_clocklock.
if(STINT_TESTS AND NOT STINT_SANITIZE STREQUAL "thread")
  set(threads ${CMAKE_BINARY_DIR}/turnstile_threads)
  set(member_test ${CMAKE_SOURCE_DIR}/src/turnstile/turn_member_test.cc)
  file(GLOB turnstile_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/turnstile/*.h)
  add_custom_command(OUTPUT ${threads}
    COMMAND g++ -std=c++20 -g1 -fsanitize=thread -I${CMAKE_SOURCE_DIR}/src ${turnstile_sources}
            ${member_test} -lgtest_main -lgtest -o ${threads}
    DEPENDS ${turnstile_sources} ${turnstile_headers} ${member_test}
    COMMENT "Building turnstile_threads with the thread sanitizer")
  add_custom_target(turnstile_threads_program ALL DEPENDS ${threads})
  add_test(NAME turnstile_threads COMMAND ${threads})
endif()
