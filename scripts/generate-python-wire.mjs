// Regenerates the simulator server's protobuf modules from the two backend protocols.
//
//   node scripts/generate-python-wire.mjs            writes backends/sim/server/skill2real_sim/wire/*_pb2.py and .pyi
//   node scripts/generate-python-wire.mjs --check    writes nothing; exits 1 and names the files that are stale
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const contract = join(root, "src", "contract");
const wire = join(root, "backends", "sim", "server", "skill2real_sim", "wire");
const protos = ["device.proto", "privileged.proto"];
const outputs = protos.flatMap((proto) => {
  const stem = proto.replace(".proto", "_pb2");
  return [`${stem}.py`, `${stem}.pyi`];
});

const unknown = process.argv.slice(2).filter((argument) => argument !== "--check");
if (unknown.length > 0) {
  console.error(`generate-python-wire: unknown option ${unknown[0]}; the only one is --check`);
  process.exit(2);
}
const check = process.argv.includes("--check");

const python = join(root, ".venvs", "tools", "bin", "python");
if (!existsSync(python)) {
  console.error(`generate-python-wire: ${python} is missing; run npm run setup first`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "s2r-wire-"));
try {
  const run = spawnSync(
    python,
    ["-m", "grpc_tools.protoc", `-I${contract}`, `--python_out=${scratch}`, `--pyi_out=${scratch}`, ...protos],
    { encoding: "utf8" },
  );
  if (run.status !== 0) {
    console.error(`generate-python-wire: protoc failed\n${run.stderr ?? ""}${run.error?.message ?? ""}`);
    process.exitCode = 2;
  } else {
    const stale = outputs.filter((name) => {
      const target = join(wire, name);
      return !existsSync(target) || readFileSync(target, "utf8") !== readFileSync(join(scratch, name), "utf8");
    });
    if (check) {
      for (const name of stale) console.error(`generate-python-wire: ${name} is stale; run npm run generate`);
      process.exitCode = stale.length > 0 ? 1 : 0;
    } else {
      for (const name of stale) writeFileSync(join(wire, name), readFileSync(join(scratch, name)));
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
