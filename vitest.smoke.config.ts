import { defineConfig } from "vitest/config";
import { shared } from "./test/support/vitest/shared.ts";

/** The last part of the first gate: the real processes and one journey in a browser, one after the other. */
export default defineConfig({
  test: { ...shared, include: ["test/smoke/**/*.test.ts"], fileParallelism: false, retry: 1 },
});
