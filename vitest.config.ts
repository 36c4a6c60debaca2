import { defineConfig } from "vitest/config";

/** Folders whose tests run side by side in one process as well as alone. */
const FOLDERS =
  "app,auth,checks,commands,config,connections,core,deploy,docs,engine,examples,packages,queue,resilience,steps,store,surfaces,telemetry,tools";
/** Whose tests run on PostgreSQL too. With MILLRACE_TEST_STORE=postgres all do. */
const ON_POSTGRES = [
  "test/engine/{run-state,executor}/**/*.test.ts",
  "test/queue/*.test.ts",
  "test/tools/{approval-people,bookmarks}.test.ts",
  "test/store/workflow-lists.test.ts",
  "test/surfaces/{parity,project-matrix,mcp-sessions,replicas,workflow-state}.test.ts",
];
const BUILD = "test/support/built.ts";
const POSTGRES_SERVER = "test/support/postgres-server.ts";
const IS_POSTGRES = process.env["MILLRACE_TEST_STORE"] === "postgres";

/** These measure costs or priorities, generate many cases, start threads at a priority of their own, or replace modules. */
const ALONE =
  "properties|costs|limits|calibration|generated|generated-schemas|import-boundaries|threads|worker-thread|" +
  "child-pool|upgrade|backup|concurrent-processes|runs|compute-layout";
const SHARED = `test/{${FOLDERS}}/**/!(${ALONE}).test.ts`;
const WEB = `test/web/**/!(${ALONE}).test.ts`;

/** Without what replaces modules, Node finds them in a third of the time. */
const NO_MOCKS = { viteModuleRunner: false, nodeLoader: false };

export default defineConfig({
  test: {
    pool: "forks",
    // Node loads the modules itself, as it does for the program: half the time of Vite's loader.
    experimental: { viteModuleRunner: false },
    // Much of the time is spent waiting for processes: two at a time are no slower each.
    maxWorkers: 2,
    // Limits for what hangs: a busy machine takes several times as long as an idle one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    globalSetup: IS_POSTGRES ? [BUILD, POSTGRES_SERVER] : [BUILD],
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: ["test/system/**", "test/clients/**", SHARED, WEB],
        },
      },
      {
        extends: true,
        // A process runs many of these files and imports the program once. For each file that takes half a second.
        test: { name: "shared", include: [SHARED], isolate: false, experimental: NO_MOCKS },
      },
      {
        extends: true,
        // Node reads no JSX, so Vite loads what these import.
        test: { name: "web", include: [WEB], isolate: false, experimental: { viteModuleRunner: true } },
      },
      {
        extends: true,
        // It replaces a module.
        test: {
          name: "pages",
          include: ["test/web/**/*.test.tsx"],
          experimental: { viteModuleRunner: true },
        },
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
