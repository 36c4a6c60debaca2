/** Settings that all configurations of vitest share. */
import type { ViteUserConfig } from "vitest/config";
import { measurePatience } from "../patience.ts";
import { reportRetries } from "./report-retries.ts";

const patience = measurePatience();

const BUILD = "test/support/built.ts";
export const POSTGRES_SERVER = "test/support/postgres-server.ts";

/** Whether all tests have their state in PostgreSQL. */
export const IS_POSTGRES = process.env["MILLRACE_TEST_STORE"] === "postgres";

/** Nothing replaces modules: Node loads them itself, in a third of the time that Vite needs. */
export const NO_MOCKS = { viteModuleRunner: false, nodeLoader: false };

export const shared = {
  pool: "forks",
  // Node loads the modules, as it does for the program.
  experimental: { viteModuleRunner: false },
  // Much of the time is spent waiting for processes and files, so three keep two cores busy.
  maxWorkers: 3,
  // Limits for what hangs.
  testTimeout: 120_000 * patience,
  hookTimeout: 120_000 * patience,
  expect: { poll: { timeout: 15_000 * patience, interval: 20 } },
  setupFiles: ["test/support/vitest/fixed-cases.ts"],
  env: { TEST_PATIENCE: String(patience) },
  globalSetup: IS_POSTGRES ? [BUILD, POSTGRES_SERVER] : [BUILD],
  reporters: ["default", reportRetries],
} satisfies ViteUserConfig["test"];
