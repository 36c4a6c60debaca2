/** The version of this build, and the directories of its web interface and of the views of MCP Apps. */
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

/** The paths from this file are the same in the sources and in the built program. */
export const WEB_DIRECTORY = fileURLToPath(new URL("../../dist/web/", import.meta.url));
export const APPS_DIRECTORY = fileURLToPath(new URL("../../dist/mcp-apps/", import.meta.url));
