# What every kernel suite needs to be built for one target.
#
# The caller's project has the language CXX.  Entries that choose the target:
#
#   HARNESS_BACKEND    cpu, cuda or hip
#   HARNESS_ARCH       the target's architecture as matrix.yaml writes it
#   HARNESS_HIP_FLAGS  hip: further flags of the compiler (a list or a command line)
#   HARNESS_HIP_LINK   hip: what to link with
#
# cuda also needs CMAKE_CUDA_ARCHITECTURES, so that nothing is ever built for whatever device
# happens to be there.  Optimisation is -O2 -g unless CMAKE_CXX_FLAGS says otherwise.

include_guard(GLOBAL)

set(HARNESS_BACKEND "" CACHE STRING "cpu, cuda or hip")
set(HARNESS_ARCH "" CACHE STRING "architecture to build for")
set(HARNESS_HIP_FLAGS "" CACHE STRING "further flags for HIP sources")
set(HARNESS_HIP_LINK "" CACHE STRING "what HIP programs are linked with")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(NOT HARNESS_BACKEND MATCHES "^(cpu|cuda|hip)$")
  message(FATAL_ERROR "HARNESS_BACKEND is '${HARNESS_BACKEND}': it must be cpu, cuda or hip")
endif()
if(HARNESS_BACKEND STREQUAL "hip" AND NOT HARNESS_ARCH MATCHES "^gfx")
  message(FATAL_ERROR "HARNESS_ARCH is '${HARNESS_ARCH}': hip needs a gfx architecture")
endif()
if(HARNESS_BACKEND STREQUAL "cuda")
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is not set: cuda needs an explicit architecture")
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  enable_language(CUDA)
endif()

get_filename_component(harness_kernels "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(harness_include_directory "${harness_kernels}/include")
# Only the imitated device needs code of its own; real ones have a runtime.
set(harness_cpu_sources "${harness_kernels}/src/cpu.cpp" "${harness_kernels}/src/emulated.cpp")

# harness_kernel(<name> SOURCES <file>...): an executable of this name in the build folder.
function(harness_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 kernel "" "" "SOURCES")
  if(kernel_UNPARSED_ARGUMENTS OR NOT kernel_SOURCES)
    message(FATAL_ERROR "harness_kernel(${name} SOURCES <file>...)")
  endif()
  if(HARNESS_BACKEND STREQUAL "cpu")
    list(APPEND kernel_SOURCES ${harness_cpu_sources})
  endif()
  add_executable(${name} ${kernel_SOURCES})
  target_include_directories(${name} PRIVATE "${harness_include_directory}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(TOUPPER "${HARNESS_BACKEND}" backend)
  target_compile_definitions(${name} PRIVATE
    HARNESS_BACKEND_${backend} HARNESS_ARCH="${HARNESS_ARCH}" HARNESS_SUITE="${name}")

  set(warnings -Wall -Wextra -Wconversion)
  if(HARNESS_BACKEND STREQUAL "cuda")
    set_source_files_properties(${kernel_SOURCES} PROPERTIES LANGUAGE CUDA)
    list(JOIN warnings "," for_host)
    target_compile_options(${name} PRIVATE "-Xcompiler=${for_host}")
    if(NOT CMAKE_CUDA_FLAGS MATCHES "(^| )-O")
      target_compile_options(${name} PRIVATE -O2 -g -lineinfo)
    endif()
    return()
  endif()

  target_compile_options(${name} PRIVATE ${warnings})
  if(NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
    target_compile_options(${name} PRIVATE -O2 -g)
  endif()
  if(HARNESS_BACKEND STREQUAL "hip")
    separate_arguments(hip_flags UNIX_COMMAND "${HARNESS_HIP_FLAGS}")
    separate_arguments(hip_link UNIX_COMMAND "${HARNESS_HIP_LINK}")
    target_compile_options(${name} PRIVATE -x hip "--offload-arch=${HARNESS_ARCH}" ${hip_flags})
    # The link takes objects: `-x hip` would make it read them as source.
    target_link_libraries(${name} PRIVATE ${hip_link})
  endif()
endfunction()
