# stint_traces: simdjson and zlib, with which src/measure reads traces.
#
# A release takes zlib as a static archive where there is one. Debian has simdjson as a shared library
# only; src/measure/trace/trace_event.cc loads it by its name when a trace is read.

find_path(SIMDJSON_INCLUDE simdjson.h REQUIRED)
find_library(SIMDJSON_LIBRARY simdjson REQUIRED)
find_path(ZLIB_INCLUDE zlib.h REQUIRED)
find_library(ZLIB_LIBRARY z REQUIRED)
find_library(ZLIB_ARCHIVE libz.a)

# libsimdjson.so leads to libsimdjson.so.14.0.0, whose name at run time is libsimdjson.so.14.
file(REAL_PATH ${SIMDJSON_LIBRARY} simdjson_file)
get_filename_component(simdjson_file ${simdjson_file} NAME)
string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" simdjson_name ${simdjson_file})

add_library(stint_traces INTERFACE)
target_include_directories(stint_traces SYSTEM INTERFACE ${SIMDJSON_INCLUDE} ${ZLIB_INCLUDE})
set_source_files_properties(src/measure/trace/trace_event.cc PROPERTIES
  COMPILE_DEFINITIONS STINT_SIMDJSON="${simdjson_name}")
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND ZLIB_ARCHIVE)
  target_link_libraries(stint_traces INTERFACE ${ZLIB_ARCHIVE})
else()
  target_link_libraries(stint_traces INTERFACE ${ZLIB_LIBRARY})
endif()
target_link_libraries(stint_traces INTERFACE ${CMAKE_DL_LIBS})
