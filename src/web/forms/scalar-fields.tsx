/** The fields for scalar values: text, numbers, booleans and choices. */
import { Checkbox, MultiSelect, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import * as texts from "#texts/forms";
import type { FieldProps } from "./field.tsx";
import { issueText } from "./issues.ts";
import { fromLocalDateTime, isDate, toLocalDateTime } from "./local-datetime.ts";
import type { Field, FieldOf } from "./schema.ts";

const ERROR_STYLES = { error: { whiteSpace: "pre-line" } } as const;

/** The props that all inputs share. */
const commonProps = ({ field, issues, disabled, ariaLabel }: Omit<FieldProps, "value" | "onChange">) => ({
  ...(ariaLabel === undefined ? { label: field.label } : { "aria-label": ariaLabel }),
  description: field.help || undefined,
  error: issueText(issues),
  withAsterisk: field.required && ariaLabel === undefined,
  "aria-required": field.required,
  disabled,
  styles: ERROR_STYLES,
});

type Props<K extends Field["kind"]> = Omit<FieldProps, "field"> & {
  field: FieldOf<K>;
};

export function TextField({ field, value, onChange, ...rest }: Props<"text">): ReactNode {
  const text = typeof value === "string" ? value : (value ?? null) === null ? "" : JSON.stringify(value);
  const change = (typed: string) => onChange(typed === "" ? field.empty : typed);
  const props = commonProps({ field, ...rest });
  if (field.multiline || text.includes("\n")) {
    return (
      <Textarea
        {...props}
        autosize
        minRows={3}
        maxRows={16}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  }
  if (field.format === "date-time" && (text === "" || toLocalDateTime(text) !== undefined)) {
    return (
      <TextInput
        {...props}
        type="datetime-local"
        step={1}
        description={[field.help, texts.inTimeZone({ zone: TIME_ZONE })].filter(Boolean).join(" ")}
        value={toLocalDateTime(text) ?? ""}
        onChange={({ currentTarget: { value: local } }) =>
          change(local === "" ? "" : fromLocalDateTime(local))
        }
      />
    );
  }
  const isNative = field.format !== "date-time" && (field.format !== "date" || text === "" || isDate(text));
  return (
    <TextInput
      {...props}
      type={isNative ? field.format : "text"}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function NumberField({ field, value, onChange, ...rest }: Props<"number">): ReactNode {
  const props = commonProps({ field, ...rest });
  const description = [field.help, limitsText(field)].filter(Boolean).join(" ");
  return (
    <NumberInput
      {...props}
      description={description || undefined}
      value={typeof value === "number" || typeof value === "string" ? value : ""}
      onChange={(typed) => onChange(typed === "" ? field.empty : typed)}
      allowDecimal={!field.integer}
      clampBehavior="none"
      {...(field.min !== undefined && { min: field.min })}
      {...(field.max !== undefined && { max: field.max })}
    />
  );
}

function limitsText({ min, max }: FieldOf<"number">): string | undefined {
  if (min === undefined) return max === undefined ? undefined : texts.atMost({ max });
  return max === undefined ? texts.atLeast({ min }) : texts.between({ min, max });
}

export function BooleanField({ field, value, onChange, ...rest }: Props<"boolean">): ReactNode {
  if (field.optional || (value !== undefined && typeof value !== "boolean")) {
    return (
      <Select
        {...commonProps({ field, ...rest })}
        data={[
          { value: "true", label: texts.yes },
          { value: "false", label: texts.no },
        ]}
        placeholder={texts.notSet}
        clearable
        value={typeof value === "boolean" ? String(value) : null}
        onChange={(option) => onChange(option === null ? field.empty : option === "true")}
      />
    );
  }
  const { withAsterisk: _asterisk, ...props } = commonProps({ field, ...rest });
  return (
    <Checkbox
      {...props}
      checked={value === true}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** Options are identified by their JSON, since they need not be strings. */
const keyOf = (value: unknown): string => JSON.stringify(value) ?? "";
const toSelectData = (options: FieldOf<"choice">["options"]) =>
  options.map(({ label, value }) => ({ label, value: keyOf(value) }));
/** A select with more options than this gets a search field. */
const SEARCHABLE_ABOVE = 8;

export function ChoiceField({ field, value, onChange, ...rest }: Props<"choice">): ReactNode {
  return (
    <Select
      {...commonProps({ field, ...rest })}
      data={toSelectData(field.options)}
      placeholder={field.required ? texts.select : texts.notSet}
      clearable={!field.required}
      searchable={field.options.length > SEARCHABLE_ABOVE}
      value={(value ?? null) === null ? null : keyOf(value)}
      onChange={(key) => onChange(key === null ? field.empty : JSON.parse(key))}
    />
  );
}

export function ChoicesField({ field, value, onChange, ...rest }: Props<"choices">): ReactNode {
  const selected = Array.isArray(value) ? value.map(keyOf) : [];
  return (
    <MultiSelect
      {...commonProps({ field, ...rest })}
      data={toSelectData(field.options)}
      placeholder={selected.length === 0 ? texts.select : ""}
      clearable
      searchable={field.options.length > SEARCHABLE_ABOVE}
      value={selected}
      onChange={(keys) =>
        onChange(
          keys.length === 0 && !field.required ? field.empty : keys.map((key): unknown => JSON.parse(key)),
        )
      }
    />
  );
}
