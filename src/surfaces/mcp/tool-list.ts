/** The catalogue as `tools/list` shows it: worked out once, sent as it is. */
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
      outputSchema: outline(jsonSchema(tool.output as z.ZodType, "output")),
      annotations: toolAnnotations(tool),
    }));
}

/**
 * Which fields an output has in any case. A model sees the real thing when it comes, REST's reference has the whole
 * schema, and every byte here is read before anything is called.
 */
const outline = ({ required }: JsonSchema): JsonSchema => ({ type: "object", required });

/** Bounds that a model has no use for: who goes beyond is told so. An example says nothing where the type says all. */
function withoutBounds(node: Record<string, unknown>): void {
  for (const bound of ["minLength", "maxLength", "minItems", "maxItems", "propertyNames"]) delete node[bound];
  if (node["pattern"] === "\\S") delete node["pattern"];
  // Said in so many words: some clients' linters take `{}` for a slip.
  const others = node["additionalProperties"];
  if (typeof others === "object" && Object.keys(others as object).length === 0)
    node["additionalProperties"] = true;
  if (node["default"] === null) delete node["default"];
  if (node["maximum"] === MAX_VERSION) delete node["maximum"];
  if (node["enum"] !== undefined || ["integer", "boolean"].includes(String(node["type"])))
    delete node["examples"];
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const whole = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    // Every byte is read by a model.
    override({ jsonSchema: node }) {
      delete node["id"];
      if (node["example"] !== undefined) {
        // Outputs need no examples: the model sees the real thing.
        if (io === "input") node["examples"] = [node["example"]];
        delete node["example"];
      }
      withoutBounds(node);
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
