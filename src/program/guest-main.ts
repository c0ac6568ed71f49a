/** Entry point of the guest process: one program at a time, each in a fresh interpreter. */
import { readFileSync } from "node:fs";
import type { FromGuest, ToGuest } from "./guest-messages.js";
import { GuestMemory, GuestVm } from "./guest-vm.js";

process.env.TZ = "UTC";

const [wasmPath = "", memory_MB = ""] = process.argv.slice(2);
const wasmModule = await WebAssembly.compile(readFileSync(wasmPath));
const send = (message: FromGuest): void => {
  process.send?.(message);
};
let warm: Promise<GuestMemory> = GuestMemory.create(Number(memory_MB), wasmModule);
let guest: GuestVm | undefined;

async function run(message: Extract<ToGuest, { type: "run" }>): Promise<void> {
  let memory = await warm;
  if (memory.limit_MB !== message.quotas.memory_MB) memory = await GuestMemory.create(message.quotas.memory_MB, wasmModule);
  guest = new GuestVm(memory, message, (out) => {
    send(out);
    if (out.type === "returned" || out.type === "threw") warm = GuestMemory.create(message.quotas.memory_MB, wasmModule);
  });
  guest.start();
}

process.on("message", (message: ToGuest) => {
  if (message.type === "run") void run(message);
  else guest?.settle(message);
});
process.on("disconnect", () => process.exit(0));
await warm;
send({ type: "ready" });
