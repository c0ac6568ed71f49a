#include <gtest/gtest.h>

#include "backends/emulators/ur-controller/path_script.h"
#include "backends/emulators/ur-controller/script_recogniser.h"

namespace s2r::ur {
namespace {

TEST(ScriptCall, ReadsNumbersListsPosesTextAndNames) {
  const auto call = parseCall("  movel(p[0.1,-2e-1,3,0,0,1.5], a=1.2, v=0.25,r=0) # remark");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->name, "movel");
  EXPECT_EQ(call->arguments[0].kind, ScriptValue::Kind::kPose);
  EXPECT_DOUBLE_EQ(call->arguments[0].list[1], -0.2);
  EXPECT_DOUBLE_EQ(call->number("v", 2, 0), 0.25);
  EXPECT_DOUBLE_EQ(parseCall("f(0 + 24, 1)")->arguments[0].number, 24);
  EXPECT_DOUBLE_EQ(parseCall("f(1 - 3)")->arguments[0].number, -2);
  EXPECT_EQ(parseCall("textmsg(\"a, (b) # c\")")->arguments[0].text, "a, (b) # c");
  EXPECT_DOUBLE_EQ(parseCall("f(True)")->arguments[0].number, 1);
}

TEST(ScriptCall, RefusesWhatIsNoConstantCall) {
  for (const char* line :
       {"x = 3", "while True:", "f(g(1))", "f(x)", "f(1", "1f()", "f(p[1,2])", "f(1 2)", "f(,)"}) {
    EXPECT_FALSE(parseCall(line)) << line;
  }
}

TEST(ScriptSplitter, CutsProgramsAndLinesOutOfPieces) {
  ScriptSplitter splitter;
  EXPECT_TRUE(splitter.push("def a():\n  if x:\n    f(1)\n  en").empty());
  const std::vector<std::string> programs = splitter.push("d\nend\nstopj(2)\n\ndef b():\nend\n");
  ASSERT_EQ(programs.size(), 3u);
  EXPECT_EQ(programs[0], "def a():\n  if x:\n    f(1)\n  end\nend\n");
  EXPECT_EQ(programs[1], "stopj(2)\n");
  EXPECT_EQ(programs[2], "def b():\nend\n");
}

std::string controlScript(const std::string& offset_float,
                          const std::string& offset_int,
                          const std::string& path) {
  return "def rtde_control():\n"
         "    global reg_offset_float = # float register offset\n" +
         offset_float + "    global reg_offset_int = # int register offset\n" + offset_int +
         "    global other = 2\n"
         "    def read_reg(i):\n        return read_input_integer_register(i + reg_offset_int)\n"
         "    end\n"
         "    def exec_move_path():\n        textmsg(\"exec_move_path\")\n"
         "        # inject move path\n" +
         path +
         "    end\n"
         "    def rtde_cmd():\n      return 0\n    end\n"
         "    def process_cmd(cmd):\n    end\n"
         "end\n";
}

TEST(Recogniser, KnowsTheRegisterControlScript) {
  for (const char* offset : {"0", "24"}) {
    const RecognisedScript script = recogniseScript(controlScript(offset, offset, ""));
    ASSERT_TRUE(script.program) << script.refusal;
    EXPECT_EQ(script.program->name(), "rtde_control");
  }
  EXPECT_FALSE(recogniseScript(controlScript("7", "0", "")).program);
  EXPECT_FALSE(recogniseScript(controlScript("", "0", "")).program);
}

TEST(Recogniser, ReadsAPathOrRefusesIt) {
  const std::string path = "\tsignal_async_progress(0)\n\tmovej([0,1,2,3,4,5],a=1.4,v=1,r=0.01)\n";
  EXPECT_TRUE(recogniseScript(controlScript("0", "0", path)).program);
  const RecognisedScript wrong = recogniseScript(controlScript("0", "0", "\tmovec(p[0])\n"));
  EXPECT_FALSE(wrong.program);
  EXPECT_NE(wrong.refusal.find("movec"), std::string::npos);
}

TEST(Recogniser, StraightLinesOnly) {
  EXPECT_TRUE(recogniseScript("stopj(2)\n").program);
  EXPECT_TRUE(recogniseScript("def p():\n  sleep(0.1)\n  set_payload(1, [0,0,0])\nend\n").program);
  for (const char* text :
       {"def p():\n  while True:\n    sync()\n  end\nend\n", "set_standard_digital_out(9, True)\n",
        "write_output_integer_register(48, 1)\n", "def p():\n  x = 1\nend\n"}) {
    EXPECT_FALSE(recogniseScript(text).program) << text;
  }
}

TEST(MoveOf, PositionsOfArgumentsFollowTheScriptManual) {
  const auto joints = moveOf(*parseCall("movej([0,1,2,3,4,5], 3, 2, 0, 0.05)"));
  ASSERT_TRUE(joints);
  EXPECT_DOUBLE_EQ(joints->acceleration, 3);
  EXPECT_DOUBLE_EQ(joints->speed, 2);
  EXPECT_DOUBLE_EQ(joints->blend_m, 0.05);
  EXPECT_FALSE(moveOf(*parseCall("movej([0,1,2], 3, 2)")));
}

}  // namespace
}  // namespace s2r::ur
