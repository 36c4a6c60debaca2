import { defineConfig } from "vitest/config";

/** These measure times, stop processes at exact moments, mount file systems, or load the whole machine: one at a time. */
const ALONE = [
  "availability,backup,copies,crash-points,expensive-requests,over-time-kill,postgres-copies,postgres-failover,postgres-run-kill",
  "nginx*,run-kill,shutdown,slow-clients,slow-requests,start*,storage,systemd,web-budget,web-resilience",
]
  .join(",")
  .split(",")
  .map((name) => `test/system/${name}.test.ts`);

/** What needs more than npm (Chromium, nginx, strace, mounts), or takes long. A tool that is missing fails the test. */
export default defineConfig({
  test: {
    globalSetup: ["test/support/built.ts"],
    pool: "forks",
    // Node loads the modules itself, as it does for the program: half the time of Vite's loader.
    experimental: { viteModuleRunner: false },
    testTimeout: 400_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // Most of their time is spent waiting for a browser or another program.
        test: {
          name: "in pairs",
          include: ["test/system/**/*.test.ts"],
          exclude: ALONE,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
