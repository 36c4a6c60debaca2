import { defineConfig } from "vitest/config";
import { mutationFolder } from "./test/mutation-folders.ts";

/** Stryker runs, for each change that it makes, the tests that cover the changed line (`npm run test:mutation`). */
export default defineConfig({
  test: {
    include: mutationFolder().tests.map((pattern) =>
      pattern.endsWith("**") ? `${pattern}/*.test.ts` : pattern,
    ),
    exclude: ["test/**/{properties,costs,upgrade,backup,concurrent-processes}.test.ts"],
    bail: 1,
    testTimeout: 20_000,
  },
});
