/** Finds the top-level fields that a definition means where it uses other names or forms. */
import { prefixPatch } from "../../../core/json-patch.ts";
import { TOP_FIELDS } from "../../../../schemas/workflow-definition.ts";
import { SCHEDULE_ALIASES, TOP_ALIASES } from "./aliases.ts";
import { convertField, idOf, valueOfAlias } from "./conversions.ts";
import { type Fields, intendFields, type MisplacedField } from "./intended-fields.ts";

export interface IntendedDefinition {
  fields: Record<string, unknown>;
  misplaced: readonly MisplacedField[];
}

const SCHEDULE_FIELDS = ["cron", "timezone", "inputs", "overlap"];

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @param known the names of the top-level fields, those of files included where they are allowed */
export function intendDefinition(written: Fields, known: readonly string[]): IntendedDefinition {
  const top = intendFields(written, { known, aliases: TOP_ALIASES, convert: convertTop });
  const { fields } = top;
  const misplaced = [...top.misplaced];
  const zone = ["timezone", "tz"].find((key) => typeof fields[key] === "string");
  if (zone !== undefined && isObject(fields["schedule"]) && !("timezone" in fields["schedule"])) {
    const { [zone]: timezone } = fields;
    delete fields[zone];
    fields["schedule"] = { ...fields["schedule"], timezone };
    misplaced.push({
      from: [zone],
      to: ["schedule", "timezone"],
      value: timezone,
      patch: [{ op: "move", from: [zone], path: ["schedule", "timezone"] }],
      fix: `Move ${zone} into schedule.`,
    });
  }
  const { schedule } = fields;
  if (isObject(schedule) && !misplaced.some(({ to }) => to[0] === "schedule")) {
    const intended = intendSchedule(schedule);
    fields["schedule"] = intended.fields;
    for (const field of intended.misplaced)
      misplaced.push({
        ...field,
        from: ["schedule", ...field.from],
        to: ["schedule", ...field.to],
        patch: prefixPatch(["schedule"], field.patch),
      });
  }
  return { fields, misplaced };
}

const intendSchedule = (schedule: Fields): ReturnType<typeof intendFields> =>
  intendFields(schedule, {
    known: SCHEDULE_FIELDS,
    aliases: SCHEDULE_ALIASES,
    convert: (field, _, value) => valueOfAlias(field, value) ?? value,
  });

function convertTop(field: string, key: string, value: unknown): unknown {
  if (field === "steps") return stepListOf(value) ?? value;
  const converted = convertField(field, key, value);
  return field === "schedule" && isObject(converted) ? intendSchedule(converted).fields : converted;
}

/** Converts `{fetch: {type: …}}` to a list of steps; undefined for anything but an object of steps. */
export function stepListOf(value: unknown): unknown[] | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length === 0 || !entries.every(([key, step]) => isObject(step) && idOf(key) !== undefined))
    return undefined;
  return entries.map(([key, step]) => Object.assign({ id: idOf(key) }, step));
}

export const TOP_FIELD_NAMES: readonly string[] = ["steps", ...Object.keys(TOP_FIELDS)];
