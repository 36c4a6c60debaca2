import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { NO_MOCKS, POSTGRES_SERVER, shared } from "./test/support/vitest/shared.ts";

const MINUTE = 60_000;
const PATIENCE = Number(shared.env.TEST_PATIENCE);

/** These measure, stop processes at exact moments, mount file systems, or load the whole machine. */
const ONE_AT_A_TIME = { fileParallelism: false };

/** The files of the first gate that import one of the modules of test/support. */
const importing = (...modules: string[]): string[] =>
  globSync("test/**/*.test.ts", { exclude: (path) => path.startsWith("test/clients/") }).filter((file) => {
    const text = readFileSync(file, "utf8");
    return !file.startsWith("test/long/") && modules.some((name) => text.includes(name));
  });

/**
 * The long gate, in parts that can be run alone: `npm run test:long -- web`. A part is a folder of test/long; some repeat files of the
 * first gate in another way. A tool that is missing fails the test.
 */
export default defineConfig({
  test: {
    ...shared,
    env: { ...shared.env, TEST_RANDOM: "1" },
    testTimeout: 7 * MINUTE * PATIENCE,
    hookTimeout: 3 * MINUTE * PATIENCE,
    projects: [
      part("web", { maxWorkers: 2 }),
      part("kills", ONE_AT_A_TIME),
      part("deploy", ONE_AT_A_TIME),
      part("load", ONE_AT_A_TIME),
      part("databases"),
      part("clients", { ...ONE_AT_A_TIME, include: ["test/clients/*.test.ts"] }),
      // The random tests of the first gate, with new cases and more of them.
      part("generated", {
        include: importing("fast-check", "random.ts"),
        // Node reads no JSX, which files of test/web import.
        experimental: { viteModuleRunner: true },
      }),
      // As many processes as there are processors, whatever waits for them.
      part("simulation", { ...ONE_AT_A_TIME, maxConcurrency: 2 }),
      // The tests of the first gate that have limits of time, which are measured here.
      part("costs", {
        ...ONE_AT_A_TIME,
        include: importing("expect-cost.ts"),
        experimental: { viteModuleRunner: true },
        env: { TEST_COSTS: "1", TEST_RANDOM: "0" },
      }),
      // The tests of the first gate whose state can be in PostgreSQL, with their state there.
      part("postgres", {
        include: [
          "test/engine/{run-state,executor}/**/*.test.ts",
          "test/queue/*.test.ts",
          "test/store/workflow-lists.test.ts",
          "test/tools/listed-values.test.ts",
          "test/surfaces/{parity,project-matrix,roles-matrix,mcp-sessions,replicas,workflow-state}.test.ts",
        ],
        isolate: false,
        experimental: NO_MOCKS,
        globalSetup: [POSTGRES_SERVER],
        env: { MILLRACE_TEST_STORE: "postgres", TEST_RANDOM: "0" },
      }),
    ],
  },
});

interface PartOptions {
  /** Files beside those of its folder. */
  include?: string[];
  fileParallelism?: boolean;
  maxWorkers?: number;
  maxConcurrency?: number;
  isolate?: boolean;
  experimental?: { viteModuleRunner: boolean; nodeLoader?: boolean };
  globalSetup?: string[];
  env?: Record<string, string>;
}

function part(name: string, { include = [], ...options }: PartOptions = {}) {
  return {
    extends: true as const,
    test: { name, include: [`test/long/${name}/**/*.test.ts`, ...include], ...options },
  };
}
