/** Finds the step that a written one means: its type, and its fields where they have other names or places. */
import { prefixPatch } from "../../../core/json-patch.ts";
import type { z } from "zod";
import { COMMON_STEP_FIELDS } from "../../../../schemas/workflow-definition.ts";
import { nearMatch } from "../../../core/near-match.ts";
import type { AnyStepType, Field } from "../../../core/step-type.ts";
import { fieldOfAlias, normalizeName } from "../../../core/field-aliases.ts";
import { STEP_ALIASES, TYPE_ALIASES, TYPE_FIELD_ALIASES } from "./aliases.ts";
import { convertField, idOf, intendRetry } from "./conversions.ts";
import { type Fields, intendFields, type MisplacedField } from "./intended-fields.ts";

export interface IntendedStep {
  fields: Record<string, unknown>;
  misplaced: readonly MisplacedField[];
  /** The type of the step, which may be written differently. */
  type: AnyStepType | undefined;
}

type Types = ReadonlyMap<string, AnyStepType>;

const COMMON = Object.keys(COMMON_STEP_FIELDS);
/** Names of an object around the fields of the type. */
const WRAPPERS: ReadonlySet<string> = new Set(
  [
    "with",
    "config",
    "configuration",
    "options",
    "settings",
    "spec",
    "properties",
    "params",
    "parameters",
  ].concat(["args", "arguments", "input", "inputs"]),
);

export function intendStep(written: Fields, types: Types): IntendedStep {
  const misplaced: MisplacedField[] = [];
  let fields = named(written, types, misplaced);
  const type =
    typeOf(fields["type"], types) ?? (fields["type"] === undefined ? inferType(fields, types) : undefined);
  if (type !== undefined) {
    fields = withPrompt(unwrapped(fields, type, misplaced), type, misplaced);
    const known = fieldNames(type);
    // The values of a set step have free names, which may resemble those of fields.
    const isSet = type.type === "set";
    const renamed = intendFields(fields, {
      known,
      aliases: { ...TYPE_FIELD_ALIASES[type.type], ...STEP_ALIASES },
      convert: convertField,
      ...(isSet && { isNear: isFieldOfSet }),
    });
    misplaced.push(...renamed.misplaced);
    fields = isSet ? withLooseValues(renamed.fields, known, misplaced) : renamed.fields;
  }
  const { retry } = fields;
  if (isObject(retry) && !misplaced.some(({ to }) => to[0] === "retry")) {
    const intended = intendRetry(retry);
    fields["retry"] = intended.fields;
    misplaced.push(...intended.misplaced.map((field) => below("retry", field)));
  }
  return { fields, misplaced, type };
}

const below = (key: string, field: MisplacedField): MisplacedField => ({
  ...field,
  from: [key, ...field.from],
  to: [key, ...field.to],
  patch: prefixPatch([key], field.patch),
});

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fieldNames = (type: AnyStepType): string[] => [
  "type",
  ...COMMON,
  ...Object.keys(type.fields as Record<string, Field>),
];

/** Gives the step an id and a type, if it has them under another name. */
function named(written: Fields, types: Types, misplaced: MisplacedField[]): Record<string, unknown> {
  let fields = { ...written };
  if (fields["type"] === undefined) {
    const key = Object.keys(fields).find(
      (name) =>
        fieldOfAlias(name, ["type"], STEP_ALIASES) === "type" && typeOf(fields[name], types) !== undefined,
    );
    if (key !== undefined) fields = moved(fields, key, "type", fields[key], misplaced);
  }
  if (fields["id"] === undefined) {
    const key = Object.keys(fields).find((name) =>
      ["id", "stepid", "key", "name"].includes(normalizeName(name)),
    );
    const id = key === undefined || usesName(fields, types, key) ? undefined : idOf(fields[key]);
    if (key !== undefined && id !== undefined) fields = moved(fields, key, "id", id, misplaced);
  } else if (
    fields["description"] === undefined &&
    typeof fields["name"] === "string" &&
    !usesName(fields, types, "name")
  )
    fields = moved(fields, "name", "description", fields["name"], misplaced);
  return fields;
}

/** Whether the type of the step has a field for this key, such as the `name` of a tool. */
function usesName(fields: Fields, types: Types, key: string): boolean {
  const type = typeOf(fields["type"], types);
  return (
    type !== undefined &&
    fieldOfAlias(key, Object.keys(type.fields as object), TYPE_FIELD_ALIASES[type.type] ?? {}) !== undefined
  );
}

function moved(
  fields: Fields,
  key: string,
  field: string,
  value: unknown,
  misplaced: MisplacedField[],
): Record<string, unknown> {
  const isSame = value === fields[key];
  misplaced.push({
    from: [key],
    to: [field],
    value,
    patch: isSame
      ? [{ op: "move", from: [key], path: [field] }]
      : [
          { op: "remove", path: [key] },
          { op: "add", path: [field], value },
        ],
    fix: isSame ? `Write ${field}.` : `Write ${field}: ${String(value)}.`,
  });
  return Object.fromEntries(
    Object.entries(fields).map(([name, inner]) => (name === key ? [field, value] : [name, inner])),
  );
}

