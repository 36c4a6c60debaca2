/** A value written as JSON: for what no other field can show, and for who would rather write the whole. */
import { Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";

interface JsonFieldProps {
  value: unknown;
  /** Only with what can be read. */
  onChange: (value: unknown) => void;
  /** What an emptied field becomes. */
  empty: unknown;
  label: string;
  help?: string;
  error?: string | undefined;
  required?: boolean;
  disabled?: boolean;
  rows?: number;
  /** Nothing but an object will do. */
  object?: boolean;
}

/** While the text can't be read the field is invalid, so the form around it is not sent. */
export function JsonField(props: JsonFieldProps) {
  const {
    value,
    onChange,
    empty,
    label,
    help,
    error,
    required = false,
    disabled = false,
    rows = 3,
    object = false,
  } = props;
  // What was typed counts as long as it stands for the value; another value from outside takes its place.
  const [draft, setDraft] = useState({ of: value, text: written(value) });
  const shown = draft.of === value ? draft.text : written(value);
  const issue = issueOf(shown, object);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => input.current?.setCustomValidity(issue ?? ""), [issue]);
  const change = (text: string) => {
    if (issueOf(text, object) !== undefined) return setDraft({ of: value, text });
    const read: unknown = text.trim() === "" ? empty : JSON.parse(text);
    setDraft({ of: read, text });
    onChange(read);
  };
  return (
    <Textarea
      ref={input}
      label={label}
      description={help || undefined}
      error={issue ?? error}
      withAsterisk={required}
      aria-required={required}
      disabled={disabled}
      value={shown}
      onChange={(event) => change(event.currentTarget.value)}
      autosize
      minRows={rows}
      maxRows={24}
      spellCheck={false}
      styles={{
        input: { fontFamily: "var(--mantine-font-family-monospace)" },
        error: { whiteSpace: "pre-line" },
      }}
    />
  );
}

const written = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value, null, 2));

function issueOf(text: string, object: boolean): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    const read: unknown = JSON.parse(text);
    const isObject = typeof read === "object" && read !== null && !Array.isArray(read);
    return object && !isObject ? "This must be an object: { … }" : undefined;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
