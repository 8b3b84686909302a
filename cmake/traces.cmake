# stint_traces: simdjson and zlib, with which src/measure reads traces.
#
# A release takes zlib as a static archive where there is one; Debian has simdjson as a shared library
# only.

find_path(SIMDJSON_INCLUDE simdjson.h REQUIRED)
find_library(SIMDJSON_LIBRARY simdjson REQUIRED)
find_path(ZLIB_INCLUDE zlib.h REQUIRED)
find_library(ZLIB_LIBRARY z REQUIRED)
find_library(ZLIB_ARCHIVE libz.a)

add_library(stint_traces INTERFACE)
target_include_directories(stint_traces SYSTEM INTERFACE ${SIMDJSON_INCLUDE} ${ZLIB_INCLUDE})
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND ZLIB_ARCHIVE)
  target_link_libraries(stint_traces INTERFACE ${SIMDJSON_LIBRARY} ${ZLIB_ARCHIVE})
else()
  target_link_libraries(stint_traces INTERFACE ${SIMDJSON_LIBRARY} ${ZLIB_LIBRARY})
endif()
