/**
 * Finds the fields that an object means where it uses other names. The checker goes on with the intended object, so that
 * a wrong name hides no other issue, and the fix writes it that way.
 */
import { nearMatch } from "../../../core/near-match.ts";
import type { PatchOperation } from "../../../core/json-patch.ts";
import { fieldOfAlias } from "../../../core/field-aliases.ts";

export type Path = readonly PropertyKey[];
export type Fields = Readonly<Record<string, unknown>>;

/** A field that is written elsewhere than where it belongs. */
export interface MisplacedField {
  /** The path as written, in the object. */
  from: Path;
  /** Where it belongs. */
  to: Path;
  /** Its value there, converted to what the field takes. */
  value: unknown;
  /** Changes the object. */
  patch: readonly PatchOperation[];
  fix: string;
}

export interface IntendedFields {
  fields: Record<string, unknown>;
  misplaced: readonly MisplacedField[];
}

interface Options {
  /** The names of the known fields. */
  known: readonly string[];
  aliases: Readonly<Record<string, string>>;
  /** Converts a value to what its field takes. Returns the value itself if there is nothing to convert. */
  convert?: (field: string, key: string, value: unknown) => unknown;
  /** Whether a near match counts, with the value of the field. By default each does. */
  isNear?: (field: string, value: unknown) => boolean;
}

/** Renames the unknown keys of an object that stand for a known field, unless that field is set too. */
export function intendFields(written: Fields, options: Options): IntendedFields {
  const fields: Record<string, unknown> = {};
  const misplaced: MisplacedField[] = [];
  const taken = new Set(Object.keys(written));
  for (const [key, value] of Object.entries(written)) {
    const field = options.known.includes(key) ? undefined : intendedField(key, value, options);
    if (field === undefined || taken.has(field)) {
      fields[key] = value;
      continue;
    }
    taken.add(field);
    const renamed = renamedField(key, field, value, options.convert?.(field, key, value) ?? value);
    fields[field] = renamed.value;
    misplaced.push(renamed);
  }
  return { fields, misplaced };
}

function intendedField(key: string, value: unknown, { known, aliases, isNear }: Options): string | undefined {
  const alias = fieldOfAlias(key, known, aliases);
  if (alias !== undefined) return alias;
  const near = nearMatch(key, known);
  return near !== undefined && (isNear === undefined || isNear(near, value)) ? near : undefined;
}

function renamedField(key: string, field: string, value: unknown, converted: unknown): MisplacedField {
  const isSame = converted === value;
  return {
    from: [key],
    to: [field],
    value: converted,
    patch: isSame
      ? [{ op: "move", from: [key], path: [field] }]
      : [
          { op: "remove", path: [key] },
          { op: "add", path: [field], value: converted },
        ],
    fix: isSame ? `Write ${field}.` : `Write ${field}: ${JSON.stringify(converted)}.`,
  };
}

/** Whether a path is `outer`, or below it. */
export const isWithin = (outer: Path, path: Path): boolean =>
  outer.length <= path.length && outer.every((part, index) => part === path[index]);

/** Converts the path of an intended object to that of the object as written. */
export function writtenPath(path: Path, misplaced: readonly MisplacedField[]): Path {
  const field = misplaced.findLast(({ to }) => isWithin(to, path));
  if (field === undefined) return path;
  const isMoved = field.patch.some(({ op }) => op === "move");
  return isMoved ? [...field.from, ...path.slice(field.to.length)] : field.from;
}
