import { defineConfig } from "vitest/config";

/** Other people's clients, from a package of their own because they are large: `npm run test:clients` installs them. */
export default defineConfig({
  test: {
    include: ["test/clients/**/*.test.ts"],
    exclude: ["**/node_modules/**"],
    pool: "forks",
    // Node loads the modules itself, as it does for the program: half the time of Vite's loader.
    experimental: { viteModuleRunner: false },
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
