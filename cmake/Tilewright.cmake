# What every target of the project shares: language, warnings, tools, and the functions that declare targets.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers need the sloppiness; without it every file that uses one is a miss. Paths relative to the source tree
  # let clones share the cache, and so does a sum that stands for the precompiled header, in which its own path is.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  # CMake names the header itself too, by an absolute path, which ccache takes for a part of what is compiled. Clang needs the
  # precompiled one alone.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
endif()
find_program(LLD ld.lld-22)
if(LLD)
  add_link_options(--ld-path=${LLD})
endif()

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -fno-math-errno -ffp-contract=off)
if(TILEWRIGHT_SANITIZE)
  # Debian's libLLVM carries no sanitizer annotations: its containers must not be checked across the boundary.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  # Headers of packages are not what is tested, and code of theirs is half of what our files compile to.
  add_compile_options(-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/packages.ignorelist)
  add_link_options(-fsanitize=address,undefined)
  # Reports need lines, and no more; less optimization costs the tests less time than it spares the build.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only -DNDEBUG")
endif()
if(TILEWRIGHT_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
include(GoogleTest)
file(WRITE "${PROJECT_BINARY_DIR}/test_programs.txt" "") # by tilewright_add_test: a line each, with its labels

# tilewright_source_version(HEADER NAME PATTERN...)
# A header, at the path that the variable HEADER gets, with the constant NAME: the hash of all files of the patterns. What is kept
# between runs counts for the very sources that made it.
function(tilewright_source_version header name)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${header}.h)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${header}.txt)
  string(JOIN "\n" lines ${sources})
  file(WRITE ${list} "${lines}")
  add_custom_command(
    OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -D LIST=${list} -D OUT=${path} -D NAME=${name} -P ${PROJECT_SOURCE_DIR}/cmake/source_version.cmake
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/source_version.cmake
    COMMENT "Hashing the sources of ${name}")
  set(${header} ${path} PARENT_SCOPE)
endfunction()

