"""The independent client's control interface: every call of the register contract."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from emulator import Emulator, wait_for
from rtde_control import Path, PathEntry, RTDEControlInterface
from rtde_receive import RTDEReceiveInterface

HOME = [0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0]
# With an offset of nothing but zeros the client does not send it, and the registers' old values count.
NO_OFFSET = [0, 0, 1e-12, 0, 0, 0]


@dataclass
class Clients:
    emulator: Emulator
    control: RTDEControlInterface
    receive: RTDEReceiveInterface

    def reload(self) -> None:
        """Uploads the control script again and waits until it runs."""
        assert self.control.reuploadScript()
        assert wait_for(self.control.isProgramRunning)


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with Emulator() as emulator:
        control = RTDEControlInterface(emulator.host)
        receive = RTDEReceiveInterface(emulator.host)
        yield Clients(emulator, control, receive)
        control.disconnect()
        receive.disconnect()


@pytest.fixture
def at_home(clients: Clients) -> Clients:
    if not clients.control.isProgramRunning():
        clients.reload()
    assert clients.control.moveJ(HOME, 2.0, 8.0)
    return clients


def settled(receive: RTDEReceiveInterface) -> np.ndarray:
    wait_for(lambda: max(abs(v) for v in receive.getActualQd()) < 1e-5)
    return np.array(receive.getActualQ())


def pose_offset(pose: list[float], **offset: float) -> list[float]:
    out = list(pose)
    for axis, value in offset.items():
        out["xyz".index(axis)] += value
    return out


def test_movej_reaches_its_target_in_the_time_of_the_profile(at_home: Clients) -> None:
    target = [HOME[0] + 0.5, *HOME[1:]]
    start = time.monotonic()
    assert at_home.control.moveJ(target, 1.0, 2.0)
    assert 0.9 < time.monotonic() - start < 2.0  # 1.0 s of trapezoid
    assert np.allclose(settled(at_home.receive), target, atol=1e-4)


def test_movej_ik_and_movel_fk_agree_with_the_kinematics(at_home: Clients) -> None:
    pose = pose_offset(at_home.receive.getActualTCPPose(), z=-0.05)
    assert at_home.control.moveJ_IK(pose, 1.0, 4.0)
    settled(at_home.receive)
    assert np.allclose(at_home.receive.getActualTCPPose()[:3], pose[:3], atol=1e-4)
    assert at_home.control.moveL_FK(HOME, 0.5, 1.0)
    assert np.allclose(settled(at_home.receive), HOME, atol=1e-4)


def test_movel_keeps_to_the_straight_line(at_home: Clients) -> None:
    start = np.array(at_home.receive.getActualTCPPose())
    goal = pose_offset(list(start), x=0.1, y=0.1)
    assert at_home.control.moveL(goal, 0.2, 0.8, True)
    points = []
    while at_home.control.getAsyncOperationProgress() >= 0:
        points.append(at_home.receive.getActualTCPPose())
        time.sleep(0.005)
    line = (np.array(goal[:3]) - start[:3]) / np.linalg.norm(np.array(goal[:3]) - start[:3])
    assert len(points) > 20
    for point in points:
        away = np.array(point[:3]) - start[:3]
        assert np.linalg.norm(away - line * (away @ line)) < 2e-4
    settled(at_home.receive)
    assert np.allclose(at_home.receive.getActualTCPPose()[:3], goal[:3], atol=1e-4)


def test_async_movej_reports_progress_and_is_stopped_by_stopj(at_home: Clients) -> None:
    assert at_home.control.moveJ([HOME[0] + 2.0, *HOME[1:]], 1.0, 4.0, True)
    assert wait_for(lambda: at_home.control.getAsyncOperationProgress() >= 0)
    running = at_home.control.getAsyncOperationProgressEx()
    assert running.isAsyncOperationRunning()
    assert wait_for(lambda: at_home.receive.getActualQd()[0] > 0.9)
    at_home.control.stopJ(4.0)
    assert wait_for(lambda: at_home.control.getAsyncOperationProgress() < 0)
    assert 0.05 < settled(at_home.receive)[0] < 1.9


def test_async_stopl_stops(at_home: Clients) -> None:
    assert at_home.control.moveJ([HOME[0] + 2.0, *HOME[1:]], 1.0, 4.0, True)
    assert wait_for(lambda: at_home.receive.getActualQd()[0] > 0.5)
    at_home.control.stopL(2.0, True)
    assert wait_for(lambda: abs(at_home.receive.getActualQd()[0]) < 1e-4)
    assert wait_for(lambda: at_home.control.getAsyncOperationProgress() < 0)


def test_joint_path_with_blend_does_not_stop_at_the_corner(at_home: Clients) -> None:
    corner = [HOME[0] + 0.4, *HOME[1:]]
    goal = [HOME[0] + 0.8, *HOME[1:]]
    path = [[*corner, 1.0, 4.0, 0.05], [*goal, 1.0, 4.0, 0.0]]
    assert at_home.control.moveJ(path, True)
    speeds = []
    assert wait_for(lambda: at_home.receive.getActualQ()[0] > 0.1)
    while at_home.receive.getActualQ()[0] < 0.7:
        speeds.append(at_home.receive.getActualQd()[0])
        time.sleep(0.004)
    assert min(speeds) > 0.3
    assert np.allclose(settled(at_home.receive), goal, atol=1e-4)


def test_path_of_lines_and_mixed_path(at_home: Clients) -> None:
    start = at_home.receive.getActualTCPPose()
    first, second = pose_offset(start, z=-0.05), pose_offset(start, z=-0.05, y=0.08)
    assert at_home.control.moveL([[*first, 0.3, 1.0, 0.02], [*second, 0.3, 1.0, 0.0]])
    settled(at_home.receive)
    assert np.allclose(at_home.receive.getActualTCPPose()[:3], second[:3], atol=1e-4)
    path = Path()
    path.addEntry(PathEntry(PathEntry.MoveL, PathEntry.PositionTcpPose, [*first, 0.3, 1.0, 0.0]))
    path.addEntry(PathEntry(PathEntry.MoveJ, PathEntry.PositionJoints, [*HOME, 1.0, 4.0, 0.0]))
    assert at_home.control.movePath(path, False)
    assert np.allclose(settled(at_home.receive), HOME, atol=1e-4)


def test_servoj_follows_and_servo_stop_ends(at_home: Clients) -> None:
    q = list(HOME)
    for step in range(400):
        begin = at_home.control.initPeriod()
        q[0] = HOME[0] + 0.2 * (1 - math.cos(math.pi * step / 400))
        assert at_home.control.servoJ(q, 0, 0, 0.002, 0.05, 1000)
        at_home.control.waitPeriod(begin)
    assert abs(at_home.receive.getActualQ()[0] - q[0]) < 0.02
    assert at_home.control.servoStop(5.0)
    assert max(abs(v) for v in at_home.receive.getTargetQd()) < 1e-9


def test_servoj_lags_by_about_the_lookahead(at_home: Clients) -> None:
    speed, lookahead = 0.2, 0.1
    for step in range(600):
        begin = at_home.control.initPeriod()
        at_home.control.servoJ([speed * step * 0.002, *HOME[1:]], 0, 0, 0.002, lookahead, 300)
        at_home.control.waitPeriod(begin)
        lag = (speed * step * 0.002 - at_home.receive.getTargetQ()[0]) / speed
    at_home.control.servoStop()
    assert 0.5 * lookahead < lag < 1.6 * lookahead  # loosely: the client's own pace counts too


def test_servol_and_servoc(at_home: Clients) -> None:
    start = at_home.receive.getActualTCPPose()
    for step in range(300):
        begin = at_home.control.initPeriod()
        pose = pose_offset(start, z=-0.05 * min(1.0, step / 200))
        assert at_home.control.servoL(pose, 0, 0, 0.002, 0.05, 600)
        at_home.control.waitPeriod(begin)
    assert at_home.control.servoStop()
    assert abs(at_home.receive.getActualTCPPose()[2] - start[2] + 0.05) < 0.003
    assert at_home.control.servoC(start, 0.2, 1.0, 0.0)
    assert wait_for(lambda: abs(at_home.receive.getActualTCPPose()[2] - start[2]) < 1e-3)
    # The script does not count servoC among its continuous commands, the client does: the next
    # call waits in vain for the script to be ready and only clears the command.
    assert at_home.control.servoStop() is False
    assert at_home.control.servoStop() is True


def test_speedj_keeps_on_until_speed_stop(at_home: Clients) -> None:
    assert at_home.control.speedJ([0.3, 0, 0, 0, 0, 0], 2.0, 0.1)
    assert wait_for(lambda: at_home.receive.getActualQd()[0] > 0.29)
    time.sleep(0.3)  # well over the time of the call: the script repeats it
    assert at_home.receive.getActualQd()[0] > 0.29
    assert at_home.control.speedStop(5.0)
    assert wait_for(lambda: abs(at_home.receive.getActualQd()[0]) < 1e-4)


def test_speedl_moves_the_tool_at_that_velocity(at_home: Clients) -> None:
    assert at_home.control.speedL([0, 0, -0.1, 0, 0, 0], 1.0)
    assert wait_for(lambda: at_home.receive.getActualTCPSpeed()[2] < -0.099)
    twist = at_home.receive.getActualTCPSpeed()
    assert np.allclose(twist, [0, 0, -0.1, 0, 0, 0], atol=2e-3)
    assert at_home.control.speedStop(5.0)


@pytest.mark.parametrize("feature", [0, 1, 2])
def test_jog_moves_along_the_chosen_frame(at_home: Clients, feature: int) -> None:
    start = np.array(at_home.receive.getActualTCPPose())
    frame = [0, 0, 0, math.pi, 0, 0]
    speeds = [0, 0, 0.05, 0, 0, 0]
    assert at_home.control.jogStart(speeds, feature, 0.5, frame)
    assert wait_for(lambda: abs(at_home.receive.getActualTCPPose()[2] - start[2]) > 0.01)
    assert at_home.control.jogStop()
    moved = np.array(at_home.receive.getActualTCPPose()) - start
    assert (moved[2] > 0) == (feature == 0)  # the tool and the custom frame point down


def test_a_second_motion_beside_a_running_thread_ends_the_script(at_home: Clients) -> None:
    assert at_home.control.speedJ([0.1, 0, 0, 0, 0, 0], 2.0)
    assert wait_for(lambda: at_home.receive.getActualQd()[0] > 0.05)
    assert at_home.control.moveJ(HOME) is False
    assert wait_for(lambda: at_home.receive.getRuntimeState() == 1)
    at_home.reload()


def test_kinematic_queries(at_home: Clients) -> None:
    control, receive = at_home.control, at_home.receive
    q = list(settled(receive))
    raised = control.getForwardKinematics(q, [0, 0, 0.1, 0, 0, 0])  # the tool points down
    pose = [*raised[:2], raised[2] + 0.1, *raised[3:]]
    assert np.allclose(pose[:3], receive.getActualTCPPose()[:3], atol=1e-4)
    assert np.allclose(control.getForwardKinematics(), receive.getActualTCPPose(), atol=1e-4)
    assert np.allclose(control.getInverseKinematics(pose), q, atol=1e-4)
    near = [a + 0.2 for a in q]
    assert np.allclose(control.getInverseKinematics(pose, near), q, atol=1e-4)
    assert control.getInverseKinematicsHasSolution(pose)
    assert control.getInverseKinematicsHasSolution(pose, q)
    assert not control.getInverseKinematicsHasSolution([3.0, 0, 0, 0, 0, 0])
    assert control.isPoseWithinSafetyLimits(pose)
    assert not control.isPoseWithinSafetyLimits([3.0, 0, 0, 0, 0, 0])
    assert control.isJointsWithinSafetyLimits(q)
    assert not control.isJointsWithinSafetyLimits([7.0, *q[1:]])
    turned = control.poseTrans([0.1, 0, 0, 0, 0, math.pi / 2], [0.2, 0, 0, 0, 0, 0])
    assert np.allclose(turned, [0.1, 0.2, 0, 0, 0, math.pi / 2], atol=1e-9)
    control.getActualToolFlangePose()  # not waited for: the registers may be a cycle behind
    time.sleep(0.02)
    assert np.allclose(control.getActualToolFlangePose()[:3], pose[:3], atol=1e-4)


def test_pose_without_solution_ends_the_script(at_home: Clients) -> None:
    assert at_home.control.getInverseKinematics([3.0, 0, 0, 0, 0, 0]) == []
    assert wait_for(lambda: at_home.receive.getRuntimeState() == 1)
    at_home.reload()


def test_tcp_payload_gravity(at_home: Clients) -> None:
    control, receive = at_home.control, at_home.receive
    flange = control.getActualToolFlangePose()
    assert control.setTcp([0, 0, 0.1, 0, 0, 0])
    assert control.getTCPOffset() == pytest.approx([0, 0, 0.1, 0, 0, 0])
    assert wait_for(lambda: abs(receive.getActualTCPPose()[2] - flange[2] + 0.1) < 1e-4)
    assert control.setTcp([0] * 6)
    light = control.getJointTorques()
    assert control.setPayload(2.0, [0, 0, 0.05])
    assert wait_for(lambda: abs(receive.getPayload() - 2.0) < 1e-9)
    assert receive.getPayloadCog() == pytest.approx([0, 0, 0.05])
    time.sleep(0.02)
    heavy = control.getJointTorques()
    assert abs(heavy[1]) > abs(light[1]) + 5  # 2 kg at half a metre
    assert control.setTargetPayload(1.0, [0, 0, 0.02], [0.01, 0.01, 0.01, 0, 0, 0])
    assert wait_for(lambda: abs(receive.getPayload() - 1.0) < 1e-9)
    assert receive.getPayloadInertia() == pytest.approx([0.01, 0.01, 0.01, 0, 0, 0])
    assert control.setGravity([0, 0, 9.82])
    assert control.setPayload(0.0, [0, 0, 0])


def test_a_target_that_is_no_number_ends_the_script(at_home: Clients) -> None:
    before = at_home.receive.getTargetQ()
    at_home.control.servoJ([float("nan"), *HOME[1:]], 0, 0, 0.002, 0.1, 300)
    assert wait_for(lambda: at_home.receive.getRuntimeState() == 1)
    assert at_home.receive.getTargetQ() == pytest.approx(before, abs=1e-9)
    assert at_home.control.kickWatchdog() is False  # clears the command before the next upload
    at_home.reload()


def test_payload_beyond_the_rating_ends_the_script(at_home: Clients) -> None:
    assert at_home.control.setPayload(20.0, [0, 0, 0]) is False
    assert wait_for(lambda: at_home.receive.getRuntimeState() == 1)
    at_home.reload()


def test_modes_that_are_taken(at_home: Clients) -> None:
    control = at_home.control
    assert control.forceMode([0] * 6, [0, 0, 1, 0, 0, 0], [0, 0, -10, 0, 0, 0], 2, [0.1] * 6)
    assert control.forceModeSetDamping(0.1)
    assert control.forceModeSetGainScaling(0.5)
    assert control.forceModeStop()
    assert control.teachMode()
    assert wait_for(lambda: control.getRobotStatus() & 4)
    assert control.endTeachMode()
    assert control.freedriveMode([1, 1, 1, 0, 0, 0], [0] * 6)
    assert control.getFreedriveStatus() == 0
    assert control.endFreedriveMode()
    assert control.ftRtdeInputEnable(False, 0.0, [0, 0, 0], [0, 0, 0])
    assert control.enableExternalFtSensor(False, 0.0, [0, 0, 0], [0, 0, 0])
    assert control.setExternalForceTorque([0, 0, 1, 0, 0, 0])
    assert control.zeroFtSensor()


def test_steady_step_time_history_waypoint(at_home: Clients) -> None:
    control, receive = at_home.control, at_home.receive
    assert wait_for(control.isSteady)
    assert control.getStepTime() in (0, pytest.approx(0.002))  # the value may be a cycle old
    time.sleep(0.02)
    assert control.getStepTime() == pytest.approx(0.002)
    settled(receive)
    control.getActualJointPositionsHistory(10)
    time.sleep(0.02)
    assert np.allclose(control.getActualJointPositionsHistory(10), HOME, atol=1e-3)
    goal = pose_offset(receive.getActualTCPPose(), z=-0.05)
    assert control.moveL(goal, 0.05, 0.5, True)
    time.sleep(0.05)
    assert not control.isSteady()
    assert control.getTargetWaypoint() == pytest.approx(goal, abs=1e-4)
    control.stopL(5.0)


def test_tool_contact_and_contact_detection(at_home: Clients) -> None:
    control, receive, emulator = at_home.control, at_home.receive, at_home.emulator
    start = receive.getActualTCPPose()
    emulator.ask(world={"plane_z_m": start[2] - 0.05, "stiffness_n_m": 20000})
    down = [0, 0, -1, 0, 0, 0]
    control.toolContact(down)
    time.sleep(0.02)
    assert control.toolContact(down) == 0
    assert control.moveUntilContact([0, 0, -0.05, 0, 0, 0], down, 0.5)
    settled(receive)
    assert abs(receive.getActualTCPPose()[2] - start[2] + 0.05) < 1e-3
    assert control.moveL(start, 0.2, 1.0)
    assert control.startContactDetection([0, 0, 0, 0, 0, 0])
    assert control.moveL(pose_offset(start, z=-0.2), 0.05, 0.5, True)
    assert wait_for(lambda: receive.getActualTCPSpeed()[2] < -0.01)
    assert wait_for(lambda: receive.getTargetTCPSpeed()[2] > 0.01, 4.0)  # on its way back
    assert wait_for(lambda: receive.getTargetTCPSpeed()[2] == 0)
    time.sleep(0.2)
    assert control.readContactDetection()
    assert control.stopContactDetection()
    settled(receive)
    assert abs(receive.getActualTCPPose()[2] - start[2] + 0.05) < 2e-3
    emulator.ask(world={"plane_z_m": None})


def test_watchdog_stops_the_program_and_disarms_with_it(at_home: Clients) -> None:
    control, receive = at_home.control, at_home.receive
    assert control.setWatchdog(10.0)
    for _ in range(10):
        time.sleep(0.05)
        assert control.kickWatchdog()
    assert control.isProgramRunning()
    assert control.speedJ([0.2, 0, 0, 0, 0, 0], 2.0)
    stopped = time.monotonic()
    assert wait_for(lambda: receive.getRuntimeState() == 1, 1.0)
    assert 0.08 < time.monotonic() - stopped < 0.4
    assert max(abs(v) for v in receive.getTargetQd()) < 1e-9
    # The command register still says speedJ: uploaded now, the script would take up that motion
    # again. A call while nothing runs clears it.
    assert control.kickWatchdog() is False
    at_home.reload()
    time.sleep(0.3)
    assert control.isProgramRunning()  # no watchdog after the upload
    assert max(abs(v) for v in receive.getTargetQd()) < 1e-9


def test_custom_scripts(at_home: Clients) -> None:
    script = "set_standard_digital_out(2, True)\nwrite_output_integer_register(14, 77)\nsleep(0.05)"
    assert at_home.control.sendCustomScriptFunction("mark", script)
    assert wait_for(lambda: at_home.receive.getOutputIntRegister(14) == 77)
    assert at_home.receive.getDigitalOutState(2)
    assert at_home.control.isProgramRunning()


def test_stop_script(at_home: Clients) -> None:
    at_home.control.stopScript()
    assert wait_for(lambda: at_home.receive.getRuntimeState() == 1)
    assert at_home.control.moveJ(HOME) is False
    at_home.reload()


def test_protective_stop_unlock_and_upload(at_home: Clients) -> None:
    control, receive = at_home.control, at_home.receive
    assert control.moveJ([HOME[0] + 1.5, *HOME[1:]], 1.0, 4.0, True)
    assert wait_for(lambda: receive.getActualQd()[0] > 0.5)
    control.triggerProtectiveStop()
    assert wait_for(receive.isProtectiveStopped)
    assert wait_for(lambda: receive.getRuntimeState() == 4)
    assert receive.getSafetyMode() == 3
    assert not control.isProgramRunning()
    assert control.moveJ(HOME) is False
    assert "5s" in at_home.emulator.dashboard("unlock protective stop")[0]
    assert receive.isProtectiveStopped()
    time.sleep(5.1)
    assert at_home.emulator.dashboard("unlock protective stop") == ["Protective stop releasing"]
    assert wait_for(lambda: not receive.isProtectiveStopped())
    at_home.reload()
    assert control.moveJ(HOME, 1.0, 4.0)


def test_upper_registers_and_ownership() -> None:
    flags = RTDEControlInterface.FLAG_UPLOAD_SCRIPT | RTDEControlInterface.FLAG_UPPER_RANGE_REGISTERS
    flags |= RTDEControlInterface.FLAG_NO_EXT_FT
    with Emulator() as emulator:
        control = RTDEControlInterface(emulator.host, 500.0, flags)
        assert control.moveJ([HOME[0] + 0.1, *HOME[1:]], 1.0, 4.0)
        assert control.setWatchdog(10.0)
        with pytest.raises(RuntimeError, match="already in use"):
            RTDEControlInterface(emulator.host, 500.0, flags)
        control.disconnect()
        again = RTDEControlInterface(emulator.host, 500.0, flags)  # released on close
        assert again.moveJ(HOME, 1.0, 4.0)
        again.disconnect()


def test_dynamics_of_newer_controllers() -> None:
    with Emulator("--polyscope-version", "5.26.0.1") as emulator:
        control = RTDEControlInterface(emulator.host)
        assert np.allclose(control.getTargetJointAccelerations(), 0)
        for _ in range(2):  # the first answer may hold registers of the cycle before
            mass = np.array(control.getMassMatrix([])).reshape(6, 6)
            time.sleep(0.02)
        assert np.allclose(mass, mass.T) and np.all(np.linalg.eigvalsh(mass) > 0)
        for _ in range(2):
            jacobian = np.array(control.getJacobian([], [])).reshape(6, 6).T
            time.sleep(0.02)
        h, q = 1e-6, np.array(HOME)
        numeric = np.zeros((3, 6))
        for i in range(6):
            up, down = q.copy(), q.copy()
            up[i] += h
            down[i] -= h
            ahead = np.array(control.getForwardKinematics(list(up), NO_OFFSET))
            behind = np.array(control.getForwardKinematics(list(down), NO_OFFSET))
            numeric[:, i] = (ahead - behind)[:3] / (2 * h)
        assert np.allclose(jacobian[:3], numeric, atol=1e-6)
        for _ in range(2):
            coriolis = control.getCoriolisAndCentrifugalTorques([], [])
            derivative = control.getJacobianTimeDerivative([], [], [])
            time.sleep(0.02)
        assert np.allclose(coriolis, 0, atol=1e-9) and np.allclose(derivative, 0, atol=1e-9)
        receive = RTDEReceiveInterface(emulator.host)
        for _ in range(100):
            begin = control.initPeriod()
            assert control.directTorque([0, 0, 0, 0, 0, 0.5], [], [])
            control.waitPeriod(begin)
        assert receive.getActualQ()[5] > 0.005
        time.sleep(0.1)
        assert receive.getActualQd()[5] > 0.01  # the register keeps the command: the torque goes on
        control.getStepTime()
        assert wait_for(lambda: abs(receive.getActualQd()[5]) < 1e-4)
        receive.disconnect()
        control.disconnect()
