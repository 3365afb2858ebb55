# emulator_unit_tests: the emulator's own parts, each in a folder called as under common/emulator; no device and no CUDA program.
# tests/aarch64 builds it too.
set(folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB unit_tests CONFIGURE_DEPENDS ${folder}/ptx/*.cpp ${folder}/program/*.cpp ${folder}/memory/*.cpp ${folder}/machine/*.cpp
    ${folder}/execute/*.cpp ${folder}/check/*.cpp ${folder}/observe/*.cpp ${folder}/machine_code/*.cpp)
add_executable(emulator_unit_tests ${unit_tests})
target_link_libraries(emulator_unit_tests PRIVATE project_options emulator_core GTest::gmock_main PkgConfig::mpfr)
target_compile_definitions(emulator_unit_tests PRIVATE EMULATOR_TESTS="${folder}"
    EMULATOR_CORPUS="${CMAKE_CURRENT_BINARY_DIR}/corpus/90")
target_precompile_headers(emulator_unit_tests PRIVATE <algorithm> <functional> <sstream> <string> <vector>
    <gmock/gmock.h> <gtest/gtest.h> ${folder}/machine/ptx_fixture.hpp ${folder}/execute/reference.hpp)
# No two files of a piece share a name in their unnamed namespaces.
foreach(test IN LISTS unit_tests)
    cmake_path(GET test PARENT_PATH piece)
    cmake_path(GET piece FILENAME piece)
    if(test MATCHES "/(builtins|cluster|fp16|integer|memory_checker|block_deduplication|sync_checker|warp|written_bytes)_test\\.cpp$")
        set(piece rest)
    endif()
    set_source_files_properties(${test} PROPERTIES UNITY_GROUP ${piece})
endforeach()
compile_as_one(emulator_unit_tests)
set_target_properties(emulator_unit_tests PROPERTIES UNITY_BUILD_MODE GROUP)
