/** The version of this build, and the directory of its web interface. */
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

/** `dist/web`; the path from this file differs between the sources and a build. */
export const WEB_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/web/" : "../../web/", import.meta.url),
);
