/** The catalogue as `tools/list` returns it; computed once. */
import { z } from "zod";
import { MAX_VERSION } from "../../../schemas/workflow.ts";
import { type AnyTool, toolAnnotations, isServedOn } from "../../core/tool.ts";

type JsonSchema = Record<string, unknown> & { type: "object" };

export interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: ReturnType<typeof toolAnnotations>;
}

/** Every tool that MCP serves, with its JSON Schemas. */
export function listTools(catalogue: readonly AnyTool[]): ListedTool[] {
  return catalogue
    .filter((tool) => isServedOn(tool, "mcp"))
    .map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: jsonSchema(tool.input as z.ZodType, "input"),
      outputSchema: requiredOnly(jsonSchema(tool.output as z.ZodType, "output")),
      annotations: toolAnnotations(tool),
    }));
}

/**
 * Keeps only the required fields of an output schema, to save tokens. A model sees the output itself; the REST reference has
 * the whole schema.
 */
const requiredOnly = ({ required }: JsonSchema): JsonSchema => ({ type: "object", required });

/** Removes limits from a schema, because the error of an exceeded one states it, and examples that add nothing to the type. */
function removeLimits(node: Record<string, unknown>): void {
  for (const limit of ["minLength", "maxLength", "minItems", "maxItems", "propertyNames"]) delete node[limit];
  if (node["pattern"] === "\\S") delete node["pattern"];
  // `true` instead of `{}`, which linters of some clients report.
  const additional = node["additionalProperties"];
  if (typeof additional === "object" && Object.keys(additional as object).length === 0)
    node["additionalProperties"] = true;
  if (node["default"] === null) delete node["default"];
  if (node["maximum"] === MAX_VERSION) delete node["maximum"];
  if (node["enum"] !== undefined || ["integer", "boolean"].includes(String(node["type"])))
    delete node["examples"];
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    // Everything that a model does not need is removed, to save tokens.
    override({ jsonSchema: node }) {
      delete node["id"];
      if (node["example"] !== undefined) {
        // Outputs need no examples, because the model sees real ones.
        if (io === "input") node["examples"] = [node["example"]];
        delete node["example"];
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
  if (typeof node !== "object" || node === null) return node;
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
  return { ...target, ...inlined };
}
