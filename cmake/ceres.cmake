# stint_ceres: Ceres as src/solver links it.
#
# A release is one file and starts in a millisecond, so there Ceres comes in as a static archive where
# that works (Debian's packages on x86-64); everywhere else, and in the other presets, as the shared
# library with the some twenty others it needs.

find_package(Ceres REQUIRED)
add_library(stint_ceres INTERFACE)

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT DEFINED STINT_CERES_STATIC)
  find_library(CERES_ARCHIVE libceres.a)
  find_library(GLOG_ARCHIVE libglog.a)
  find_library(GFLAGS_ARCHIVE libgflags.a)
  if(CERES_ARCHIVE AND GLOG_ARCHIVE AND GFLAGS_ARCHIVE)
    # The program does nothing but pull ceres::Solve out of the archive.
    file(WRITE ${CMAKE_BINARY_DIR}/ceres_static.cc "int main() {}\n")
    try_compile(STINT_CERES_STATIC ${CMAKE_BINARY_DIR}/ceres_static
      SOURCES ${CMAKE_BINARY_DIR}/ceres_static.cc ${CMAKE_SOURCE_DIR}/src/solver/unused_backends.S
      LINK_OPTIONS -static-libstdc++ -static-libgcc
        -Wl,--require-defined=_ZN5ceres5SolveERKNS_6Solver7OptionsEPNS_7ProblemEPNS0_7SummaryE
      LINK_LIBRARIES ${CERES_ARCHIVE} ${GLOG_ARCHIVE} ${GFLAGS_ARCHIVE})
  endif()
  message(STATUS "Ceres as a static archive: ${STINT_CERES_STATIC}")
endif()

if(STINT_CERES_STATIC)
  add_library(stint_unused_backends STATIC src/solver/unused_backends.S)
  target_link_libraries(stint_ceres INTERFACE ${CERES_ARCHIVE} ${GLOG_ARCHIVE} ${GFLAGS_ARCHIVE}
                        stint_unused_backends Eigen3::Eigen)
else()
  target_link_libraries(stint_ceres INTERFACE Ceres::ceres)
endif()
