import { describe, expect, it } from "vitest";
import { controllerAddress } from "./controller-address.js";

describe("the address of a controller", () => {
  it("is what is written where that is numeric, without asking anybody", async () => {
    const asked: string[] = [];
    const lookUp = async (name: string): Promise<string> => {
      asked.push(name);
      return "10.0.0.2";
    };
    expect(await controllerAddress("192.168.1.10", { lookUp })).toBe("192.168.1.10");
    expect(asked).toEqual([]);
    expect(await controllerAddress("ur5e.lab", { lookUp })).toBe("10.0.0.2");
    expect(asked).toEqual(["ur5e.lab"]);
  });

  it("is asked of the system's resolver", async () => {
    expect(await controllerAddress("localhost")).toBe("127.0.0.1");
  });

  it("is an error in words where a name is unknown, the resolver hangs, or it is of the other family", async () => {
    const unknown = controllerAddress("ur5e.lab", {
      lookUp: () => Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" })),
    });
    await expect(unknown).rejects.toMatchObject({
      code: "arm_unreachable",
      message: expect.stringMatching(
        /"ur5e\.lab", a name that cannot be looked up \(ENOTFOUND\): write the controller's/,
      ),
    });
    const hangs = controllerAddress("ur5e.lab", { deadlineMs: 20, lookUp: () => new Promise(() => {}) });
    await expect(hangs).rejects.toMatchObject({ code: "arm_unreachable", message: expect.stringContaining("20 ms") });
    await expect(controllerAddress("fe80::1")).rejects.toMatchObject({ message: expect.stringContaining("IPv6") });
  });
});
