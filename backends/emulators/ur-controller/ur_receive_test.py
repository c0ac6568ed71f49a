"""The independent client's receive, IO and dashboard interfaces."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
from dashboard_client import DashboardClient
from emulator import Emulator, wait_for
from rtde_control import RTDEControlInterface
from rtde_io import RTDEIOInterface
from rtde_receive import RTDEReceiveInterface


def test_every_getter_of_the_receive_interface(shared: Emulator) -> None:
    receive = RTDEReceiveInterface(shared.host)
    vectors = [
        receive.getTargetQ(), receive.getTargetQd(), receive.getTargetQdd(),
        receive.getTargetCurrent(), receive.getTargetMoment(), receive.getActualQ(),
        receive.getActualQd(), receive.getActualCurrent(), receive.getJointControlOutput(),
        receive.getActualTCPPose(), receive.getActualTCPSpeed(), receive.getActualTCPForce(),
        receive.getTargetTCPPose(), receive.getTargetTCPSpeed(), receive.getJointTemperatures(),
        receive.getFtRawWrench(), receive.getActualJointVoltage(), receive.getPayloadInertia(),
    ]  # fmt: skip
    assert all(len(v) == 6 and all(math.isfinite(x) for x in v) for v in vectors)
    assert receive.getJointMode() == [253] * 6
    assert receive.getRobotMode() == 7
    assert receive.getSafetyMode() == 1
    assert receive.getSafetyStatusBits() == 1
    assert receive.getRuntimeState() == 1
    assert receive.getRobotStatus() == 1
    assert receive.getTargetSpeedFraction() == 1.0
    assert receive.getSpeedScaling() == 1.0
    assert receive.getSpeedScalingCombined() == 1.0
    assert receive.getActualMainVoltage() == 48
    assert receive.getActualRobotVoltage() == 48
    assert receive.getActualDigitalInputBits() == 0
    assert receive.getActualToolAccelerometer() == pytest.approx([0, 0, -9.82], abs=1e-6)
    assert not receive.isProtectiveStopped() and not receive.isEmergencyStopped()
    assert receive.getActualMomentum() == pytest.approx(0, abs=1e-6)
    for number in range(12, 20):
        assert receive.getOutputIntRegister(number) == 0
        assert receive.getOutputDoubleRegister(number) == 0
    before = receive.getTimestamp()
    time.sleep(0.5)
    assert 0.4 < receive.getTimestamp() - before < 0.7
    receive.disconnect()


def test_chosen_variables_and_recording(shared: Emulator, tmp_path: Path) -> None:
    receive = RTDEReceiveInterface(shared.host, 125.0, ["timestamp", "actual_q"])
    path = tmp_path / "record.csv"
    assert receive.startFileRecording(str(path), ["timestamp", "actual_q"])
    time.sleep(0.3)
    assert receive.stopFileRecording()
    rows = path.read_text().splitlines()
    assert rows[0].startswith("timestamp,actual_q_0") and len(rows) > 20
    receive.disconnect()


def test_unknown_variable_is_named(shared: Emulator) -> None:
    with pytest.raises(RuntimeError, match="no_such_thing"):
        RTDEReceiveInterface(shared.host, 125.0, ["timestamp", "no_such_thing"])


def test_io_interface(shared: Emulator) -> None:
    io, receive = RTDEIOInterface(shared.host), RTDEReceiveInterface(shared.host)
    assert io.setStandardDigitalOut(3, True)
    assert wait_for(lambda: receive.getDigitalOutState(3))
    assert io.setStandardDigitalOut(3, False)
    assert wait_for(lambda: not receive.getDigitalOutState(3))
    assert io.setConfigurableDigitalOut(1, True)
    assert wait_for(lambda: receive.getDigitalOutState(9))
    assert io.setToolDigitalOut(1, True)
    assert wait_for(lambda: receive.getDigitalOutState(17))
    assert io.setSpeedSlider(0.5)
    assert wait_for(lambda: receive.getTargetSpeedFraction() == 0.5)
    assert wait_for(lambda: abs(receive.getSpeedScalingCombined() - 0.5) < 1e-6)
    assert io.setSpeedSlider(1.0)
    assert io.setAnalogOutputVoltage(0, 0.25)
    assert wait_for(lambda: abs(receive.getStandardAnalogOutput0() - 2.5) < 1e-9)
    assert io.setAnalogOutputCurrent(1, 0.5)
    assert wait_for(lambda: abs(receive.getStandardAnalogOutput1() - 0.012) < 1e-9)
    for number in range(18, 23):
        assert io.setInputIntRegister(number, 1000 + number)
        assert io.setInputDoubleRegister(number, 0.5 + number)
    names = ["input_int_register_18", "input_double_register_22", "timestamp"]
    echo = RTDEReceiveInterface(shared.host, 500.0, names)  # the client cannot read them back
    echo.disconnect()
    io.disconnect()
    receive.disconnect()


def test_second_io_interface_is_refused(shared: Emulator) -> None:
    first = RTDEIOInterface(shared.host)
    with pytest.raises(RuntimeError, match="already in use"):
        RTDEIOInterface(shared.host)
    first.disconnect()
    time.sleep(0.05)
    RTDEIOInterface(shared.host).disconnect()


def test_dashboard_client(shared: Emulator) -> None:
    client = DashboardClient(shared.host)
    client.connect(2000)
    assert client.isConnected()
    assert client.polyscopeVersion() == "5.17.3.128957"
    assert client.getSerialNumber().isdigit()
    assert client.getRobotModel() == "UR5"
    assert client.isInRemoteControl()
    assert client.robotmode() == "Robotmode: RUNNING"
    assert client.safetymode() == "Safetymode: NORMAL"
    assert client.safetystatus() == "Safetystatus: NORMAL"
    assert client.programState().startswith("STOPPED")
    assert not client.running()
    client.loadURP("test.urp")
    assert client.getLoadedProgram() == "Loaded program: /programs/test.urp"
    assert client.isProgramSaved()
    with pytest.raises(RuntimeError, match="Failed to execute: play"):
        client.play()
    with pytest.raises(RuntimeError, match="Failed to execute: pause"):
        client.pause()
    client.stop()
    client.popup("hello")
    client.closePopup()
    client.closeSafetyPopup()
    client.addToLog("line")
    client.restartSafety()
    client.unlockProtectiveStop()
    client.quit()
    client.disconnect()


def test_power_cycle_by_dashboard() -> None:
    with Emulator("--power-step-s", "0.2", "--powered-off") as emulator:
        client = DashboardClient(emulator.host)
        client.connect(2000)
        assert client.robotmode() == "Robotmode: POWER_OFF"
        client.powerOn()
        assert wait_for(lambda: client.robotmode() == "Robotmode: IDLE")
        client.brakeRelease()
        assert wait_for(lambda: client.robotmode() == "Robotmode: RUNNING")
        control = RTDEControlInterface(emulator.host)
        assert client.running() and client.programState() == "PLAYING rtde_control"
        client.powerOff()
        assert client.robotmode() == "Robotmode: POWER_OFF"
        assert wait_for(lambda: not control.isProgramRunning())
        client.brakeRelease()  # powers on as well
        assert wait_for(lambda: client.robotmode() == "Robotmode: RUNNING")
        control.disconnect()
        client.disconnect()


def test_pause_and_play_go_on_with_the_motion() -> None:
    with Emulator() as emulator:
        control, receive = RTDEControlInterface(emulator.host), RTDEReceiveInterface(emulator.host)
        client = DashboardClient(emulator.host)
        client.connect(2000)
        goal = [1.0, *receive.getActualQ()[1:]]
        assert control.moveJ(goal, 1.0, 4.0, True)
        assert wait_for(lambda: receive.getActualQ()[0] > 0.2)
        client.pause()
        assert wait_for(lambda: receive.getRuntimeState() == 4)
        assert client.programState() == "PAUSED rtde_control"
        held = receive.getActualQ()[0]
        time.sleep(0.2)
        assert abs(receive.getActualQ()[0] - held) < 1e-3
        client.play()
        assert wait_for(lambda: receive.getRuntimeState() == 2)
        assert wait_for(lambda: abs(receive.getActualQ()[0] - 1.0) < 1e-3)
        client.disconnect()
        control.disconnect()
        receive.disconnect()
