/** The catalogue as `tools/list` returns it. The schemas are computed once. */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { shortSchemas } from "../../../schemas/short-schemas.ts";
import { type Access, choosesProject, isAlwaysAllowed, mayUseTool, scopesOf } from "../../core/access.ts";
import { oncePer } from "../../core/once-per.ts";
import { FIELDS_SCHEMA, PATHS_SCHEMA, takesValues, VALUES } from "./selected-fields.ts";
import { type AnyTool, toolAnnotations, isServedOn } from "../../core/tool.ts";

type JsonSchema = Record<string, unknown> & { type: "object" };

export interface ListedTool {
  name: string;
  /** Only of exposed workflows; operations have theirs in the annotations. */
  title?: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: ReturnType<typeof toolAnnotations>;
  /** Only for clients that show views. */
  _meta?: { ui: { resourceUri: string } };
}

/** Maximum number of different lists that are cached. */
const MAX_LISTS = 200;

/**
 * Creates a function that returns the tools that a caller can use: those whose scope it has, of those that its key is limited
 * to. A caller of one project gets no field `project`, and no tool for projects, because there is nothing to choose.
 * @param listed every tool, in the order of the list
 * @param toolOf the operation of a name
 */
export function toolLists(
  listed: readonly ListedTool[],
  toolOf: (name: string) => Pick<AnyTool, "scope" | "mcpList">,
): (access: Access) => readonly ListedTool[] {
  const lists = new LRUCache<string, readonly ListedTool[]>({ max: MAX_LISTS });
  return (access) => {
    const scopes = scopesOf(access);
    const hasSeveralProjects = choosesProject(access);
    const isKey = access.key !== undefined;
    const key = JSON.stringify([
      [...scopes].toSorted(),
      access.keyLimits?.tools ?? null,
      hasSeveralProjects,
      isKey,
    ]);
    const cached = lists.get(key);
    if (cached !== undefined) return cached;
    const isUsable = ({ name }: ListedTool): boolean => {
      const { scope, mcpList } = toolOf(name);
      if (mcpList !== undefined && !(scopes.has(mcpList) && hasSeveralProjects)) return false;
      return (scopes.has(scope) && mayUseTool(access, name)) || isAlwaysAllowed(access, name);
    };
    const usable = listed.filter(isUsable);
    const list = hasSeveralProjects ? usable : usable.map(withoutProject);
    lists.set(key, list);
    return list;
  };
}

function withoutProject(tool: ListedTool): ListedTool {
  const properties = tool.inputSchema["properties"] as Record<string, unknown> | undefined;
  if (properties?.["project"] === undefined) return tool;
  const { project: _, ...others } = properties;
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: others } };
}

/** Every tool that MCP serves, with its JSON Schemas. */
export const listTools = oncePer((catalogue: readonly AnyTool[]): ListedTool[] =>
  catalogue
    .filter((tool) => isServedOn(tool, "mcp"))
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: withFields(tool, jsonSchema(tool.input as z.ZodType, "input")),
      outputSchema: requiredOnly(tool, jsonSchema(tool.output as z.ZodType, "output")),
      annotations: toolAnnotations(tool),
    })),
);

/**
 * Keeps only the required fields of an output schema, to save tokens. A model sees the output itself; the REST reference has
 * the whole schema.
 */
const requiredOnly = (tool: AnyTool, { required }: JsonSchema): JsonSchema =>
  tool.page === undefined
    ? {
        type: "object",
        ...((required as string[] | undefined)?.includes("id") === true && { required: ["id"] }),
      }
    : { type: "object", ...(required !== undefined && { required }) };

/** Adds `fields`, also in place of the input that names values of items. */
function withFields(tool: AnyTool, schema: JsonSchema): JsonSchema {
  if (tool.selectable !== true) return schema;
  const { [VALUES]: _values, ...others } = schema["properties"] as Record<string, unknown>;
  const properties = takesValues(tool)
    ? { ...others, fields: PATHS_SCHEMA }
    : { ...(schema["properties"] as object), fields: FIELDS_SCHEMA };
  return { ...schema, properties };
}

/** Removes limits from a schema, because the error of an exceeded one states it, and examples and defaults that add nothing to the type. */
function removeLimits(node: Record<string, unknown>): void {
  for (const limit of ["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "propertyNames"])
    delete node[limit];
  // The description says what the pattern means.
  delete node["pattern"];
  // `true` instead of `{}`, which linters of some clients report.
  const additional = node["additionalProperties"];
  if (typeof additional === "object" && Object.keys(additional as object).length === 0)
    node["additionalProperties"] = true;
  if (node["default"] === null || node["default"] === false || isEmpty(node["default"]))
    delete node["default"];
  if (node["type"] === "integer") {
    if (Number(node["maximum"]) >= LARGE_MAXIMUM) delete node["maximum"];
    if (Number(node["minimum"]) <= 1) delete node["minimum"];
  }
  if (SCALARS.has(String(node["type"]))) delete node["examples"];
  // The list is described already.
  if (node["description"] !== undefined && isObject(node["items"])) delete node["items"]["description"];
}

/** Limits from this on are no choice of a caller. */
const LARGE_MAXIMUM = 100_000;
const SCALARS: ReadonlySet<string> = new Set(["string", "integer", "boolean"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const isEmpty = (value: unknown): boolean =>
  value === "" || (isObject(value) && Object.keys(value).length === 0);

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    // Everything that a model does not need is removed, to save tokens.
    override({ zodSchema, jsonSchema: node }) {
      delete node["id"];
      if (node["example"] !== undefined) {
        // Outputs need no examples, because the model sees real ones.
        if (io === "input") node["examples"] = [node["example"]];
        delete node["example"];
      }
      const short = io === "input" ? shortSchemas.get(zodSchema as unknown as z.ZodType) : undefined;
      if (short !== undefined) {
        for (const key of Object.keys(node)) delete node[key];
        Object.assign(node, short);
      }
      removeLimits(node);
    },
  });
  const { $schema: _, $defs = {}, ...root } = generated;
  // Clients require `type: object` at the root, so references are inlined. No schema is recursive.
  return inlineRefs(root, $defs) as JsonSchema;
}

function inlineRefs(node: unknown, defs: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((item) => inlineRefs(item, defs));
  if (!isObject(node)) return node;
  const { $ref, ...rest } = node as { $ref?: string } & Record<string, unknown>;
  const target = $ref === undefined ? {} : (inlineRefs(defs[$ref.replace("#/$defs/", "")], defs) as object);
  const inlined = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, inlineRefs(value, defs)]),
  );
  // A list of types is valid, but several clients convert schemas to dialects with one type per node.
  if (Array.isArray(inlined["type"])) {
    inlined["anyOf"] ??= inlined["type"].map((type: unknown) => ({ type }));
    delete inlined["type"];
  }
  return { ...target, ...withoutNull(inlined) };
}

/** Leaves null out of a choice: an argument that is null counts as left out, so a model does not need to know of it. */
function withoutNull({ anyOf, ...node }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(anyOf)) return anyOf === undefined ? node : { ...node, anyOf };
  const options = anyOf.filter((option) => !isObject(option) || option["type"] !== "null");
  return options.length === 1 ? { ...(options[0] as object), ...node } : { ...node, anyOf: options };
}
