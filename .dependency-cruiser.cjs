// The folder table of docs/architecture.md as rules: what each folder may import.
const only = (name, from, allowed) => ({
  name,
  severity: "error",
  comment: `${from} may import only ${allowed.join(", ")}`,
  from: { path: `^${from}/`, pathNot: "\\.test\\.ts$" },
  to: { path: "^(src|skills|backends|scripts|tests)/", pathNot: [`^${from}/`, ...allowed.map((path) => `^${path}/`)] },
});

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } } },
    only("contract-uses-nothing", "src/contract", []),
    only("program", "src/program", ["src/contract"]),
    only("runtime", "src/runtime", ["src/contract"]),
    only("config", "src/config", ["src/contract"]),
    only("memory", "src/memory", ["src/contract", "src/program"]),
    only("skills", "skills", ["src/contract", "src/runtime"]),
    only("agents", "src/agents", ["src/contract", "src/runtime", "src/program", "src/memory", "src/config"]),
    only("evaluation", "src/evaluation", ["src/contract", "src/runtime", "src/program", "src/memory", "src/agents", "src/config", "backends"]),
    only("backends", "backends", ["src/contract", "src/runtime", "src/config"]),
    {
      name: "privileged-wall",
      severity: "error",
      comment: "The Proposer's side never holds what reads privileged state",
      from: { path: "^(src/(runtime|program|agents|memory|config)|skills)/" },
      to: { path: "(privileged|^src/evaluation/|^backends/)" },
    },
  ],
  options: { doNotFollow: { path: "node_modules" }, tsPreCompilationDeps: true, tsConfig: { fileName: "tsconfig.json" }, exclude: { path: "^(dist|build)/" }, enhancedResolveOptions: { extensions: [".ts", ".js", ".mjs"] } },
};
