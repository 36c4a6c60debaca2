/** A text area for a JSON value: for schemas that no other field supports, or by choice. */
import { Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { NumberTooLongError, parseJson } from "./exact-number.ts";

interface JsonFieldProps {
  value: unknown;
  /** Called only while the text is valid JSON. */
  onChange: (value: unknown) => void;
  /** The value of an empty field. */
  empty: unknown;
  label: string;
  help?: string;
  error?: string | undefined;
  required?: boolean;
  disabled?: boolean;
  rows?: number;
  /** Accepts only a JSON object. */
  objectOnly?: boolean;
}

/** While the text is invalid, so is the input, and the browser does not submit the form. */
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
    objectOnly = false,
  } = props;
  // The typed text is kept while it represents the value. A new value from outside replaces it.
  const [draft, setDraft] = useState({ value, text: formatJson(value) });
  const text = draft.value === value ? draft.text : formatJson(value);
  const issue = issueOf(text, objectOnly);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => input.current?.setCustomValidity(issue ?? ""), [issue]);
  const change = (typed: string) => {
    if (issueOf(typed, objectOnly) !== undefined) return setDraft({ value, text: typed });
    const parsed: unknown = typed.trim() === "" ? empty : parseJson(typed);
    setDraft({ value: parsed, text: typed });
    onChange(parsed);
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
      value={text}
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

const formatJson = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value, null, 2));

function issueOf(text: string, objectOnly: boolean): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    const parsed = parseJson(text);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return objectOnly && !isObject ? "Must be a JSON object: { … }" : undefined;
  } catch (error) {
    const { message } = error as Error;
    return error instanceof NumberTooLongError ? message : `Invalid JSON: ${message}`;
  }
}
