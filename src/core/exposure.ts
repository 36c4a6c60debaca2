/** What an admin consents to when a workflow becomes a tool of other people's agents: its texts, and what its runs reach. */
import { projectOf } from "../../schemas/project.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { ExposureRequest, WorkflowReader } from "./ports.ts";
import { unscoped } from "./scoped-readers.ts";
import { shortHash } from "./short-hash.ts";
import { workflowCalls } from "./workflow-calls.ts";

export interface Exposure {
  /** Changes with the name, the description, the name of the tool, the inputs, and the effects with all that they can send, also in the workflows that it runs. */
  digest: string;
  /** What its runs reach outside of Millrace, in words: `http POST https://example.com/`. */
  effects: string[];
  /** The types of the steps with effects that do more than read, `commit` for saved state, and `workflow` for one of another project. */
  kinds: string[];
  /** Whether its runs at most read configured databases. */
  readOnly: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
type WorkflowSource = Pick<WorkflowReader, "find" | "findVersion" | "projectOf">;

/** Where called workflows are found, and the project of the workflow that is exposed. */
interface CalledFrom {
  source: WorkflowSource;
  project: string | undefined;
}

interface Effect {
  /** What the caller of a workflow learns of it, without where it goes. */
  kind: string;
  summary: string;
  readOnly: boolean;
  /** What the digest covers. */
  content: unknown;
}

/** A workflow and all that it runs. */
interface Reach {
  effects: Effect[];
  /** Per workflow: what its effects can get as values. The digest covers it when there are effects. */
  sources: unknown[];
}

/** Step types that reach nothing. */
const LOCAL_TYPES = new Set<unknown>(["assert", "set", "wait"]);
/** Fields of a step that do not change what it reaches. */
const ASIDE: ReadonlySet<string> = new Set([
  "id",
  "description",
  "needs",
  "if",
  "timeout",
  "retry",
  "rate",
  "concurrency",
  "cache",
  "undo",
  "on_interrupted",
  "lookup",
]);
/** Fields of a definition, besides its steps, whose values reach an effect of this run, of a caller or of a later run. */
const VALUE_FIELDS = ["inputs", "state", "commit", "output"];
/** Maximum number of workflows whose effects are read, because a request waits for it. Beyond it the summary says so. */
const MAX_WORKFLOWS = 100;
/** Maximum length of the summary of an effect, in characters. */
const MAX_SUMMARY = 200;

/**
 * Computes what a consent to expose this version covers now. Called workflows count with their published versions, also those
 * that other projects offer: the digest covers what they do, and the words say only that they run.
 */
export async function exposureOf(
  workflows: WorkflowSource,
  { id, name, description, definition }: Pick<ExposureRequest, "id" | "name" | "description" | "definition">,
): Promise<Exposure> {
  const reach: Reach = { effects: [], sources: [] };
  // The same for everybody, whatever the caller can see: agents get the tool while the digest is the one consented to.
  const source = unscoped(workflows);
  const project = await source.projectOf(id);
  await addReach({ source, project }, definition, new Set([id]), reach);
  const readOnly = reach.effects.every((effect) => effect.readOnly);
  // An effect sends what other steps compute, such as its URL, so with effects the digest covers these too.
  const covered = [...reach.effects.map(({ content }) => content), ...(readOnly ? [] : reach.sources)];
  const contents = [...new Set(covered.map(canonicalJson))].toSorted();
  return {
    digest: shortHash(
      canonicalJson({
        name,
        description,
        inputs: definition["inputs"] ?? null,
        effects: contents,
        ...(definition["tool_name"] !== undefined && { tool_name: definition["tool_name"] }),
      }),
    ),
    effects: [...new Set(reach.effects.map(({ summary }) => summary))],
    kinds: [...new Set(reach.effects.flatMap((effect) => (effect.readOnly ? [] : [effect.kind])))],
    readOnly,
  };
}

/** Whether a consent covers what would be exposed now. */
export const isConsentedTo = (
  { consent, version }: Pick<ExposureRequest, "consent" | "version">,
  { digest }: Pick<Exposure, "digest">,
): boolean =>
  consent !== null && (consent.digest === null ? consent.version === version : consent.digest === digest);

/** @param seen ids of the workflows whose effects are found already, because workflows can run each other */
async function addReach(
  from: CalledFrom,
  definition: Fields,
  seen: Set<string>,
  { effects, sources }: Reach,
): Promise<void> {
  const steps = Array.isArray(definition["steps"]) ? (definition["steps"] as Fields[]) : [];
  const undos = steps.flatMap(({ undo }) => (undo === undefined ? [] : [undo as Fields]));
  const lookups = steps.flatMap(({ lookup }) => (lookup === undefined ? [] : [lookup as Fields]));
  const all = [...steps, ...undos, ...lookups];
  effects.push(...all.flatMap(effectOf));
  sources.push([all.map(contentOf), VALUE_FIELDS.map((field) => definition[field] ?? null)]);
  if (definition["commit"] !== undefined) {
    effects.push({
      kind: "commit",
      summary: "saves workflow state",
      readOnly: false,
      content: ["commit"],
    });
  }
  const { on_failure: onFailure } = definition;
  const called = [
    ...workflowCalls(definition).map(({ workflow }) => workflow),
    ...workflowCalls({ steps: undos }).map(({ workflow }) => workflow),
    ...(typeof onFailure === "string" ? [onFailure] : []),
  ];
  for (const id of called) {
    if (seen.has(id)) continue;
    if (seen.size > MAX_WORKFLOWS) {
      const summary = `more than ${MAX_WORKFLOWS} other workflows`;
      effects.push({ kind: "workflow", summary, readOnly: false, content: ["more"] });
      break;
    }
    seen.add(id);
    const callee = await from.source.find(id);
    const version = callee && (await from.source.findVersion(id, callee.published_version ?? callee.version));
    if (version?.definition) {
      const below: Reach = { effects: [], sources };
      await addReach(from, version.definition, seen, below);
      const isForeign = projectOf(callee!) !== from.project;
      const summary = `workflow ${id} of another project`;
      effects.push(
        ...below.effects.map((effect) =>
          isForeign ? Object.assign({}, effect, { kind: "workflow", summary }) : effect,
        ),
      );
    } else
      effects.push({
        kind: "workflow",
        summary: `workflow ${id}, which can't run`,
        readOnly: false,
        content: ["workflow", id],
      });
  }
}

/** What a step does, without the fields that do not change it. */
const contentOf = (step: Fields): Fields =>
  Object.fromEntries(Object.entries(step).filter(([name]) => !ASIDE.has(name)));

function effectOf(step: Fields): Effect[] {
  const { type } = step;
  if (LOCAL_TYPES.has(type) || (type === "workflow" && typeof step["workflow"] === "string")) return [];
  if (type === "sql" && (step["write"] ?? false) === false) {
    const { database: named } = step;
    const database = typeof named === "string" ? named : "the default database";
    return [{ kind: type, summary: `sql reads ${database}`, readOnly: true, content: ["sql", database] }];
  }
  return [{ kind: String(type), summary: summaryOf(step), readOnly: false, content: contentOf(step) }];
}

function summaryOf(step: Fields): string {
  const words: Readonly<Record<string, unknown[]>> = {
    http: ["http", step["method"] ?? "GET", step["url"]],
    model: ["model", step["model"]],
    sql: ["sql writes", step["database"] ?? "the default database"],
    tool: ["tool", step["server"], step["tool"]],
    email: ["email to", step["to"]],
  };
  const parts = words[String(step["type"])] ?? [step["type"]];
  const summary = parts
    .filter((part) => part !== undefined)
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
    .join(" ");
  return summary.length > MAX_SUMMARY ? `${summary.slice(0, MAX_SUMMARY).toWellFormed()}…` : summary;
}
