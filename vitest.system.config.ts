import { defineConfig } from "vitest/config";

/** What needs more than npm (Chromium, nginx, strace, mounts), or takes long. A tool that is missing fails the test. */
export default defineConfig({
  test: {
    include: ["test/system/**/*.test.ts"],
    globalSetup: ["test/support/built.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
