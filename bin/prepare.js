/** Builds the web interface after an install, unless the install left out the development dependencies. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const vite = fileURLToPath(new URL("../node_modules/vite/package.json", import.meta.url));
if (existsSync(vite)) {
  const { status } = spawnSync("npm", ["run", "build:web"], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  process.exitCode = status ?? 1;
}
