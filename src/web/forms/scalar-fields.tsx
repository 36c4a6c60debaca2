/** The fields for scalar values: text, numbers, booleans and choices. */
import { Checkbox, MultiSelect, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
import type { FieldProps } from "./field.tsx";
import { readTyped } from "./exact-number.ts";
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
        description={[field.help, `In your time zone, ${TIME_ZONE}.`].filter(Boolean).join(" ")}
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
      {...(field.format === "email" ? MAIL_ADDRESS_INPUT : { type: isNative ? field.format : "text" })}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A number that JavaScript can't hold is the text of its digits. */
export function NumberField({ field, value, onChange, ...rest }: Props<"number">): ReactNode {
  // The typed text is kept while it represents the value: 1.0 may become 1.05.
  const [draft, setDraft] = useState<{ value: unknown; typed: number | string }>({
    value,
    typed: shownNumber(value),
  });
  const change = (typed: number | string) => {
    const number = typed === "" ? field.empty : readTyped(String(typed));
    setDraft({ value: number, typed });
    onChange(number);
  };
  const limits = [
    field.min !== undefined && `at least ${field.min}`,
    field.max !== undefined && `at most ${field.max}`,
  ].filter(Boolean);
  const props = commonProps({ field, ...rest });
  const description = [field.help, limits.length > 0 && `(${limits.join(", ")})`].filter(Boolean).join(" ");
  return (
    <NumberInput
      {...props}
      description={description || undefined}
      value={draft.value === value ? draft.typed : shownNumber(value)}
      onChange={change}
      // Both would round what JavaScript can't hold.
      trimLeadingZeroesOnBlur={false}
      hideControls={typeof value === "string"}
      withKeyboardEvents={typeof value !== "string"}
      allowDecimal={!field.integer}
      clampBehavior="none"
      {...(typeof field.min === "number" && { min: field.min })}
      {...(typeof field.max === "number" && { max: field.max })}
    />
  );
}

const shownNumber = (value: unknown): number | string =>
  typeof value === "number" || typeof value === "string" ? value : "";

export function BooleanField({ field, value, onChange, ...rest }: Props<"boolean">): ReactNode {
  if (field.optional || (value !== undefined && typeof value !== "boolean")) {
    return (
      <Select
        {...commonProps({ field, ...rest })}
        data={[
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ]}
        placeholder="Not set"
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
      placeholder={field.required ? "Select" : "Not set"}
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
      placeholder={selected.length === 0 ? "Select" : ""}
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
