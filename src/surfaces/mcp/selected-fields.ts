/** `fields` of a call: the part of an answer that an agent wants, so that it reads no more. */
import type { z } from "zod";
import type { Issue } from "../../../schemas/problem.ts";
import { choosesProject } from "../../core/access.ts";
import { nearMatch } from "../../core/near-match.ts";
import type { Principal } from "../../core/ports.ts";
import type { AnyTool } from "../../core/tool.ts";

/** Says which of several answers it is, so it is never left out. */
const ID = "id";

/** The input that names values of the items of a list by their paths, and the field of an item that has them. */
export const VALUES = "values";
export const takesValues = ({ page, input }: AnyTool): boolean =>
  page !== undefined && VALUES in (input as z.ZodObject).shape;

/** The JSON Schema of `fields`, as `tools/list` shows it. */
export const FIELDS_SCHEMA = {
  type: "array",
  items: { type: "string" },
  description: "Only these fields of the answer.",
} as const;
/** The same where they name values of the items, too. */
export const PATHS_SCHEMA = {
  ...FIELDS_SCHEMA,
  description: "Only these fields, and values: output.total, steps.load.rows[0].id.",
} as const;

/** An answer with only the fields that a call names, or the items of a list with these. */
export type SelectFields = (output: unknown) => unknown;

/**
 * Takes `fields` out of the arguments of a call. They say only what is shown, so a name that the answer does not have refuses
 * nothing: the answer has a warning about it beside the fields that it has.
 */
export function takeFields(
  tool: AnyTool,
  args: Record<string, unknown>,
  { access }: Pick<Principal, "access">,
): { input: Record<string, unknown>; select: SelectFields } {
  if (tool.selectable !== true) return { input: args, select: (output) => briefly(tool, args, output) };
  const { fields, ...others } = args;
  const asked = takesValues(tool) ? valuesIn(others) : undefined;
  const input = asked === undefined ? others : { ...others, [VALUES]: asked };
  if (fields === undefined || fields === null)
    return { input, select: (output) => briefly(tool, input, output) };
  const allowed = Object.keys(((tool.page?.item ?? tool.output) as z.ZodObject).shape).filter(
    (name) => name !== "project" || choosesProject(access),
  );
  const named = namesIn(fields);
  const paths = takesValues(tool) ? named.filter(isValuePath) : [];
  const values = [...new Set([...(asked ?? []), ...paths])];
  const names = values.length === 0 ? named : [...named.filter((name) => !paths.includes(name)), VALUES];
  const pick = (value: object): object =>
    Object.fromEntries(Object.entries(value).filter(([name]) => name === ID || names.includes(name)));
  const unknown = unknownNames(names, allowed);
  return {
    input: values.length === 0 ? input : { ...input, [VALUES]: values },
    select: (output) => {
      const selected =
        tool.page === undefined
          ? pick(output as object)
          : { ...(output as object), items: (output as { items: object[] }).items.map(pick) };
      return unknown === undefined ? selected : withWarning(selected, unknown);
    },
  };
}

const isValuePath = (name: unknown): boolean =>
  typeof name === "string" && /^(?:inputs|output|state|committed|steps)(?:[.[]|$)/.test(name);
/** The paths that a call names beside `fields`: no path has a comma or a space, so a text is read like one of `fields`. */
const valuesIn = ({ [VALUES]: values }: Record<string, unknown>): readonly unknown[] | undefined =>
  values === undefined || values === null ? undefined : namesIn(values);

/** The short form of an answer. That of a list says how to get what its items lack. */
function briefly(
  { brief, page }: AnyTool,
  input: Readonly<Record<string, unknown>>,
  output: unknown,
): unknown {
  if (brief === undefined) return output;
  if (page === undefined) return brief(output as Item, input);
  const { items, ...rest } = output as { items: Item[] };
  const shown = items.map((item) => brief(item, input) as Item);
  const cut = new Set(
    items.flatMap((item, index) =>
      Object.keys(item).filter((name) => item[name] !== null && item[name] !== shown[index]![name]),
    ),
  );
  const named = [...cut].filter((name) => !Object.hasOwn(input, name));
  return {
    items: shown,
    ...rest,
    ...(named.length > 0 && { next: `fields brings what is cut or left out: ${named.join(", ")}.` }),
  };
}

type Item = Record<string, unknown>;

/** The names in a list, or in a text with commas or of JSON, as some models write lists. Brackets in a path stay. */
const namesIn = (fields: unknown): readonly unknown[] =>
  typeof fields === "string"
    ? fields
        .replace(/^\s*\[([^]*?)\]?\s*$/, "$1")
        .split(/[\s,"]+/)
        .filter(Boolean)
    : [fields].flat();

/** Maximum number of unknown names in a warning, and the maximum length of each, in characters. */
const MAX_NAMES = 20;
const MAX_NAME_CHARS = 100;

/** One warning about all names that are no fields of the answer; undefined when there are none. */
function unknownNames(names: readonly unknown[], allowed: readonly string[]): Issue | undefined {
  const unknown = names
    .filter((name) => typeof name !== "string" || !allowed.includes(name))
    .map((name) => (typeof name === "string" ? name : JSON.stringify(name)).slice(0, MAX_NAME_CHARS));
  if (unknown.length === 0) return undefined;
  const near = unknown.map((name) => nearMatch(name, allowed)).find((name) => name !== undefined);
  return {
    path: "fields",
    code: "not_allowed",
    message: `has names that are no fields of this answer: ${unknown.slice(0, MAX_NAMES).join(", ")}`,
    allowed: [...allowed],
    ...(near !== undefined && { did_you_mean: near }),
  };
}

/** Adds a warning to those that an answer has of its own. */
const withWarning = (answer: object, warning: Issue): object => ({
  ...answer,
  warnings: [warning, ...((answer as { warnings?: Issue[] }).warnings ?? [])],
});
