import { defineConfig } from "vitest/config";
import { mutationFolder } from "./test/mutation/folders.ts";
import { keptThread } from "./test/mutation/kept-thread.ts";
import { QuickTestsFirst } from "./test/mutation/quick-tests-first.ts";

/** Stryker runs, for each change that it makes, the tests that cover the changed line (`npm run test:mutation`). */
export default defineConfig({
  plugins: [keptThread],
  test: {
    include: mutationFolder().tests.map((pattern) =>
      pattern.endsWith("**") ? `${pattern}/*.test.ts` : pattern,
    ),
    exclude: ["test/**/{properties,costs,upgrade,backup,concurrent-processes}.test.ts"],
    setupFiles: ["test/mutation/no-mutant.ts"],
    sequence: { sequencer: QuickTestsFirst },
    isolate: false,
    bail: 1,
    // Many changes are noticed because something never happens: the tests wait for it this long.
    env: { EVENTUALLY_MS: "3000" },
    testTimeout: 6_000,
    hookTimeout: 6_000,
  },
});
