/** The version of this build, and the directory of its web interface. */
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

/** The path from this file is the same in the sources and in the built program. */
export const WEB_DIRECTORY = fileURLToPath(new URL("../../dist/web/", import.meta.url));
