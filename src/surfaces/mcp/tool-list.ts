/** The catalogue as `tools/list` shows it: worked out once, sent as it is. */
import { z } from "zod";
import { type AnyTool, hintsOf, servedOn } from "../../core/tool.ts";

type JsonSchema = Record<string, unknown> & { type: "object" };

export interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: ReturnType<typeof hintsOf>;
}

/** Every tool that MCP serves, with its JSON Schemas. */
export function listTools(catalogue: readonly AnyTool[]): ListedTool[] {
  return catalogue
    .filter((tool) => servedOn(tool, "mcp"))
    .map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: jsonSchema(tool.input as z.ZodType, "input"),
      outputSchema: outline(jsonSchema(tool.output as z.ZodType, "output")),
      annotations: hintsOf(tool),
    }));
}

/**
 * An output's own fields with their types; what they hold stays open. A model sees the real thing when it comes, and
 * every byte here is read before anything is called.
 */
function outline({ properties = {}, ...root }: JsonSchema): JsonSchema {
  const fields = Object.entries(properties as Record<string, { type?: string; anyOf?: { type?: string }[] }>);
  const typed = fields.map(([name, { type, anyOf = [] }]) => {
    const types = type === undefined ? anyOf.map((one) => one.type) : [type];
    const [first] = types;
    return [name, types.length === 1 && first !== undefined ? { type: first } : {}] as const;
  });
  return { ...root, properties: Object.fromEntries(typed) };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const whole = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    // Every byte is read by a model.
    override({ jsonSchema: node }) {
      delete node["id"];
      if (node.example !== undefined) {
        // Outputs need no examples: the model sees the real thing.
        if (io === "input") node.examples = [node.example];
        delete node.example;
      }
      if (io === "output") {
        delete node.description;
        delete node.minimum;
        delete node.maximum;
      }
    },
  });
  const { $schema: _, $defs = {}, ...root } = whole;
  // Clients want `type: object` at the root, so named schemas stand in their places. None of ours is recursive.
  return inlined(root, $defs) as JsonSchema;
}

function inlined(node: unknown, defs: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((item) => inlined(item, defs));
  if (typeof node !== "object" || node === null) return node;
  const { $ref, ...rest } = node as { $ref?: string } & Record<string, unknown>;
  const target = $ref === undefined ? {} : (inlined(defs[$ref.replace("#/$defs/", "")], defs) as object);
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inlined(value, defs)]));
  // Legal as a list, but several clients map schemas onto dialects that know one type per node.
  if (Array.isArray(own["type"])) {
    own["anyOf"] ??= own["type"].map((type: unknown) => ({ type }));
    delete own["type"];
  }
  return { ...target, ...own };
}
