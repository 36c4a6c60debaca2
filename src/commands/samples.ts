/** What a newcomer can try at once: a small database, a configuration that names it, and workflows that use it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeShop } from "../../examples/shop.ts";
import { newRequestId } from "../core/ids.ts";
import type { Settings } from "../config/environment.ts";
import type { Io } from "./io.ts";
import { OPERATOR_ACTOR, withOperator, type Operator } from "./operator.ts";

/** The one of them that people are told to try first. */
export const FIRST_SAMPLE = "weekly-revenue";

const CONFIG = `# Made by the first start. config.example.yaml tells every key there is.
databases:
  - name: shop # sample data; workflows may read it
    type: sqlite
    dataset: samples/shop.db
defaults:
  database: shop
# With a model called writer the sample workflow revenue-in-words can run and be published:
# models:
#   - name: writer
#     vendor: anthropic # openai, anthropic, google, mistral or openai-compatible
#     model_ref: claude-sonnet-4-5
#     key_var: ANTHROPIC_API_KEY # the NAME of the environment variable
`;

/** In a checkout and in a release alike the folder stands beside the program's own. */
const FOLDER = ["../../examples/samples/", "../../../examples/samples/"]
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/**
 * Makes the samples where nothing is configured and no workflow was ever made; anything else is left as it is.
 * @returns whether they are there now
 */
export async function createSamples(io: Io, settings: Settings): Promise<boolean> {
  if (settings.configRequired || FOLDER === undefined) return false;
  const { configFile, stateDir } = settings;
  // Only what an interrupted first start left behind may be there: it is gone on with.
  const ours = !existsSync(configFile) || readFileSync(configFile, "utf8") === CONFIG;
  if (!ours) return false;
  const empty = await withOperator(
    io,
    {},
    async ({ services }) => (await services.read.workflows.revision()) === 0,
  );
  if (!empty) return false;
  makeDatabase(join(stateDir, "samples"));
  if (!existsSync(configFile)) {
    const unfinished = `${configFile}.${newRequestId()}`;
    writeFileSync(unfinished, CONFIG);
    renameSync(unfinished, configFile);
  }
  return withOperator(io, {}, createAll);
}

function makeDatabase(directory: string): void {
  const file = join(directory, "shop.db");
  if (existsSync(file)) return;
  mkdirSync(directory, { recursive: true });
  // A name of its own: two may start at a time.
  const unfinished = `${file}.${newRequestId()}`;
  makeShop(unfinished);
  renameSync(unfinished, file);
}

async function createAll({ services }: Operator): Promise<boolean> {
  const signal = new AbortController().signal;
  const names = readdirSync(FOLDER!).filter((name) => name.endsWith(".yaml"));
  const reports = names.toSorted().map(async (name) => {
    const text = readFileSync(join(FOLDER!, name), "utf8");
    return services.engine.check(text, { checkConnections: true, allowFileFields: true, signal });
  });
  const checked = await Promise.all(reports);
  const intent = { operation: "create_samples", actor: OPERATOR_ACTOR, requestId: newRequestId() };
  return services.write(intent, async ({ workflows }) => {
    // Another start may have been faster.
    if ((await workflows.revision()) > 0) return false;
    for (const { file, definition, valid } of checked) {
      const { id, name, description = "", tags = [] } = file;
      const content = { name: name!, description, tags, definition };
      const change = { kind: "created", reason: "a sample", actor: OPERATOR_ACTOR } as const;
      const made = await workflows.insert(content, change, id);
      // The one that asks a model stays a draft until there is one.
      if (valid) await workflows.publish(made, { version: made.version, status: "published" });
    }
    return true;
  });
}
