/** Proposes the inputs of a workflow that is made from a trail: values that look like parameters, with a schema. */
import { isMailAddress } from "../../schemas/mail-address.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { schemaOfValue } from "../../src/core/json-schema/index.ts";

/** Maximum size of a default, in characters of JSON: without one, each run has to give the value. */
const MAX_DEFAULT_CHARS = 2_000;

interface Proposed {
  value: unknown;
  schema: Record<string, unknown>;
}

export interface TrailInputs {
  /**
   * Proposes an input, or finds the one that was proposed with the same name and value.
   * @param name the name of the field that had the value
   * @param stepId the step, for the name if another input has the name already
   * @returns its name, and whether it is new
   */
  propose(name: string, value: unknown, stepId: string): { name: string; isNew: boolean };
  /** The JSON Schema of the inputs; undefined for none. */
  schema(): Record<string, unknown> | undefined;
  /** The values of the trail. */
  values(): Record<string, unknown>;
}

export function trailInputs(): TrailInputs {
  const proposed = new Map<string, Proposed>();

  function freeName(name: string, value: unknown, stepId: string): string {
    const base = /^[A-Za-z_]\w{0,60}$/.test(name) ? name : "value";
    const isFree = (candidate: string): boolean => {
      const known = proposed.get(candidate);
      return known === undefined || canonicalJson(known.value) === canonicalJson(value);
    };
    const candidates = [base, `${stepId}_${base}`];
    for (let count = 2; ; count += 1) {
      const free = candidates.find(isFree);
      if (free !== undefined) return free;
      candidates.push(`${base}_${count}`);
    }
  }

  return {
    propose(wanted, value, stepId) {
      const name = freeName(wanted, value, stepId);
      const isNew = !proposed.has(name);
      if (isNew) proposed.set(name, { value, schema: { ...schemaOfValue(value), ...formatOf(value) } });
      return { name, isNew };
    },
    schema() {
      if (proposed.size === 0) return undefined;
      const properties: Record<string, unknown> = {};
      const required: string[] = [];
      for (const [name, { value, schema }] of proposed) {
        const isSmall = JSON.stringify(value).length <= MAX_DEFAULT_CHARS;
        properties[name] = isSmall ? { ...schema, default: value } : schema;
        if (!isSmall) required.push(name);
      }
      return { type: "object", properties, ...(required.length > 0 && { required }) };
    },
    values: () => Object.fromEntries([...proposed].map(([name, { value }]) => [name, value])),
  };
}

const FORMATS = [
  ["date", /^\d{4}-\d\d-\d\d$/],
  ["date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/],
  ["email", { test: isMailAddress }],
] as const;

function formatOf(value: unknown): { format?: string } {
  const found = typeof value === "string" ? FORMATS.find(([, pattern]) => pattern.test(value)) : undefined;
  return found === undefined ? {} : { format: found[0] };
}

/** The fields whose values are parameters of something else, by step type. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  sql: ["params"],
  workflow: ["inputs"],
  tool: ["arguments"],
  http: ["query"],
};

/**
 * Whether a value of a step looks like a parameter: one of those that a step passes on by name, or, in any field, a date, a
 * time or a mail address.
 * @param path its place in the step: the field, and what is below
 */
export function looksLikeParameter(
  type: string,
  path: readonly (string | number)[],
  value: unknown,
): boolean {
  if (typeof value === "string" && formatOf(value).format !== undefined) return true;
  const isScalar = ["string", "number", "boolean"].includes(typeof value);
  return isScalar && path.length > 1 && PARAMETERS[type]?.includes(String(path[0])) === true;
}
