import { defineConfig } from "vitest/config";

/** The tests that start no process and open no port: an answer in seconds while you work. */
export default defineConfig({
  test: {
    include: ["test/{auth,checks,config,core,engine,queue,steps,store,telemetry,web}/**/*.test.ts"],
    exclude: [
      // These generate many cases, measure costs, copy databases, or lay out large graphs.
      "test/**/{properties,costs,limits,upgrade,backup,concurrent-processes,compute-layout}.test.ts",
      "test/engine/executor/runs.test.ts",
      "test/checks/{import-boundaries,generated-schemas}.test.ts",
    ],
    pool: "forks",
    maxWorkers: 2,
    // The files share what they import; none of them changes a global.
    isolate: false,
    testTimeout: 20_000,
  },
});
