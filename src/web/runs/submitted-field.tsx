/** A text that is applied on Enter, and when the field is left: each search reads thousands of runs. */
import { TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";

interface SubmittedFieldProps extends Omit<TextInputProps, "value" | "onChange" | "onSubmit" | "error"> {
  value: string;
  onSubmit: (text: string) => void;
  /** What is wrong with the applied text. */
  error?: string | undefined;
  /** What is wrong with a text before it is applied. */
  issueOf?: (text: string) => string | undefined;
}

export function SubmittedField({ value, onSubmit, error, issueOf, ...shown }: SubmittedFieldProps) {
  const [typed, setTyped] = useState({ value, text: value });
  // Another address has another text.
  if (typed.value !== value) setTyped({ value, text: value });
  const { text } = typed;
  const issue = issueOf?.(text);
  const submit = (): void => {
    if (issue === undefined && text.trim() !== value) onSubmit(text.trim());
  };
  return (
    <TextInput
      {...shown}
      value={text}
      onChange={({ currentTarget }) => setTyped({ value, text: currentTarget.value })}
      onBlur={submit}
      onKeyDown={({ key }) => key === "Enter" && submit()}
      spellCheck={false}
      autoCapitalize="off"
      error={issue ?? error}
    />
  );
}
