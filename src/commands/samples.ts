/** The samples of the first start: a small database, a configuration that names it, and workflows that use it. */
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { COMMAND_LINE } from "../../schemas/actor.ts";
import {
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeShop } from "../../examples/shop.ts";
import { AppError } from "../core/errors.ts";
import { barrierSentences, findBarrier } from "../core/file-access.ts";
import { newRequestId } from "../core/ids.ts";
import type { Settings } from "../config/environment.ts";
import type { Io } from "./io.ts";
import { OPERATOR_ACTOR, withOperator, type Operator } from "./operator.ts";

/** The sample workflow that is suggested first. */
export const FIRST_SAMPLE = "weekly-revenue";

const CONFIG = `# Created by the first start. config.example.yaml explains every key.
databases:
  - name: shop # sample data; workflows can read it
    type: sqlite
    dataset: samples/shop.db
defaults:
  database: shop
# With a model named writer, the sample workflow revenue-in-words can be published and run:
# models:
#   - name: writer
#     vendor: anthropic # openai, anthropic, google, mistral or openai-compatible
#     model_ref: claude-sonnet-4-5
#     key_var: ANTHROPIC_API_KEY # the NAME of the environment variable
`;

/** The path from this file is the same in the sources and in the built program. */
const FOLDER = fileURLToPath(new URL("../../examples/samples/", import.meta.url));

/**
 * Creates the samples if nothing is configured and no workflow was ever created; otherwise changes nothing.
 * @returns whether this call created the sample workflows
 */
export async function createSamples(io: Io, settings: Settings): Promise<boolean> {
  if (settings.configRequired || !existsSync(FOLDER)) return false;
  const { configFile, stateDir } = settings;
  // The only accepted configuration is that of an interrupted first start, which is continued.
  const ours = !existsSync(configFile) || readFileSync(configFile, "utf8") === CONFIG;
  if (!ours) return false;
  const empty = await withOperator(
    io,
    {},
    async ({ services }) => (await services.read.workflows.revision()) === 0,
  );
  if (!empty) return false;
  makeDatabase(stateDir);
  if (!existsSync(configFile)) {
    const unfinished = `${configFile}.${newRequestId()}`;
    writeFileSync(unfinished, CONFIG);
    renameSync(unfinished, configFile);
  }
  return withOperator(io, {}, createAll);
}

function makeDatabase(stateDir: string): void {
  const directory = join(stateDir, "samples");
  const file = join(directory, "shop.db");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // SQLite would only say that it can't open the file, which a command of another user may have created.
  const barrier =
    findBarrier(directory, constants.R_OK | constants.W_OK | constants.X_OK) ??
    findBarrier(file, constants.R_OK);
  if (barrier !== undefined)
    throw new AppError(
      "storage_unavailable",
      `The sample database can't be used: ${barrierSentences(barrier, stateDir)}`,
    );
  if (existsSync(file)) return;
  // A unique name, because two processes may start at the same time.
  const unfinished = `${file}.${newRequestId()}`;
  makeShop(unfinished);
  renameSync(unfinished, file);
}

async function createAll({ services }: Operator): Promise<boolean> {
  const call = { owner: COMMAND_LINE, signal: new AbortController().signal };
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  const checks = names.toSorted().map(async (name) => {
    const text = readFileSync(join(FOLDER, name), "utf8");
    return services.engine.check(text, {
      checkConnections: true,
      allowFileFields: true,
      project: DEFAULT_PROJECT,
      baseText: null,
      ...call,
    });
  });
  const reports = await Promise.all(checks);
  const intent = { operation: "create_samples", actor: OPERATOR_ACTOR, requestId: newRequestId() };
  return services.write(intent, async ({ workflows }) => {
    // Another process may have created them first.
    if ((await workflows.revision()) > 0) return false;
    for (const { file, definition, text: definition_text, valid } of reports) {
      const { id, name, description = "", tags = [] } = file;
      const content = { name: name!, description, tags, definition, definition_text };
      const change = { kind: "created", reason: "sample workflow", actor: OPERATOR_ACTOR } as const;
      const workflow = await workflows.insert(content, change, { id });
      // The sample that calls a model stays a draft until a model is configured.
      if (!valid) continue;
      await workflows.publish(workflow, { version: workflow.version, status: "published" });
      await workflows.addPublication(workflow, OPERATOR_ACTOR.principal);
    }
    return true;
  });
}
