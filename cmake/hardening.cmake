# What a release has against mistakes that nobody has found yet: a protected stack, checked calls of
# the C library, and an image at a random address whose tables are read-only before it runs. It has
# no path of the computer that built it. tools/check_hardening.py looks at the result.
#
# Debian's static archives (libceres.a, libCbc.a, …) are position-independent, so that they fit into
# such an image; the linker would refuse others.

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(fortify 2)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    set(fortify 3)
  endif()
  get_filename_component(hardened_root ${CMAKE_CURRENT_LIST_DIR}/.. REALPATH)
  # A shared library is compiled with -fPIC, which comes earlier on the command line and must win.
  set(is_shared $<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>)
  set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  add_compile_options(-fstack-protector-strong $<$<NOT:${is_shared}>:-fPIE>
    $<$<COMPILE_LANGUAGE:C,CXX>:-U_FORTIFY_SOURCE>
    $<$<COMPILE_LANGUAGE:C,CXX>:-D_FORTIFY_SOURCE=${fortify}>
    -ffile-prefix-map=${CMAKE_BINARY_DIR}/=build/ -ffile-prefix-map=${hardened_root}/=)
  add_link_options($<${is_program}:-pie> -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()
