/** Builds the web interface once before the system tests. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function buildWeb(): void {
  execFileSync("npm", ["run", "--silent", "build:web"], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    // The test runner's NODE_ENV would select the larger and slower development builds of libraries.
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit"],
  });
}
