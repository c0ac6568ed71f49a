import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { performance } from "node:perf_hooks";

/** Ports of a UR controller. */
export const UR_PORTS = { dashboard: 29999, rtde: 30004, script: 30003, secondary: 30002, primary: 30001 };

/**
 * One TCP exchange under a deadline: sends `ask` (after the peer's first bytes where `greets`), gives the first answer
 * and the time that it took. Never waits longer than `deadline_ms`, whatever the peer does.
 */
function exchange(host, port, { ask, greets = false, deadline_ms = 1000 }) {
  return new Promise((resolve) => {
    const began = performance.now();
    let asked = began;
    let greeting = null;
    const socket = connect({ host, port });
    const end = (result) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ ms: performance.now() - asked, ...result });
    };
    const timer = setTimeout(
      () =>
        end({
          problem: socket.connecting
            ? `no answer to a connection within ${deadline_ms} ms`
            : `accepts a connection, then says nothing within ${deadline_ms} ms`,
        }),
      deadline_ms,
    );
    const send = () => {
      asked = performance.now();
      socket.write(ask);
    };
    socket.on("error", (error) => end({ problem: error.code ?? error.message }));
    socket.on("close", () => end({ problem: "closes the connection at once" }));
    socket.on("connect", () => {
      if (ask && !greets) send();
    });
    socket.on("data", (bytes) => {
      if (greets && ask && greeting === null) {
        greeting = bytes;
        send();
      } else end({ bytes, greeting });
    });
  });
}

/** The IPv4 address of a host name, or the problem with it. */
export async function probeName(name, deadline_ms = 3000) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ problem: `is not looked up within ${deadline_ms} ms` }), deadline_ms);
  });
  const found = lookup(name, { family: 4 }).then(
    ({ address }) => ({ address }),
    (error) => ({ problem: `cannot be looked up (${error.code ?? error.message})` }),
  );
  const answer = await Promise.race([found, late]);
  clearTimeout(timer);
  return answer;
}

/** The dashboard's answers to `questions`, one connection each; null where it does not answer. */
export async function probeDashboard(host, port = UR_PORTS.dashboard, deadline_ms = 1000) {
  const ask = (words) => exchange(host, port, { ask: `${words}\n`, greets: true, deadline_ms });
  const mode = await ask("robotmode");
  if (mode.problem) return { problem: mode.problem };
  if (!/Dashboard Server/i.test(mode.greeting.toString()))
    return { problem: `is no dashboard: it greets with ${JSON.stringify(mode.greeting.toString().slice(0, 60))}` };
  const text = ({ bytes, problem }) => (problem ? null : bytes.toString().trim());
  return {
    ms: mode.ms,
    mode: text(mode)?.replace(/^Robotmode:\s*/i, "") ?? null,
    safety: text(await ask("safetystatus"))?.replace(/^Safetystatus:\s*/i, "") ?? null,
    remote: text(await ask("is in remote control")),
    version: /\d+\.\d+(\.\d+)*/.exec(text(await ask("PolyscopeVersion")) ?? "")?.[0] ?? null,
  };
}

/** Asks for version 2 of the protocol and reads the reply: a controller whose RTDE hangs accepts connections too. */
export async function probeRtde(host, port = UR_PORTS.rtde, deadline_ms = 1000) {
  const reply = await exchange(host, port, { ask: Buffer.from([0, 5, 0x56, 0, 2]), deadline_ms });
  if (reply.problem) return { problem: reply.problem };
  const { bytes } = reply;
  if (bytes.length < 4 || bytes[2] !== 0x56) return { problem: "does not speak RTDE" };
  return bytes[3] === 1 ? { ms: reply.ms } : { problem: "refuses version 2 of RTDE: update PolyScope" };
}

/** Whether the robot-state stream of a script or primary port flows. */
export async function probeStream(host, port, deadline_ms = 1000) {
  const { problem, ms } = await exchange(host, port, { deadline_ms });
  return problem ? { problem } : { ms };
}
