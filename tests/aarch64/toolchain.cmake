# Debian's cross compiler, and the libraries that tests/aarch64/run fetched into ROOT.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH ${ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)

# The compiler's own C library comes first: headers of the two do not mix.
set(CMAKE_NO_SYSTEM_FROM_IMPORTED ON)
set(CMAKE_CXX_FLAGS_INIT "-idirafter ${ROOT}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${ROOT}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${ROOT}/usr/lib/aarch64-linux-gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
