/** The form of an approval as fields of a page without scripts, and back to values. */
import { flatFields } from "../../../tools/approvals/decision-question.ts";
import { readNumberText } from "../../core/number-text.ts";

export interface FlatField {
  name: string;
  label: string;
  description: string | undefined;
  type: "string" | "number" | "integer" | "boolean";
  required: boolean;
  choices: readonly string[] | undefined;
  /** The default, as text. */
  value: string;
  /** Limits as attributes of the input. */
  attributes: Readonly<Record<string, string | number>>;
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  minLength: "minlength",
  maxLength: "maxlength",
  minimum: "min",
  maximum: "max",
};

/** @returns the fields, and the names of required ones that such a page can't ask for */
export function formFields(form: Readonly<Record<string, unknown>> | null): {
  fields: FlatField[];
  unsupported: string[];
} {
  const { properties, required, missing } = flatFields(form);
  const fields = Object.entries(properties).map(([name, schema]): FlatField => {
    const type = schema["type"] as FlatField["type"];
    const limits = Object.entries(ATTRIBUTES).flatMap(([keyword, attribute]) =>
      schema[keyword] === undefined ? [] : [[attribute, schema[keyword] as number] as const],
    );
    return {
      name,
      label: typeof schema["title"] === "string" ? schema["title"] : name,
      description: schema["description"] as string | undefined,
      type,
      required: required.includes(name),
      choices: schema["enum"] as readonly string[] | undefined,
      value: textOf(schema["default"]),
      attributes: { ...Object.fromEntries(limits), ...(type === "number" && { step: "any" }) },
    };
  });
  return { fields, unsupported: missing };
}

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";

/** The values of a form that was sent. What is not filled in is left out; the schema of the form checks the rest. */
export function formValues(
  form: Readonly<Record<string, unknown>> | null,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  if (form === null) return undefined;
  const values = formFields(form).fields.flatMap(({ name, type }): [string, unknown][] => {
    const sent = body[`form_${name}`];
    if (type === "boolean") return [[name, sent === "true"]];
    if (sent === undefined || sent === "") return [];
    if (type === "string" || typeof sent !== "string") return [[name, sent]];
    return [[name, readNumberText(sent.trim()) ?? sent]];
  });
  return Object.fromEntries(values);
}
