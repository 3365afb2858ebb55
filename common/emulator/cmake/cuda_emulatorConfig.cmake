# What find_package(cuda_emulator) adds to a CUDA project:
#
#   cuda_emulator::emulate         the command that runs a program on the emulator
#   cuda_emulator::cuda_emulator   link it to #include <cuda_emulator.h>
#   add_emulated_test(NAME <name> [CHECK <checker>…] COMMAND <target> [<argument>…])
#                                  a test that runs the target on the emulator. CHECK: and fails where one of these
#                                  checkers (mem, init, race, sync, all) finds something
#
# The target has to be linked with the shared runtime and contain PTX:
#
#   set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
#   set(CMAKE_CUDA_ARCHITECTURES 90)
include(${CMAKE_CURRENT_LIST_DIR}/cuda_emulatorTargets.cmake)

function(add_emulated_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "CHECK;COMMAND")
    if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_emulated_test(NAME <name> [CHECK <checker>...] COMMAND <target> [<argument>...])")
    endif()
    list(POP_FRONT arg_COMMAND program)
    set(options "")
    if(arg_CHECK)
        list(JOIN arg_CHECK "," checkers)
        set(options --check ${checkers})
    endif()
    add_test(NAME ${arg_NAME}
        COMMAND cuda_emulator::emulate ${options} $<TARGET_FILE:${program}> ${arg_COMMAND})
endfunction()