# tilewright_add_library(NAME SOURCE... [DEPENDS LIB...] [LLVM | MLIR])
# A static library `tilewright-NAME` whose headers stand in `include/` beside its CMakeLists.txt.
# LLVM and MLIR are built without RTTI, so a library that derives from their classes is too.
function(tilewright_add_library name)
  cmake_parse_arguments(ARG "LLVM;MLIR" "" "DEPENDS" ${ARGN})
  add_library(tilewright-${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(tilewright-${name} PROPERTIES OUTPUT_NAME tilewright-${name})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/include")
    target_include_directories(tilewright-${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include")
  endif()
  target_link_libraries(tilewright-${name} PUBLIC ${ARG_DEPENDS} fmt::fmt)
  tilewright_use_llvm(tilewright-${name} "${ARG_LLVM}" "${ARG_MLIR}")
  if(ARG_MLIR)
    tilewright_precompile_mlir(tilewright-${name})
  endif()
endfunction()

set(TILEWRIGHT_MLIR_HEADERS
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/Tosa/IR/TosaOps.h>
    <mlir/IR/Builders.h>
    <mlir/IR/BuiltinOps.h>
    <mlir/Pass/Pass.h>)

# MLIR's headers take most of the time of the files that include them: they are compiled once for libraries, and once for tests with
# GoogleTest's. (Programs have other flags than libraries: a precompiled header serves those of its own.) CMake wants a target that
# owns them.
function(tilewright_precompile_mlir target)
  if(NOT TARGET tilewright-mlir-headers)
    add_library(tilewright-mlir-headers OBJECT "${PROJECT_SOURCE_DIR}/cmake/mlir_headers.cpp")
    target_link_libraries(tilewright-mlir-headers PRIVATE fmt::fmt)
    target_include_directories(tilewright-mlir-headers SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
    target_compile_options(tilewright-mlir-headers PRIVATE -fno-rtti)
    # Without the time of their making in the file, the cache knows it again.
    target_compile_options(tilewright-mlir-headers PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(tilewright-mlir-headers PRIVATE ${TILEWRIGHT_MLIR_HEADERS})
    tilewright_sum_of_headers("${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/tilewright-mlir-headers.dir/cmake_pch.hxx.pch.sum")
  endif()
  target_precompile_headers(${target} REUSE_FROM tilewright-mlir-headers)
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endfunction()

# The same for a program of tests, whose options `tilewright_test_options` sets.
function(tilewright_precompile_tests target mlir)
  set(owner tilewright-test-headers)
  set(headers <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <map> <string> <vector>)
  if(mlir)
    set(owner tilewright-mlir-test-headers)
    list(APPEND headers ${TILEWRIGHT_MLIR_HEADERS})
  endif()
  if(NOT TARGET ${owner})
    add_executable(${owner} "${PROJECT_SOURCE_DIR}/cmake/test_headers.cpp")
    target_link_libraries(${owner} PRIVATE fmt::fmt GTest::gtest GTest::gmock)
    tilewright_use_llvm(${owner} "${mlir}" "${mlir}")
    tilewright_test_options(${owner})
    target_compile_options(${owner} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(${owner} PRIVATE ${headers})
    tilewright_sum_of_headers("${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx.pch.sum")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endfunction()

# Tests are compiled in half the time without optimization. Under the sanitizers what is tested is checked, and what fuzz targets
# explore; tests themselves only for addresses, which spares half of their build.
function(tilewright_test_options target)
  target_compile_options(${target} PRIVATE $<$<OR:$<CONFIG:Release>,$<BOOL:${TILEWRIGHT_SANITIZE}>>:-O0>)
  if(TILEWRIGHT_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined,fuzzer-no-link)
  endif()
endfunction()

# Writes FILE, by which ccache knows the precompiled header: what it is made of are packages' headers, known by their versions.
# Without dpkg there is no such file, and ccache reads the header itself.
function(tilewright_sum_of_headers file)
  execute_process(COMMAND dpkg-query -W libmlir-22-dev llvm-22-dev clang-22 libfmt-dev libgtest-dev libgmock-dev libstdc++-12-dev libc6-dev
                  OUTPUT_VARIABLE versions RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    file(SHA256 "${PROJECT_SOURCE_DIR}/cmake/Tilewright.cmake" how)
    file(WRITE "${file}" "${versions}${how}\n")
  endif()
endfunction()

# Gives TARGET the include paths, flags and shared libraries of LLVM or MLIR.
function(tilewright_use_llvm target llvm mlir)
  if(llvm OR mlir)
    target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
    target_compile_options(${target} PRIVATE -fno-rtti)
    target_link_libraries(${target} PUBLIC LLVM)
    target_link_directories(${target} PUBLIC ${LLVM_LIBRARY_DIRS})
  endif()
  if(mlir)
    target_link_libraries(${target} PUBLIC MLIR)
  endif()
endfunction()

# tilewright_add_test(NAME SOURCE... [DEPENDS LIB...] [LABELS LABEL...] [LLVM | MLIR] [OPTIMIZED])
# A GoogleTest program; every TEST in it becomes one ctest entry, NAME.SUITE.TEST (ctest sets properties by name, and programs may
# share sources), labeled `quick` unless told otherwise. What tests call is optimized;
# they themselves are not, unless they are OPTIMIZED because they compute much.
function(tilewright_add_test name)
  cmake_parse_arguments(ARG "LLVM;MLIR;OPTIMIZED" "" "DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} tilewright-source-path GTest::gtest GTest::gmock GTest::gtest_main)
  tilewright_use_llvm(${name} "${ARG_LLVM}" "${ARG_MLIR}")
  if(NOT ARG_OPTIMIZED)
    tilewright_test_options(${name})
    if(ARG_MLIR OR NOT ARG_LLVM) # those of LLVM alone have flags of their own, and are few
      tilewright_precompile_tests(${name} "${ARG_MLIR}")
    endif()
  elseif(TILEWRIGHT_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined,fuzzer-no-link)
  endif()
  file(APPEND "${PROJECT_BINARY_DIR}/test_programs.txt" "${name} ${ARG_LABELS}\n")
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${ARG_LABELS}")
endfunction()

# tilewright_add_dialect(PART NAME TD)
# Generates the MLIR dialect NAME (in lower case) from TD for the library tilewright-PART:
# tilewright/compiler/PART/NAME{Dialect,Attributes,Ops}.{h,cpp}.inc, which whoever links it sees too.
function(tilewright_add_dialect part name td)
  find_program(MLIR_TBLGEN mlir-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
  get_filename_component(td "${td}" ABSOLUTE)
  string(TOLOWER "${name}" dialect)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/include/tilewright/compiler/${part}")
  set(Dialect.h -gen-dialect-decls -dialect=${dialect})
  set(Dialect.cpp -gen-dialect-defs -dialect=${dialect})
  set(Attributes.h -gen-attrdef-decls -attrdefs-dialect=${dialect})
  set(Attributes.cpp -gen-attrdef-defs -attrdefs-dialect=${dialect})
  set(Ops.h -gen-op-decls)
  set(Ops.cpp -gen-op-defs)
  set(generated)
  foreach(file Dialect.h Dialect.cpp Attributes.h Attributes.cpp Ops.h Ops.cpp)
    set(output "${directory}/${name}${file}.inc")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${directory}"
      COMMAND ${MLIR_TBLGEN} ${${file}} -I ${LLVM_INCLUDE_DIRS} --write-if-changed -d "${output}.d" -o "${output}" "${td}"
      DEPENDS "${td}"
      DEPFILE "${output}.d"
      COMMENT "Generating ${name}${file}.inc")
    list(APPEND generated "${output}")
  endforeach()
  add_custom_target(tilewright-${dialect}-inc DEPENDS ${generated})
  add_dependencies(tilewright-${part} tilewright-${dialect}-inc)
  target_include_directories(tilewright-${part} PUBLIC "${CMAKE_CURRENT_BINARY_DIR}/include")
endfunction()
