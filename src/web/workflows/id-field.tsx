import { TextInput } from "@mantine/core";
import { fieldError } from "../forms/field-error.tsx";
import { issuesUnder } from "../forms/issues.ts";

interface IdFieldProps {
  id: string;
  onChange: (id: string) => void;
  issues: Parameters<typeof issuesUnder>[0];
}

/** The id of a new workflow. */
export const IdField = ({ id, onChange, issues }: IdFieldProps) => (
  <TextInput
    label="ID (optional)"
    description="Lower-case letters, digits and dashes; made from the name if left out. It can't be changed."
    autoComplete="off"
    value={id}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={fieldError(issuesUnder(issues, "id"), onChange)}
  />
);

/** The id in the body of a request; nothing where it is left out. */
export const idInBody = (id: string): { id?: string } => (id.trim() === "" ? {} : { id: id.trim() });
