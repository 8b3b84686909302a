# stint_module(NAME [FAST] [FAST_SOURCES name…] [DEPENDS module…] [LIBRARIES target…])
#
# Makes the library stint_NAME of the sources below src/NAME, its test NAME_test of the *_test.cc there, and one
# fuzzer for each *_fuzz.cc: with libFuzzer in the fuzz preset, and in the test presets as a
# program that replays the seed corpus. What tests ask for by the million is FAST: optimised even in
# the test presets, all of it or the named sources. Optimising takes two thirds of a compilation with
# sanitizers, most of all where documents are read and written.

function(stint_options target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow
      -Wno-missing-field-initializers -Werror>)
  if(STINT_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${STINT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # The address sanitizer stops at these mistakes too; checking them twice is a third of the
    # compilation.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow>)
    target_link_options(${target} PRIVATE -fsanitize=${STINT_SANITIZE})
    # Sanitizers hide from g++ that a value is set; the release build has this warning on.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# A precompiled header without times of its sources inside: after an upgrade of a system header with
# the same text clang would otherwise refuse the precompiled header that ccache brings back.
function(stint_timeless_headers target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()

# What nearly every source includes is compiled once and shared by all targets of a kind, which have
# equal options: stint_headers(TARGET KIND HEADER...). Modules that know the nouns share these too.
function(stint_headers target kind)
  get_property(first GLOBAL PROPERTY stint_headers_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY stint_headers_${kind} ${target})
  endif()
  stint_timeless_headers(${target})
endfunction()
set(stint_common <string> <vector> <optional> <variant> <map> <algorithm> <cmath> <functional>
                 <memory> <fmt/format.h>)
set(stint_nouns "")
foreach(header base/codec base/text catalog/catalog job/job plan/plan plan/calibration)
  list(APPEND stint_nouns ${CMAKE_SOURCE_DIR}/src/${header}.h)
endforeach()

# Sources that share no name of their own are compiled as one, which reads what they include once:
# stint_batches(TARGET SOURCE...). A source with options of its own stays alone.
function(stint_batches target)
  if(NOT STINT_BATCH_LINES)
    return()
  endif()
  execute_process(COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/tools/source_batches.py
                          ${STINT_BATCH_LINES} ${ARGN}
                  OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${lines}" lines)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+) (.+)$" line "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${target}_${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Another name in a source may be one that its batch has already.
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()

# stint_test(TARGET [NOUNS])
function(stint_test target)
  stint_options(${target})
  # What is tested is instrumented; the tests themselves are not, and say where they fail without
  # debug information. That is two fifths of their compilation.
  target_compile_options(${target} PRIVATE -fno-sanitize=all -g0)
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  if("NOUNS" IN_LIST ARGN)
    stint_headers(${target} test_nouns <gtest/gtest.h> ${stint_common} ${stint_nouns})
  else()
    stint_headers(${target} test <gtest/gtest.h> <fmt/format.h>)
  endif()
  add_test(NAME ${target} COMMAND ${target})
endfunction()

# stint_fuzzer(NAME MODULE SOURCE [NOUNS])
function(stint_fuzzer name module source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE stint_${module} stint_base)
  stint_options(${name})
  set(kind common)
  if("NOUNS" IN_LIST ARGN)
    set(kind common_nouns)
  endif()
  get_property(first GLOBAL PROPERTY stint_headers_${kind})
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  endif()
  if(STINT_FUZZERS)
    # What a fuzzer checks itself, such as a round trip, counts as reached too.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    if(NOT TARGET stint_fuzz_replay)
      add_library(stint_fuzz_replay OBJECT ${CMAKE_SOURCE_DIR}/tests/fuzz_replay.cc)
      stint_options(stint_fuzz_replay)
    endif()
    target_link_libraries(${name} PRIVATE stint_fuzz_replay)
    add_test(NAME ${name}_replay
             COMMAND ${name} ${CMAKE_SOURCE_DIR}/tests/fuzz_corpus/${name})
  endif()
endfunction()

# What a target of a module's sources, the library or the fast part of it, has in common:
# stint_sources(TARGET KIND), with the sources and arguments of the calling module. g++ shares a
# precompiled header only between equal levels of optimisation, hence the kind.
macro(stint_sources target kind)
  stint_batches(${target} ${ARGN})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  stint_options(${target})
  if(STINT_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  foreach(module IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC stint_${module})
  endforeach()
  if("${kind}" STREQUAL "fast")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
  if(nouns)
    stint_headers(${target} ${kind}_nouns ${stint_common} ${stint_nouns})
  else()
    stint_headers(${target} ${kind} ${stint_common})
  endif()
endmacro()

function(stint_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FAST" "" "FAST_SOURCES;DEPENDS;LIBRARIES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cc$")
  set(nouns "")
  if("plan" IN_LIST arg_DEPENDS OR "app" IN_LIST arg_DEPENDS)
    set(nouns NOUNS)
  endif()
  set(kind common)
  if(arg_FAST)
    set(kind fast)
  endif()

  set(fast ${arg_FAST_SOURCES})
  list(TRANSFORM fast REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/${name}/\\1.cc")
  list(REMOVE_ITEM sources ${fast})
  add_library(stint_${name} STATIC ${sources})
  stint_sources(stint_${name} ${kind} ${sources})
  if(fast)
    add_library(stint_${name}_fast OBJECT ${fast})
    stint_sources(stint_${name}_fast fast ${fast})
    target_sources(stint_${name} PRIVATE $<TARGET_OBJECTS:stint_${name}_fast>)
  endif()

  if(STINT_TESTS AND tests)
    add_executable(${name}_test ${tests})
    stint_batches(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE stint_${name})
    stint_test(${name}_test ${nouns})
  endif()
  if(STINT_TESTS OR STINT_FUZZERS)
    foreach(fuzzer IN LISTS fuzzers)
      get_filename_component(fuzzer_name ${fuzzer} NAME_WE)
      stint_fuzzer(${fuzzer_name} ${name} ${fuzzer} ${nouns})
    endforeach()
  endif()
endfunction()
