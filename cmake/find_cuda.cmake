# Finds nvcc and says for which architectures to compile. Included before the language CUDA is enabled: CMake
# asks for both at that moment.
#
# in   CMAKE_CUDA_COMPILER, $CUDACXX    an nvcc of your own choice
#      $CUDA_ARCHITECTURES              the cards to build for, where they are not installed: "75 90"
#      CMAKE_CUDA_ARCHITECTURES         architectures of your own choice; keep a virtual one, the emulator runs PTX
# out  CMAKE_CUDA_COMPILER, CMAKE_CUDA_ARCHITECTURES
#      GPU_ARCHITECTURES                those of the installed cards, for example 80;90; empty without a card

# build/toolkit is there only if `make setup` found no nvcc that will do, so it comes first.
set(nvcc $ENV{CUDACXX})
if(NOT nvcc)
    find_program(CMAKE_CUDA_COMPILER nvcc
        HINTS ${CMAKE_CURRENT_LIST_DIR}/../build/toolkit/cuda/bin
        PATHS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
    if(NOT CMAKE_CUDA_COMPILER)
        message(FATAL_ERROR "no nvcc found. `make setup` fetches one; CUDACXX=/path/to/nvcc names one of your own.")
    endif()
    set(nvcc ${CMAKE_CUDA_COMPILER})
endif()

execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities RESULT_VARIABLE status ERROR_QUIET)
set(GPU_ARCHITECTURES "")
if(status EQUAL 0)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" GPU_ARCHITECTURES "${capabilities}")
    list(TRANSFORM GPU_ARCHITECTURES REPLACE "\\." "")
    list(REMOVE_DUPLICATES GPU_ARCHITECTURES)
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
    # Machine code for the cards, PTX for the emulator, a device of compute capability 9.0. Skips a card that this
    # nvcc does not know: a newer one can still compile the PTX for itself.
    set(CMAKE_CUDA_ARCHITECTURES "")
    if(GPU_ARCHITECTURES)
        execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
    endif()
    string(REGEX MATCHALL "[0-9]+" wanted "$ENV{CUDA_ARCHITECTURES}")
    list(TRANSFORM wanted APPEND -real OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
    foreach(architecture IN LISTS GPU_ARCHITECTURES)
        if(NOT wanted AND "${known}" MATCHES "sm_${architecture}\n")
            list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-real)
        endif()
    endforeach()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 90-real)
    endif()
    list(APPEND CMAKE_CUDA_ARCHITECTURES 90-virtual)
endif()
