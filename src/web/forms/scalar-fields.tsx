/** The fields of one value each: text, numbers, yes or no, choices. */
import { Checkbox, MultiSelect, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { FieldProps } from "./field.tsx";
import { issueText } from "./issues.ts";
import { fromLocalDateTime, isDate, toLocalDateTime } from "./local-datetime.ts";
import type { Field, FieldOf } from "./schema.ts";

const ERRORS = { error: { whiteSpace: "pre-line" } } as const;

/** What every input is given. */
const common = ({ field, issues, disabled, ariaLabel }: Omit<FieldProps, "value" | "onChange">) => ({
  ...(ariaLabel === undefined ? { label: field.label } : { "aria-label": ariaLabel }),
  description: field.help || undefined,
  error: issueText(issues),
  withAsterisk: field.required && ariaLabel === undefined,
  "aria-required": field.required,
  disabled,
  styles: ERRORS,
});

type Props<K extends Field["kind"]> = Omit<FieldProps, "field"> & {
  field: FieldOf<K>;
};

export function TextField({ field, value, onChange, ...rest }: Props<"text">): ReactNode {
  const shown = typeof value === "string" ? value : (value ?? null) === null ? "" : JSON.stringify(value);
  const change = (text: string) => onChange(text === "" ? field.empty : text);
  const given = common({ field, ...rest });
  if (field.multiline || shown.includes("\n")) {
    return (
      <Textarea
        {...given}
        autosize
        minRows={3}
        maxRows={16}
        value={shown}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  }
  if (field.format === "date-time" && (shown === "" || toLocalDateTime(shown) !== undefined)) {
    return (
      <TextInput
        {...given}
        type="datetime-local"
        step={1}
        description={[field.help, `In your time zone, ${ZONE}.`].filter(Boolean).join(" ")}
        value={toLocalDateTime(shown) ?? ""}
        onChange={({ currentTarget: { value: local } }) =>
          change(local === "" ? "" : fromLocalDateTime(local))
        }
      />
    );
  }
  const isNative = field.format !== "date-time" && (field.format !== "date" || shown === "" || isDate(shown));
  return (
    <TextInput
      {...given}
      type={isNative ? field.format : "text"}
      value={shown}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function NumberField({ field, value, onChange, ...rest }: Props<"number">): ReactNode {
  const bounds = [
    field.min !== undefined && `at least ${field.min}`,
    field.max !== undefined && `at most ${field.max}`,
  ].filter(Boolean);
  const given = common({ field, ...rest });
  const description = [field.help, bounds.length > 0 && `(${bounds.join(", ")})`].filter(Boolean).join(" ");
  return (
    <NumberInput
      {...given}
      description={description || undefined}
      value={typeof value === "number" || typeof value === "string" ? value : ""}
      onChange={(given_) => onChange(given_ === "" ? field.empty : given_)}
      allowDecimal={!field.whole}
      clampBehavior="none"
      {...(field.min !== undefined && { min: field.min })}
      {...(field.max !== undefined && { max: field.max })}
    />
  );
}

export function BooleanField({ field, value, onChange, ...rest }: Props<"boolean">): ReactNode {
  if (field.optional || (value !== undefined && typeof value !== "boolean")) {
    return (
      <Select
        {...common({ field, ...rest })}
        data={[
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ]}
        placeholder="Left out"
        clearable
        value={typeof value === "boolean" ? String(value) : null}
        onChange={(chosen) => onChange(chosen === null ? field.empty : chosen === "true")}
      />
    );
  }
  const { withAsterisk: _asterisk, ...given } = common({ field, ...rest });
  return (
    <Checkbox
      {...given}
      checked={value === true}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** Options are told apart by their JSON: they need not be text. */
const keyOf = (value: unknown): string => JSON.stringify(value) ?? "";
const dataOf = (options: FieldOf<"choice">["options"]) =>
  options.map(({ label, value }) => ({ label, value: keyOf(value) }));
const MANY = 8;

export function ChoiceField({ field, value, onChange, ...rest }: Props<"choice">): ReactNode {
  return (
    <Select
      {...common({ field, ...rest })}
      data={dataOf(field.options)}
      placeholder={field.required ? "Choose" : "Left out"}
      clearable={!field.required}
      searchable={field.options.length > MANY}
      value={(value ?? null) === null ? null : keyOf(value)}
      onChange={(chosen) => onChange(chosen === null ? field.empty : JSON.parse(chosen))}
    />
  );
}

export function ChoicesField({ field, value, onChange, ...rest }: Props<"choices">): ReactNode {
  const chosen = Array.isArray(value) ? value.map(keyOf) : [];
  return (
    <MultiSelect
      {...common({ field, ...rest })}
      data={dataOf(field.options)}
      placeholder={chosen.length === 0 ? "Choose" : ""}
      clearable
      searchable={field.options.length > MANY}
      value={chosen}
      onChange={(keys) =>
        onChange(
          keys.length === 0 && !field.required ? field.empty : keys.map((key): unknown => JSON.parse(key)),
        )
      }
    />
  );
}
