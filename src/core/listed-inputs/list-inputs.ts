/** The inputs of a workflow as agents get them, when it is a tool of its own. */
import { type JsonSchema, publishedSchema, schemaIssues } from "../json-schema/index.ts";
import { memoize } from "../json-schema/memoize.ts";
import { withoutReferences } from "./inline.ts";
import { listRoot } from "./list-schema.ts";
import { type ListedNames, listedNames } from "./names.ts";
import { hasNameRules, withListedNames } from "./rename.ts";

/** Maximum size of a listed schema, in characters of JSON. A larger one is listed as an open object, to save tokens. */
export const MAX_LISTED_CHARS = 8_192;

/** Maximum number of cached lists: those of all exposed workflows, of every project, are asked for one after the other. */
const MAX_CACHED = 1_000;

export interface ListedInputs {
  /** What is listed, in keywords and with names that all model vendors take; undefined for a schema that is too large. */
  schema: (JsonSchema & { type: "object" }) | undefined;
  /** Listed names by the written ones, where they differ. */
  names: ListedNames;
  /** The whole schema, as it is written. */
  written: JsonSchema;
  /**
   * The whole schema with the listed names: its issues are those that a caller understands. Undefined where it has rules about names,
   * which those of the definition match.
   */
  renamed: JsonSchema | undefined;
}

/** The inputs of a workflow that declares none. */
const NO_INPUTS: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/**
 * Cached, because all exposed workflows are listed again when a workflow changes. The order of fields counts: they are listed in it.
 * @param inputs the `inputs` of a definition
 */
export const listInputs = (inputs: JsonSchema = NO_INPUTS): ListedInputs => listSchema(inputs);

const listSchema = memoize(computeListed, { keyOf: JSON.stringify, maxResults: MAX_CACHED });

function computeListed(inputs: JsonSchema): ListedInputs {
  const { $schema: _, ...written } = inputs;
  const unlisted = { schema: undefined, names: new Map(), written, renamed: written };
  if (schemaIssues(written).length > 0) return unlisted;
  const names = listedNames(written);
  const renamed = withListedNames(written, names);
  if (renamed === undefined) return unlisted;
  const published = publishedSchema(renamed);
  const schema = listed(published, { isBrief: false }) ?? listed(published, { isBrief: true });
  if (schema === undefined) return unlisted;
  const isSame = names.size === 0 || (!hasNameRules(written) && schemaIssues(renamed).length === 0);
  return { schema, names, written, renamed: isSame ? renamed : undefined };
}

/** @returns undefined for a schema that is too large */
function listed(schema: JsonSchema, options: { isBrief: boolean }): ListedInputs["schema"] {
  const found = listRoot(withoutReferences(schema, options)) as ListedInputs["schema"];
  return found !== undefined && JSON.stringify(found).length <= MAX_LISTED_CHARS ? found : undefined;
}
