/**
 * Entry point of the guest process: one program at a time, each in a fresh interpreter. It reads and writes one JSON message per line
 * and blocks while it waits: nothing else can happen here meanwhile, and what it writes has left before the guest computes on.
 */
import { readFileSync, readSync, writeSync } from "node:fs";
import { GuestMemory } from "./guest-memory.js";
import type { FromGuest, ToGuest } from "./guest-messages.js";
import { GuestVm } from "./guest-vm.js";
import { ownCpu_s } from "./turn-clock.js";

const NEWLINE = 10;
const chunk = Buffer.alloc(65_536);
let unread: Buffer = Buffer.alloc(0);

function send(message: FromGuest): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

/** The next message, or undefined when the parent has closed the pipe or died. */
function receive(): ToGuest | undefined {
  const parts: Buffer[] = [];
  for (;;) {
    const end = unread.indexOf(NEWLINE);
    if (end >= 0) {
      parts.push(unread.subarray(0, end));
      unread = unread.subarray(end + 1);
      return JSON.parse(Buffer.concat(parts).toString("utf8")) as ToGuest;
    }
    if (unread.length > 0) parts.push(unread);
    const count = readSync(0, chunk);
    if (count === 0) return undefined;
    unread = Buffer.from(chunk.subarray(0, count));
  }
}

process.env.TZ = "UTC";
const [wasmPath = "", memory_MB = ""] = process.argv.slice(2);
const wasmModule = await WebAssembly.compile(readFileSync(wasmPath));
let memory = await GuestMemory.create(Number(memory_MB), wasmModule);
send({ type: "ready", processCpu_s: ownCpu_s() });

let guest: GuestVm | undefined;
for (let message = receive(); message !== undefined; message = receive()) {
  if (message.type === "run") {
    const limit_MB = message.quotas.memory_MB;
    if (memory.limit_MB !== limit_MB) memory = await GuestMemory.create(limit_MB, wasmModule);
    guest = new GuestVm(memory, message, send);
    guest.start();
  } else guest?.settle(message);
  if (guest?.over === true) {
    guest = undefined;
    memory = await GuestMemory.create(memory.limit_MB, wasmModule);
    send({ type: "ready", processCpu_s: ownCpu_s() });
  }
}
