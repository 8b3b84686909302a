# threads_test: the tests of what has threads, under the thread sanitizer. That does not build
# together with the address sanitizer, so that the sources are compiled once more; in the tsan preset
# every test has it already.

if(NOT STINT_SANITIZE STREQUAL "thread")
  set(base check codec connection crash_point date descriptor file fmt json listener parallel process
           sha256 temporary_folder text unit_text)
  set(tests base/parallel checkpoint/receiver checkpoint/shard_store turnstile/futex
            turnstile/turn_file turnstile/turn_member)
  file(GLOB sources CONFIGURE_DEPENDS src/checkpoint/*.cc src/turnstile/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
  list(TRANSFORM base REPLACE "(.+)" "src/base/\\1.cc")
  list(TRANSFORM tests REPLACE "(.+)" "src/\\1_test.cc")
  add_executable(threads_test ${sources} ${base} ${tests} tests/thread_reports.cc)
  if(STINT_BATCH_LINES)
    set_target_properties(threads_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
  target_include_directories(threads_test PRIVATE src)
  target_precompile_headers(threads_test PRIVATE <gtest/gtest.h> ${stint_common})
  target_compile_options(threads_test PRIVATE -fsanitize=thread)
  stint_timeless_headers(threads_test)
  target_link_options(threads_test PRIVATE -fsanitize=thread)
  target_link_libraries(threads_test PRIVATE GTest::gtest_main nlohmann_json::nlohmann_json
                        stint_traces)
  add_test(NAME threads_test COMMAND threads_test)
endif()
