# s2r_addon(NAME SOURCES... LIBS...): one Node addon, build/Release/NAME.node.
# s2r_core(NAME SOURCES...): the addon's plain C++ core, a static library that its tests link too.
# s2r_test(NAME SOURCES... LIBS...): one GoogleTest binary, discovered by ctest.
set(S2R_NODE_MODULES "${CMAKE_SOURCE_DIR}/node_modules")
if(NOT CMAKE_JS_INC)
  set(CMAKE_JS_INC "${S2R_NODE_MODULES}/node-api-headers/include")
endif()

function(s2r_core name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name}_core STATIC ${ARG_SOURCES})
  target_include_directories(${name}_core PUBLIC "${CMAKE_SOURCE_DIR}")
  target_compile_options(${name}_core PRIVATE -Wall -Wextra -Wshadow -O3)
  target_link_libraries(${name}_core PUBLIC Eigen3::Eigen Threads::Threads ${ARG_LIBS})
endfunction()

function(s2r_addon name)
  if(NOT S2R_BUILD_ADDONS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} SHARED ${ARG_SOURCES} ${CMAKE_JS_SRC})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".node"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_SOURCE_DIR}/build/Release")
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}" ${CMAKE_JS_INC}
    "${S2R_NODE_MODULES}/node-addon-api")
  target_compile_definitions(${name} PRIVATE NAPI_VERSION=8 NAPI_CPP_EXCEPTIONS NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} ${CMAKE_JS_LIB})
endfunction()

function(s2r_test name)
  if(NOT S2R_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
