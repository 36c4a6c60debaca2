import { defineConfig } from "vitest/config";
import { IS_POSTGRES, NO_MOCKS, POSTGRES_SERVER, shared } from "./test/support/vitest/shared.ts";

/** These replace modules. */
const WITH_MOCKS = ["test/store/backup.test.ts", "test/web/workflows/recent-runs.test.ts"];
/** These count what a process has as a whole: its sockets, its children, its memory. */
const ALONE = [
  "test/surfaces/{http-server,rest-input}.test.ts",
  "test/commands/start-steps.test.ts",
  "test/connections/databases/{child-pool,postgres,sqlite,duckdb}.test.ts",
];
/** These start the program in processes. */
const PROCESSES = [
  "test/commands/{backup,doctor,edit-workflows,keys,loaded-modules,log,metrics,migrate-state,moved-state,outgoing-proxy}.test.ts",
  "test/commands/{postgres,projects,run,run-step,runs,secret-files,storage,usage,worker,workflows}.test.ts",
  "test/store/{first-admin,lock-holder,older-copies}.test.ts",
  "test/surfaces/replicas.test.ts",
];
/** These run on PostgreSQL too. With MILLRACE_TEST_STORE=postgres all do. */
const ON_POSTGRES = [
  "test/queue/*.test.ts",
  "test/engine/executor/{backtests,interruption-races,runs}.test.ts",
];

/** The tests of the first gate: all but the long ones (vitest.long.config.ts) and the smoke test (vitest.smoke.config.ts). */
export default defineConfig({
  test: {
    ...shared,
    projects: [
      {
        extends: true,
        // A process runs many of these files and imports the program once. For each file that takes half a second.
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: ["test/{long,clients,smoke,web}/**", ...PROCESSES, ...WITH_MOCKS, ...ALONE],
          isolate: false,
          experimental: NO_MOCKS,
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: PROCESSES,
          isolate: false,
          experimental: NO_MOCKS,
          retry: 1,
        },
      },
      {
        extends: true,
        // Node reads no JSX, so Vite loads what these import.
        test: {
          name: "web",
          include: ["test/web/**/*.test.{ts,tsx}"],
          exclude: WITH_MOCKS,
          isolate: false,
          experimental: { viteModuleRunner: true },
        },
      },
      {
        extends: true,
        test: { name: "mocks", include: WITH_MOCKS, experimental: { viteModuleRunner: true } },
      },
      {
        extends: true,
        test: { name: "alone", include: ALONE, experimental: NO_MOCKS },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: IS_POSTGRES ? [] : ON_POSTGRES,
          isolate: false,
          experimental: NO_MOCKS,
          globalSetup: [POSTGRES_SERVER],
          env: { MILLRACE_TEST_STORE: "postgres" },
        },
      },
    ],
  },
});
