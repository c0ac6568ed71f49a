import { configDefaults, defineConfig } from "vitest/config";

// Tests that need the robot workstation's addons and emulators; `npm run test:native` runs them.
const RIG_TESTS = "**/*.rig.test.ts";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "backends/**/*.test.ts",
      "skills/**/*.test.ts",
      "scripts/**/*.test.ts",
      "tests/**/*.test.ts",
    ],
    exclude: [...configDefaults.exclude, ...(process.env.S2R_RIG === "1" ? [] : [RIG_TESTS])],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
