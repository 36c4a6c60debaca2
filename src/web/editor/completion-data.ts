/** What completion goes by, asked for when an editor first needs it and kept while the page is open. */
import { send } from "../api/client.ts";
import { editingSchema } from "./editing-schema.ts";
import type { Schema } from "./schema.ts";
import type { CompletionData, NamedValue } from "./suggestions.ts";

/** Names that the operator adds are seen after so long. */
const FRESH_MS = 60_000;

let schema: Promise<Schema> | undefined;
let environment: { at: number; asked: Promise<Omit<CompletionData, "schema">> } | undefined;

/** @returns undefined where the server can't be asked: then nothing is completed */
export async function loadCompletionData(): Promise<CompletionData | undefined> {
  schema ??= readSchema();
  if (environment === undefined || Date.now() - environment.at > FRESH_MS)
    environment = { at: Date.now(), asked: readEnvironment() };
  try {
    return { schema: await schema, ...(await environment.asked) };
  } catch {
    // The next word that is typed asks again.
    schema = undefined;
    return undefined;
  }
}

async function readSchema(): Promise<Schema> {
  const response = await fetch("/apidoc/workflow.schema.json");
  if (!response.ok) throw new Error(`The schema can't be read: ${response.status}`);
  return editingSchema((await response.json()) as Schema);
}

/** The words of the language can be completed without it. */
async function readEnvironment(): Promise<Omit<CompletionData, "schema">> {
  const zones = timeZones();
  try {
    const { data } = await send("get", "/environment", { query: {} });
    const { databases = [], models = [], mcp_servers: servers = [], secrets = [], functions = [] } = data;
    return {
      functions,
      names: {
        database: [
          ...databases.map(({ name, type, access }) => ({ name, detail: `${type}, ${access}` })),
          { name: "scratch", detail: "in memory, for tables" },
        ],
        model: models.map(({ name, model_ref }) => ({ name, detail: model_ref })),
        server: servers.map(({ name, type }) => ({ name, detail: type })),
        secret: secrets.map(({ name, hosts }) => ({ name, detail: hosts.join(", ") })),
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
