# The binary, what shells and man need, and the data as files for people to read and copy.
set(share ${CMAKE_BINARY_DIR}/share)
add_custom_command(TARGET stint POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${share}
  COMMAND stint completion bash > ${share}/stint
  COMMAND stint completion zsh > ${share}/_stint
  COMMAND stint completion fish > ${share}/stint.fish
  COMMAND stint man > ${share}/stint.1
  COMMENT "Making the completions and the manual page")

find_program(PYTHON3 python3)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND PYTHON3)
  add_custom_command(TARGET stint POST_BUILD
    COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tools/check_hardening.py $<TARGET_FILE:stint>
            $<TARGET_FILE:stint_turnstile_shared> --without ${CMAKE_SOURCE_DIR}
    COMMENT "Checking that the binary is hardened")
endif()

install(TARGETS stint RUNTIME DESTINATION bin)
install(TARGETS stint_turnstile_shared LIBRARY DESTINATION lib)
install(FILES ${CMAKE_SOURCE_DIR}/src/turnstile/turnstile.h DESTINATION include/stint)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/data/ DESTINATION share/stint)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/formats DESTINATION share/stint)
install(FILES ${share}/stint DESTINATION share/bash-completion/completions)
install(FILES ${share}/_stint DESTINATION share/zsh/site-functions)
install(FILES ${share}/stint.fish DESTINATION share/fish/vendor_completions.d)
install(FILES ${share}/stint.1 DESTINATION share/man/man1)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/stint)
