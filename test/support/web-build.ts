/** Before the system tests: the web interface as its sources are now, built once for all of them. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function buildWeb(): void {
  execFileSync("npm", ["run", "--silent", "build:web"], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    // Not the test runner's: with it the libraries' larger and slower development builds would go in.
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit"],
  });
}
