/** Says in a line what is known of the text that is being edited. */
import { Text } from "@mantine/core";
import type { ValidationState } from "../editor/use-validation.ts";

interface ValidationStatusProps {
  state: "empty" | ValidationState["state"];
  errors: number;
  /** Whether it has syntax errors. */
  isInvalid: boolean;
}

export function ValidationStatus({ state, errors, isInvalid }: ValidationStatusProps) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {state === "empty" && "Empty definition"}
      {state === "checking" && "Checking…"}
      {state === "checked" && errors === 0 && "Valid. Ready to run."}
      {state === "checked" && errors > 0 && (isInvalid ? "Syntax error" : "Can be saved, but not run yet.")}
      {state === "unavailable" && "Not checked: no answer from the server."}
    </Text>
  );
}
