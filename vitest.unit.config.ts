import { defineConfig } from "vitest/config";
import { NO_MOCKS, shared } from "./test/support/vitest/shared.ts";

/** The tests that start no process and open no port: an answer in seconds while you work. */
export default defineConfig({
  test: {
    ...shared,
    globalSetup: [],
    include: ["test/{auth,checks,config,core,engine,queue,steps,store,telemetry}/**/*.test.ts"],
    exclude: [
      // These generate many cases, copy databases, replace modules, or start processes and threads.
      "test/**/{properties,costs,limits,upgrade,backup,concurrent-processes,generated*}.test.ts",
      "test/**/{postgres*,broken,schedule-times,repeat-properties,threads,worker-thread,runs,evaluator,secrets}.test.ts",
      "test/**/{sql,sql-issues,prepare-run,project-connections,first-admin,lock-holder,older-copies}.test.ts",
      "test/checks/{import-boundaries,generated-schemas}.test.ts",
    ],
    isolate: false,
    experimental: NO_MOCKS,
  },
});
