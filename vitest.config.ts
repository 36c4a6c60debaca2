import { defineConfig } from "vitest/config";

/** Folders whose tests run side by side in one process as well as alone. */
const FOLDERS = "auth,checks,config,core,deploy,docs,engine,examples,queue,steps,store,telemetry,tools,web";
/** Whose tests run on PostgreSQL too. With MILLRACE_TEST_STORE=postgres all do. */
const ON_POSTGRES = [
  "test/engine/{run-state,executor}/**/*.test.ts",
  "test/queue/*.test.ts",
  "test/surfaces/{parity,project-matrix,mcp-sessions,replicas}.test.ts",
];
const BUILD = "test/support/built.ts";
const POSTGRES_SERVER = "test/support/postgres-server.ts";
const IS_POSTGRES = process.env["MILLRACE_TEST_STORE"] === "postgres";

/** These measure costs or priorities, generate many cases, start threads at a priority of their own, or replace modules. */
const ALONE =
  "properties|costs|limits|calibration|generated|generated-schemas|import-boundaries|threads|worker-thread|" +
  "upgrade|backup|concurrent-processes|runs|compute-layout|recent-runs";
const SHARED = `test/{${FOLDERS}}/**/!(${ALONE}).test.ts`;

export default defineConfig({
  test: {
    pool: "forks",
    // Much of the time is spent waiting for processes: two at a time are no slower each.
    maxWorkers: 2,
    // Limits for what hangs: a busy machine takes several times as long as an idle one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: IS_POSTGRES ? [BUILD, POSTGRES_SERVER] : [BUILD],
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: ["test/system/**", "test/clients/**", SHARED],
        },
      },
      {
        extends: true,
        // A process runs many of these files and imports the program once. For each file that takes half a second.
        test: { name: "shared", include: [SHARED], isolate: false },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: IS_POSTGRES ? [] : ON_POSTGRES,
          isolate: false,
          globalSetup: [POSTGRES_SERVER],
          env: { MILLRACE_TEST_STORE: "postgres" },
        },
      },
    ],
  },
});
