# stint_yaml: yaml-cpp, with which src/load/yaml.cc reads project files; a static archive in a release
# where there is one.

find_path(YAML_INCLUDE yaml-cpp/parser.h REQUIRED)
find_library(YAML_LIBRARY yaml-cpp REQUIRED)
find_library(YAML_ARCHIVE libyaml-cpp.a)

add_library(stint_yaml INTERFACE)
target_include_directories(stint_yaml SYSTEM INTERFACE ${YAML_INCLUDE})
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND YAML_ARCHIVE)
  target_link_libraries(stint_yaml INTERFACE ${YAML_ARCHIVE})
else()
  target_link_libraries(stint_yaml INTERFACE ${YAML_LIBRARY})
endif()
