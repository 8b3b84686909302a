# The licences of all that a release contains from others, installed beside it: THIRD_PARTY.md with
# names, versions, licences and sources, and the text of each. tests/check_licences.py holds the list
# to what is compiled and linked.
#
# third_party(NAME PACKAGE LICENCE): a library of a Debian package. Its text is the copyright file of
# the package, or cmake/licences/NAME.txt where that is short and the other long.

set(third_party_rows "")
set(third_party_packages "")
set(third_party_texts ${CMAKE_BINARY_DIR}/share/licences)

function(third_party name package licence)
  set(text ${CMAKE_SOURCE_DIR}/cmake/licences/${name}.txt)
  if(NOT EXISTS ${text})
    set(text /usr/share/doc/${package}/copyright)
  endif()
  if(EXISTS ${text})
    configure_file(${text} ${third_party_texts}/${name}.txt COPYONLY)
  else()
    message(WARNING "The licence of ${name} is not installed: ${text} does not exist")
  endif()
  execute_process(COMMAND dpkg-query -W "-f=\${source:Package} \${source:Version}" ${package}
                  OUTPUT_VARIABLE source ERROR_QUIET)
  string(REGEX MATCH "^[^ ]+" origin "${source}")
  string(REGEX REPLACE "^[^ ]+ " "" version "${source}")
  string(REPLACE ":" "%3A" address "https://sources.debian.org/src/${origin}/${version}/")
  string(REPLACE "https%3A" "https:" address "${address}")
  set(third_party_rows "${third_party_rows}| ${name} | ${version} | ${licence} | ${address} |\n"
      PARENT_SCOPE)
  set(third_party_packages ${third_party_packages} ${package} PARENT_SCOPE)
endfunction()

third_party(fmt libfmt-dev MIT)
third_party(nlohmann-json nlohmann-json3-dev MIT)
third_party(Ceres libceres-dev BSD-3-Clause)
third_party(glog libgoogle-glog-dev BSD-3-Clause)
third_party(gflags libgflags-dev BSD-3-Clause)
third_party(Eigen libeigen3-dev MPL-2.0)
third_party(Cbc coinor-libcbc-dev EPL-1.0)
third_party(Cgl coinor-libcgl-dev EPL-1.0)
third_party(Clp coinor-libclp-dev EPL-1.0)
third_party(Osi coinor-libosi-dev EPL-1.0)
third_party(CoinUtils coinor-libcoinutils-dev EPL-1.0)
third_party(Boost libboost1.74-dev BSL-1.0)
third_party(simdjson libsimdjson-dev Apache-2.0)
third_party(zlib zlib1g-dev Zlib)
third_party(yaml-cpp libyaml-cpp-dev MIT)
third_party(libstdc++ libstdc++-12-dev "GPL-3.0 with GCC-exception-3.1")
third_party(libgcc libgcc-12-dev "GPL-3.0 with GCC-exception-3.1")
configure_file(${CMAKE_SOURCE_DIR}/cmake/licences/THIRD_PARTY.md.in
               ${CMAKE_BINARY_DIR}/share/THIRD_PARTY.md @ONLY)

# For the test: the archives that a release links, wherever they are.
set(linked ${cbc_archives})
foreach(archive ceres glog gflags z yaml-cpp)
  find_library(LICENCE_${archive} lib${archive}.a)
  list(APPEND linked ${LICENCE_${archive}})
endforeach()
list(JOIN linked "\n" linked)
list(JOIN third_party_packages "\n" third_party_packages)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/linked.txt CONTENT "${linked}\n" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/packages.txt CONTENT "${third_party_packages}\n" @ONLY)

install(FILES ${CMAKE_BINARY_DIR}/share/THIRD_PARTY.md DESTINATION share/doc/stint)
install(DIRECTORY ${third_party_texts} DESTINATION share/doc/stint)
# The copyright files refer to these texts instead of repeating them.
foreach(text Apache-2.0 GPL-3 LGPL-2.1 MPL-2.0)
  if(EXISTS /usr/share/common-licenses/${text})
    install(FILES /usr/share/common-licenses/${text} DESTINATION share/doc/stint/licences/common)
  endif()
endforeach()
