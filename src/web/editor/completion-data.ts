/** Loads the schema and the server's names for completion on first use, and caches them while the page is open. */
import { serverPath } from "../app/base-path.ts";
import { send } from "../api/client.ts";
import { editingSchema } from "./editing-schema.ts";
import type { Schema } from "./schema.ts";
import type { CompletionData, NamedValue } from "./suggestions.ts";

/** Time after which the server's names are loaded again, in milliseconds. */
const NAMES_TTL_MS = 60_000;

let schema: Promise<Schema> | undefined;
let environment:
  | { project: string | undefined; loadedAt: number; names: Promise<Omit<CompletionData, "schema">> }
  | undefined;

/**
 * @param project the id of the project whose connections are completed; undefined for a user with one project
 * @returns undefined when the server can't be reached; then nothing is completed
 */
export async function loadCompletionData(project: string | undefined): Promise<CompletionData | undefined> {
  schema ??= readSchema();
  const isFresh = environment !== undefined && Date.now() - environment.loadedAt <= NAMES_TTL_MS;
  if (environment === undefined || !isFresh || environment.project !== project)
    environment = { project, loadedAt: Date.now(), names: readEnvironment(project) };
  try {
    return { schema: await schema, ...(await environment.names) };
  } catch {
    // The next keystroke loads it again.
    schema = undefined;
    return undefined;
  }
}

async function readSchema(): Promise<Schema> {
  const response = await fetch(serverPath("/apidoc/workflow.schema.json"));
  if (!response.ok) throw new Error(`The schema could not be loaded: status ${response.status}.`);
  return editingSchema((await response.json()) as Schema);
}

/** Without the names, the keywords of the language are still completed. */
async function readEnvironment(project: string | undefined): Promise<Omit<CompletionData, "schema">> {
  const zones = timeZones();
  try {
    const { data } = await send("get", "/environment", {
      query: { ...(project !== undefined && { project }) },
    });
    const { databases = [], models = [], mcp_servers: servers = [], secrets = [], functions = [] } = data;
    const { chats = [] } = data;
    return {
      functions,
      names: {
        database: [
          ...databases.map(({ name, type, access }) => ({ name, detail: `${type}, ${access}` })),
          { name: "scratch", detail: "DuckDB in memory" },
        ],
        model: models.map(({ name, model_ref }) => ({ name, detail: model_ref })),
        server: servers.map(({ name, type }) => ({ name, detail: type })),
        secret: secrets.map(({ name, hosts }) => ({ name, detail: hosts.join(", ") })),
        chat: chats.map(({ name, type }) => ({ name, detail: type })),
        timezone: zones,
      },
    };
  } catch {
    environment = undefined;
    return { names: { timezone: zones } };
  }
}

const timeZones = (): NamedValue[] =>
  ["UTC", ...Intl.supportedValuesOf("timeZone")].map((name) => ({ name }));
