# Gives the static library of ur_rtde 1.6.5 as the imported target `ur_rtde::rtde`. Set-up builds it once from the
# package's source (native/cmake/ur_rtde), so that no other build folder compiles it again.
set(UR_RTDE_DIR "${CMAKE_SOURCE_DIR}/build/ur_rtde" CACHE PATH "Built ur_rtde 1.6.5")
if(NOT EXISTS "${UR_RTDE_DIR}/librtde.a")
  message(FATAL_ERROR "ur_rtde 1.6.5 is not built in ${UR_RTDE_DIR}: run npm run setup -- --native")
endif()
if(NOT TARGET ur_rtde::rtde)
  # Debian's static Boost.Thread is not position independent, so a shared object can link it only dynamically.
  set(Boost_USE_STATIC_LIBS OFF)
  find_package(Boost 1.74 REQUIRED COMPONENTS system thread)
  add_library(ur_rtde::rtde STATIC IMPORTED GLOBAL)
  set_target_properties(ur_rtde::rtde PROPERTIES
    IMPORTED_LOCATION "${UR_RTDE_DIR}/librtde.a"
    INTERFACE_INCLUDE_DIRECTORIES "${UR_RTDE_DIR}/source/include"
    INTERFACE_LINK_LIBRARIES "Boost::headers;Boost::thread;Boost::system;Threads::Threads")
endif()
