/** Says which field of an operation an unknown one stands for: agents guess names, and write JSON Patch. */
import { type Aliases, fieldOfAlias } from "./field-aliases.ts";
import { truncate } from "./truncate.ts";

/** Names that agents send for the fields of operations. Where a name stands for several fields, the first one is meant. */
const INPUT_ALIASES: Aliases = {
  workflow_id: "id workflow workflowname name slug",
  run_id: "id run execution executionid",
  approval_id: "id approval",
  review_id: "id review",
  key_id: "id key apikey name",
  step_id: "step stepname node",
  inputs: "input params parameters args arguments variables payload data body with",
  sql: "query statement sqlquery command text",
  params: "parameters args arguments bindings binds values variables inputs input",
  max_rows: "limit rowlimit maxresults rows",
  database: "db connection databasename datasource name",
  table: "tablename tables",
  given: "mocks mock outputs trial",
  mocks: "given mock outputs",
  definition: "workflow spec yaml json content config workflowdefinition",
  patch: "patches operations ops changes jsonpatch edits",
  step: "definition steps config",
  decision: "action verdict answer approve outcome",
  comment: "reason note message",
  reason: "message changenote note comment commitmessage",
  if_match: "version etag baseversion expectedversion",
  search: "query q text name filter keyword",
  tag: "tags label",
  tags: "tag labels",
  status: "state statuses",
  limit: "pagesize perpage count top maxresults max",
  cursor: "page nextcursor pagetoken after offset",
  group_by: "by group groupby groups dimensions keys",
  where: "condition filter having expression",
  measures: "measure metrics aggregate aggregates aggregations",
  timezone: "tz zone",
  max_groups: "limit top count maxresults max",
  wait: "timeout waitseconds sync timeoutseconds",
  max_chars: "maxlength limit length",
  topic: "section topics query",
  detail: "verbosity level verbose",
  name: "title displayname workflowname",
  description: "summary desc",
  // Fields of operations of patches.
  set: "value fields changes",
  unset: "delete",
};

/** Fields of a definition, which agents send beside its place. */
const DEFINITION_FIELDS: ReadonlySet<string> = new Set(["steps", "inputs", "output", "schedule", "state"]);

interface Meant {
  did_you_mean?: string;
  fix: string;
}

/**
 * @param key a field that is not allowed
 * @param sent the object that it was sent in
 * @returns undefined where nothing is known about it
 */
export function meantField(key: string, allowed: readonly string[], sent: unknown): Meant | undefined {
  if (allowed.includes("op")) {
    const operation = ofJsonPatch(sent);
    if (operation !== undefined && allowed.includes("unset"))
      return { fix: `This is JSON Patch (RFC 6902), which patch does not take. Write ${operation}.` };
  }
  if (allowed.includes("definition") && DEFINITION_FIELDS.has(key))
    return { did_you_mean: "definition", fix: `Put it into definition: {"definition": {"${key}": …}}.` };
  const given = (sent ?? {}) as Readonly<Record<string, unknown>>;
  const fields = allowed.filter(
    (each) => !Object.hasOwn(given, each) && !(typeof given[key] === "object" && each.endsWith("_id")),
  );
  const field = fieldOfAlias(key, fields, INPUT_ALIASES);
  return field === undefined ? undefined : { did_you_mean: field, fix: `Write ${field}, or remove it.` };
}

/** The operations of RFC 6902 (section 4) that an operation of a patch stands for. `copy` and `test` have none. */
const JSON_PATCH_OPS: ReadonlySet<unknown> = new Set(["add", "replace", "remove", "move"]);
/** Maximum length of a name of a caller in an advice, in characters. */
const MAX_NAME = 100;

/** The operation of a patch of a definition that one of JSON Patch stands for; undefined where none does. */
function ofJsonPatch(sent: unknown): string | undefined {
  const { op, path, from } = (sent ?? {}) as { op?: unknown; path?: unknown; from?: unknown };
  const place = placeOf(path);
  if (!JSON_PATCH_OPS.has(op) || place === undefined) return undefined;
  const { step, field, isInside, isEnd } = place;
  if (op === "move") {
    const moved = placeOf(from);
    const isOfSteps = step !== undefined && moved?.step !== undefined;
    if (!isOfSteps || field !== undefined || moved.field !== undefined) return undefined;
    return isEnd
      ? `{"op": "move_step", ${moved.step}, "after": "(the id of the last step)"}`
      : `{"op": "move_step", ${moved.step}, "before": "(the id of another step)"}`;
  }
  if (field === undefined) {
    if (op === "add")
      return isEnd
        ? `{"op": "add_step", "step": {…}}`
        : `{"op": "add_step", "step": {…}, ${step!.replace("id", "before")}}`;
    if (isEnd) return undefined;
    return op === "remove" ? `{"op": "remove_step", ${step}}` : `{"op": "update_step", ${step}, "set": {…}}`;
  }
  const name = JSON.stringify(field);
  // Without a part of a field, the rest of it stays.
  const change = op === "remove" && !isInside ? `"unset": [${name}]` : `"set": {${name}: …}`;
  return step === undefined ? `{"op": "update_top", ${change}}` : `{"op": "update_step", ${step}, ${change}}`;
}

interface Place {
  step: string | undefined;
  field: string | undefined;
  isInside: boolean;
  /** Whether it is the place after the last step, which has no id. */
  isEnd?: boolean;
}

/** Which step and which field a JSON Pointer (RFC 6901) into a definition means; undefined where a patch can't change it. */
function placeOf(pointer: unknown): Place | undefined {
  if (typeof pointer !== "string" || !pointer.startsWith("/")) return undefined;
  const [top, ...rest] = pointer
    .slice(1)
    .split("/", 5)
    .map((part) => truncate(part.replaceAll("~1", "/").replaceAll("~0", "~"), MAX_NAME));
  if (top !== "steps")
    return top === "" ? undefined : { step: undefined, field: top, isInside: rest.length > 0 };
  const [index, field] = rest;
  if (index === undefined || !/^(?:\d+|-)$/.test(index)) return undefined;
  const isEnd = index === "-";
  if (isEnd && field !== undefined) return undefined;
  return { step: `"id": "(the id of steps[${index}])"`, field, isInside: rest.length > 2, isEnd };
}
