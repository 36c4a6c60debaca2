/** What this build is, and where it has the pages of the web interface. */
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

/** `dist/web`, from the sources and from what is built out of them. */
export const WEB_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/web/" : "../../web/", import.meta.url),
);