/** Returns the type that a name stands for. */
function typeOf(name: unknown, types: Types): AnyStepType | undefined {
  if (typeof name !== "string") return undefined;
  const known = [...types.keys()];
  return (
    types.get(name) ?? types.get(fieldOfAlias(name, known, TYPE_ALIASES) ?? nearMatch(name, known) ?? "")
  );
}

/** Returns the only type of which the step has all required fields. */
function inferType(fields: Fields, types: Types): AnyStepType | undefined {
  const found = [...types.values()].filter((type) => {
    const own = Object.entries(type.fields as Record<string, Field>);
    const required = own
      .filter(([, { schema }]) => !schema.safeParse(undefined).success)
      .map(([name]) => name);
    return (
      required.length > 0 &&
      required.every((name) => Object.hasOwn(fields, name)) &&
      Object.keys(fields).every((name) => COMMON.includes(name) || own.some(([field]) => field === name))
    );
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Moves the fields of the type out of an object around them, such as `with` or `config`. */
function unwrapped(fields: Fields, type: AnyStepType, misplaced: MisplacedField[]): Record<string, unknown> {
  const own = type.fields as Record<string, Field>;
  const aliases = TYPE_FIELD_ALIASES[type.type] ?? {};
  const known = Object.keys(own);
  const present = new Set(Object.keys(fields).map((key) => fieldOfAlias(key, known, aliases) ?? key));
  for (const [key, value] of Object.entries(fields)) {
    if (known.includes(key) || !WRAPPERS.has(normalizeName(key)) || !isObject(value)) continue;
    const inner = Object.keys(value);
    const givesRequired = known.some(
      (name) => inner.includes(name) && !present.has(name) && !own[name]!.schema.safeParse(undefined).success,
    );
    if (!givesRequired || inner.some((name) => !known.includes(name) || Object.hasOwn(fields, name)))
      continue;
    for (const name of inner)
      misplaced.push({
        from: [key, name],
        to: [name],
        value: value[name],
        patch: [
          ...inner.map((field) => ({ op: "move" as const, from: [key, field], path: [field] })),
          { op: "remove", path: [key] },
        ],
        fix: `Move ${inner.join(", ")} from ${key} to the step itself.`,
      });
    const { [key]: _, ...rest } = fields;
    return { ...rest, ...value };
  }
  return { ...fields };
}

/** Whether a name near that of a field stands for it: the value fits, so it is hardly one of the values. */
function isFieldOfSet(field: string, value: unknown): boolean {
  if (field === "values") return isObject(value);
  const schema = (COMMON_STEP_FIELDS as Readonly<Record<string, z.ZodType>>)[field];
  return field !== "description" && schema !== undefined && schema.safeParse(value).success;
}

/** Reads the messages of a chat, at most one of the system and one of the user, as `system` and `prompt`. */
function withPrompt(fields: Fields, type: AnyStepType, misplaced: MisplacedField[]): Record<string, unknown> {
  const { messages, ...rest } = fields;
  if (type.type !== "model" || !Array.isArray(messages) || "prompt" in rest || "system" in rest)
    return { ...fields };
  const byRole = new Map(
    (messages as { role?: unknown; content?: unknown }[]).map(({ role, content }) => [role, content]),
  );
  const [system, prompt] = [byRole.get("system"), byRole.get("user")];
  const isReadable =
    byRole.size === messages.length &&
    typeof prompt === "string" &&
    messages.length === (system === undefined ? 1 : 2) &&
    (system === undefined || typeof system === "string");
  if (!isReadable) return { ...fields };
  const texts = { ...(system !== undefined && { system }), prompt };
  misplaced.push({
    from: ["messages"],
    to: ["prompt"],
    value: prompt,
    patch: [
      { op: "remove", path: ["messages"] },
      ...Object.entries(texts).map(([key, value]) => ({ op: "add" as const, path: [key], value })),
    ],
    fix: `Write ${Object.keys(texts).join(" and ")}, each as one text.`,
  });
  return { ...rest, ...texts };
}

/** Moves the values that a set step has beside its fields below `values`. */
function withLooseValues(
  fields: Fields,
  known: readonly string[],
  misplaced: MisplacedField[],
): Record<string, unknown> {
  const loose = Object.keys(fields).filter((key) => !known.includes(key));
  const { values = {} } = fields;
  if (loose.length === 0 || !isObject(values) || loose.some((key) => Object.hasOwn(values, key)))
    return { ...fields };
  const patch = [
    ...(Object.hasOwn(fields, "values") ? [] : [{ op: "add" as const, path: ["values"], value: {} }]),
    ...loose.map((key) => ({ op: "move" as const, from: [key], path: ["values", key] })),
  ];
  for (const key of loose)
    misplaced.push({
      from: [key],
      to: ["values", key],
      value: fields[key],
      patch,
      fix: `Move ${key} into values.`,
    });
  const entries = Object.entries(fields);
  return {
    ...Object.fromEntries(entries.filter(([key]) => known.includes(key))),
    values: { ...values, ...Object.fromEntries(entries.filter(([key]) => loose.includes(key))) },
  };
}
