/** Every field of definitions and of the inputs of operations, by its name: each is a topic of the guide. */
import type { z } from "zod";
import { COMMON_STEP_FIELDS, TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { oncePer } from "../../src/core/once-per.ts";
import type { AnyStepType, Field } from "../../src/core/step-type.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { FILE_FIELDS } from "../../src/engine/definition/definition-schema.ts";
import { fieldLine, metaOf } from "./field-line.ts";

/** Maximum number of owners that a line names. */
const MAX_OWNERS = 3;
/** Operations that run what a definition says: their fields are shown beside those of definitions. */
const RUNNING: ReadonlySet<string> = new Set([
  "run_workflow",
  "start_backfill",
  "preview_backfill",
  "run_step",
]);

/** A place in which a field of a name stands. */
export interface FieldPlace {
  /** What has the field: `a step`, `run_workflow`. */
  owner: string;
  name: string;
  schema: z.ZodType;
  kind?: Field["kind"] | undefined;
}

/** The lines on a field in its places. The places in which it is the same share one line. */
export function placeLines(places: readonly FieldPlace[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { owner, name, schema, kind } of places) {
    const line = fieldLine(name, schema, kind);
    const known = owners.get(line);
    if (known === undefined) owners.set(line, [owner]);
    else if (!known.includes(owner)) known.push(owner);
  }
  return [...owners].map(([line, named]) => `${ownersText(named)}: ${line}`);
}

function ownersText(owners: readonly string[]): string {
  if (owners.length === 1 && owners[0] === DEFINITION) return "Beside steps";
  const others = owners.length - MAX_OWNERS;
  return `Of ${owners.slice(0, MAX_OWNERS).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

const DEFINITION = "the definition";

/** The places of the fields of definitions, by their names. */
export const definitionFields = oncePer((stepTypes: readonly AnyStepType[]) => {
  const places: Places = new Map();
  addFields(places, "a step", COMMON_STEP_FIELDS);
  addFields(places, DEFINITION, TOP_FIELDS);
  addFields(places, "a workflow's file", FILE_FIELDS);
  for (const { type, fields } of stepTypes)
    for (const [name, { schema, kind }] of Object.entries(fields as Readonly<Record<string, Field>>))
      addField(places, { owner: `a step of type ${type}`, name, schema, kind });
  return places;
});

/** The places of the fields that operations take, by their names. */
export const operationFields = oncePer((operations: readonly AnyTool[]) => ({
  running: fieldsOf(operations.filter(({ name }) => RUNNING.has(name))),
  others: fieldsOf(operations.filter(({ name }) => !RUNNING.has(name))),
}));

function fieldsOf(operations: readonly AnyTool[]): Places {
  const places: Places = new Map();
  for (const { name, input } of operations) addFields(places, name, (input as z.ZodObject).shape);
  return places;
}

type Places = Map<string, FieldPlace[]>;

function addFields(places: Places, owner: string, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, schema] of Object.entries(fields))
    addField(places, { owner, name, schema: schema as z.ZodType });
}

/** Adds a field, and those inside of it. A field inside that nothing describes stands for the one that it is in. */
function addField(places: Places, place: FieldPlace): void {
  const add = (name: string, added: FieldPlace): void => {
    places.set(name, [...(places.get(name) ?? []), added]);
  };
  add(place.name, place);
  const addInner = (within: FieldPlace): void => {
    const owner =
      within.owner === DEFINITION ? `\`${within.name}\`` : `\`${within.name}\` of ${within.owner}`;
    for (const [name, schema] of fieldsWithin(within.schema)) {
      const inner = { owner, name, schema };
      add(name, metaOf(schema).description === undefined ? within : inner);
      addInner(inner);
    }
  };
  addInner(place);
}

interface Definition {
  type: string;
  shape?: Readonly<Record<string, z.ZodType>>;
  innerType?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
  in?: z.ZodType;
}

/** The fields of the objects that a value of a schema is, or is made of. */
function fieldsWithin(schema: z.ZodType): [string, z.ZodType][] {
  const { shape, innerType, element, valueType, options, in: input } = schema.def as unknown as Definition;
  if (shape !== undefined) return Object.entries(shape);
  const parts = [innerType, element, valueType, input, ...(options ?? [])];
  return parts.flatMap((part) => (part === undefined ? [] : fieldsWithin(part)));
}
