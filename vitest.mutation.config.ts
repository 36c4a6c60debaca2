import { defineConfig } from "vitest/config";

/** Stryker runs, for each change that it makes, the tests that cover the changed line (`npm run test:mutation`). */
export default defineConfig({
  test: {
    include: ["test/{auth,engine,queue,store,tools}/**/*.test.ts"],
    // These start processes, or generate many cases.
    exclude: ["test/**/{properties,costs,upgrade,backup,concurrent-processes}.test.ts"],
    bail: 1,
    testTimeout: 20_000,
  },
});
