import { afterEach, describe, expect, it, vi } from "vitest";
import { emulatedRig } from "../../../src/config/index.js";
import { CameraDriver } from "../../../src/runtime/native/camera.js";
import { NativeArm } from "./adapters/arm.js";
import { NativeGripper } from "./adapters/gripper.js";
import { openRig } from "./open-rig.js";

const { rig: emulated } = emulatedRig();
const rig = {
  ...emulated,
  cameras: Object.fromEntries(
    Object.entries(emulated.cameras).map(([name, camera]) => [name, { ...camera, address: "ipc:///nowhere" }]),
  ),
};
const OPTIONS = { rig, stop_address: "ipc:///nowhere", speed_cap: 1 };

/** Of the camera that the rig names. */
const serialOf = (name: string): string => {
  const camera = rig.cameras[name];
  return (camera && "serial" in camera && camera.serial) || "";
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** Devices that open, and are asked for nothing but what a rig's opening asks of them. */
function devices({ signalStops = () => {} }: { signalStops?: (descriptor: number) => void }) {
  const closed: string[] = [];
  const close = (name: string) => async (): Promise<void> => {
    closed.push(name);
  };
  const arm = { addon: { signalStops: vi.fn(signalStops) }, close: close("arm") };
  vi.spyOn(NativeArm, "open").mockResolvedValue(arm as unknown as NativeArm);
  const gripper = { addon: { stopDescriptor: 7 }, close: close("gripper") };
  const openGripper = vi.spyOn(NativeGripper, "open").mockResolvedValue(gripper as unknown as NativeGripper);
  vi.spyOn(CameraDriver, "open").mockImplementation(
    async ({ name }) => ({ info: { serial: serialOf(name) }, close: close(name) }) as unknown as CameraDriver,
  );
  return { closed, arm, openGripper };
}

describe("opening a rig", () => {
  it("joins the gripper's stop to the arm's and leaves all open", async () => {
    const { closed, arm } = devices({});
    const opened = await openRig(OPTIONS);
    expect([...opened.cameras.keys()].sort()).toEqual(Object.keys(rig.cameras).sort());
    expect(arm.addon.signalStops.mock.calls).toEqual([[7]]);
    expect(closed).toEqual([]);
  });

  it("closes all devices again where the gripper's stop cannot be joined to the arm's", async () => {
    const refusal = new Error("descriptor 7 cannot be signalled");
    const { closed } = devices({
      signalStops: () => {
        throw refusal;
      },
    });
    await expect(openRig(OPTIONS)).rejects.toBe(refusal);
    expect(closed.sort()).toEqual(["arm", "gripper", ...Object.keys(rig.cameras)].sort());
  });

  it("closes what opened beside a device that does not", async () => {
    const { closed, openGripper } = devices({});
    openGripper.mockRejectedValue(new Error("no gripper"));
    await expect(openRig(OPTIONS)).rejects.toThrow(/^no gripper$/);
    expect(closed.sort()).toEqual(["arm", ...Object.keys(rig.cameras)].sort());
  });
});
