/** Fixes of queries: templates in them, parameters that are missing, and misspelt tables and columns. */
import { nearMatch } from "../../../core/near-match.ts";
import { splitTemplate } from "../expressions/template.ts";
import type { FixRule } from "./index.ts";
import type { Fields, Path } from "./intended-fields.ts";
import { valueAt } from "./schema-fixes.ts";

const isQuery = (path: Path): boolean => path[0] === "steps" && path.length === 3 && path[2] === "query";

/** Replaces each template in a query by a parameter with its value. */
export const queryTemplateFix: FixRule = ({ path, code }, { written }) => {
  const query = valueAt(written, path);
  const params = valueAt(written, [...path.slice(0, 2), "params"]) ?? {};
  if (code !== "no_expression_here" || !isQuery(path) || typeof query !== "string") return undefined;
  if (typeof params !== "object" || Array.isArray(params)) return undefined;
  const bound = boundQuery(query, params as Fields);
  if (bound === undefined) return undefined;
  const value = { ...(params as Fields), ...bound.params };
  return {
    fix: `Write ${JSON.stringify(bound.query)}, with params: ${JSON.stringify(value)}.`,
    patch: [
      { op: "replace", path, value: bound.query },
      { op: "add", path: [...path.slice(0, 2), "params"], value },
    ],
  };
};

function boundQuery(
  query: string,
  before: Fields,
): { query: string; params: Record<string, string> } | undefined {
  const { parts, unclosedAt } = splitTemplate(query);
  if (unclosedAt !== undefined) return undefined;
  const params: Record<string, string> = {};
  let bound = "";
  for (const [index, part] of parts.entries()) {
    if ("text" in part) {
      // Quotes around a whole parameter belong to it.
      const isAfter =
        index > 0 && /['"]$/.test((parts[index - 2] as { text?: string } | undefined)?.text ?? "");
      bound += isAfter ? part.text.replace(/^['"]/, "") : part.text;
      continue;
    }
    const [preceding, after] = [parts[index - 1], parts[index + 1]].map((other) =>
      other !== undefined && "text" in other ? other.text : "",
    );
    const quote = /['"]$/.exec(preceding!)?.[0];
    // A parameter can be neither a part of a text nor a name.
    if (quote !== undefined && !after!.startsWith(quote)) return undefined;
    if (
      quote === undefined &&
      (/[\w%'"`]$/.test(preceding!) ||
        /^[\w%'"`]/.test(after!) ||
        /\b(?:from|join|into|update|table|by)\s+$/i.test(preceding!))
    )
      return undefined;
    if (quote !== undefined) bound = bound.slice(0, -1);
    const name = parameterName(part.source, { ...before, ...params });
    params[name] = `\${{ ${part.source} }}`;
    bound += `:${name}`;
  }
  return { query: bound, params };
}

function parameterName(source: string, taken: Fields): string {
  const word = /([A-Za-z_]\w*)\W*$/.exec(source)?.[1]?.slice(0, 50) ?? "value";
  let name = word;
  for (let count = 2; Object.hasOwn(taken, name); count += 1) name = `${word}_${count}`;
  return name;
}

/** Passes the input of the same name as a parameter. */
export const missingParameterFix: FixRule = ({ path, code }, { written }) => {
  const [first, index, field, name] = path;
  if (code !== "missing" || first !== "steps" || field !== "params" || typeof name !== "string")
    return undefined;
  const value = `\${{ inputs.${name} }}`;
  const params = valueAt(written, ["steps", index!, "params"]);
  const isRead = typeof params === "object" && JSON.stringify(params).includes(value);
  if (valueAt(written, ["inputs", "properties", name]) === undefined || isRead) return undefined;
  return {
    fix: `Add ${name}: "${value}" to params.`,
    patch: [
      params === undefined
        ? { op: "add", path: ["steps", index!, "params"], value: { [name]: value } }
        : { op: "add", path, value },
    ],
  };
};

/** Replaces a misspelt table or column, which the message quotes. */
export const queryWordFix: FixRule = ({ path, message, did_you_mean: near }, { written }) => {
  const query = valueAt(written, path);
  if (near === undefined || !isQuery(path) || typeof query !== "string") return undefined;
  const quoted = new Set(message.match(/[A-Za-z_]\w*/g));
  const words = [...new Set(query.match(/[A-Za-z_]\w*/g))].filter(
    (word) => quoted.has(word) && word !== near && nearMatch(word, [near]) !== undefined,
  );
  if (words.length !== 1) return undefined;
  const value = query.replaceAll(new RegExp(String.raw`(?<!:)\b${words[0]!}\b`, "g"), near);
  return { fix: `Write ${near}.`, patch: [{ op: "replace", path, value }] };
};
