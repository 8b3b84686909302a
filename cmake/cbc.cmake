# stint_cbc: CLP and CBC as src/solver links them.
#
# As with Ceres (see ceres.cmake): static archives in a release where that works, else the shared
# libraries. src/solver has the two functions of LAPACK that they call, and stand-ins for reading
# compressed files, which we never ask for.

find_path(CBC_INCLUDE coin/CbcModel.hpp REQUIRED)
add_library(stint_cbc INTERFACE)
target_include_directories(stint_cbc SYSTEM INTERFACE ${CBC_INCLUDE})
set(cbc_names Cbc Cgl OsiClp Clp Osi CoinUtils)
set(cbc_archives "")
set(cbc_shared "")
foreach(name IN LISTS cbc_names)
  find_library(${name}_LIBRARY ${name} REQUIRED)
  find_library(${name}_ARCHIVE lib${name}.a)
  list(APPEND cbc_shared ${${name}_LIBRARY})
  list(APPEND cbc_archives ${${name}_ARCHIVE})
endforeach()

if(STINT_CERES_STATIC AND NOT DEFINED STINT_CBC_STATIC)
  # The program does nothing but pull both solvers out of the archives.
  file(WRITE ${CMAKE_BINARY_DIR}/cbc_static.cc
    "extern \"C\" {\nvoid dgetrf_() {}\nvoid dgetrs_() {}\n}\nint main() {}\n")
  try_compile(STINT_CBC_STATIC ${CMAKE_BINARY_DIR}/cbc_static
    SOURCES ${CMAKE_BINARY_DIR}/cbc_static.cc ${CMAKE_SOURCE_DIR}/src/solver/unused_backends.S
    LINK_OPTIONS -static-libstdc++ -static-libgcc
      -Wl,--require-defined=_ZN8CbcModel14branchAndBoundEi
      -Wl,--require-defined=_ZN10ClpSimplex4dualEii
    LINK_LIBRARIES ${cbc_archives})
  message(STATUS "CBC as static archives: ${STINT_CBC_STATIC}")
endif()

if(STINT_CBC_STATIC)
  # As a group, because Ceres refers to the stand-ins too and the linker reads archives in order.
  list(JOIN cbc_archives "," cbc_group)
  target_link_libraries(stint_cbc INTERFACE
                        "$<LINK_GROUP:RESCAN,${cbc_group},stint_unused_backends>")
else()
  target_link_libraries(stint_cbc INTERFACE ${cbc_shared})
endif()
