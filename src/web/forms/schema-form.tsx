/** A form made from a JSON Schema: the inputs of a run, what an approval asks for. */
import { Box, SegmentedControl, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Issue } from "../../../schemas/problem.ts";
import { issueText } from "./issues.ts";
import { Fields } from "./field.tsx";
import { JsonField } from "./json-field.tsx";
import { buildForm, type JsonSchema } from "./schema.ts";

interface SchemaFormProps {
  schema: JsonSchema;
  /** Begins as `initialValue(schema)`. */
  value: Readonly<Record<string, unknown>>;
  onChange: (value: Record<string, unknown>) => void;
  /** The server's, with paths from the value on; each is shown at its field. */
  issues: readonly Issue[];
  disabled?: boolean;
}

/**
 * The fields, inside a <form> of the page's: it is not sent while one holds JSON that can't be read. What fits the
 * schema is the server's to say.
 */
export function SchemaForm({ schema, value, onChange, issues, disabled = false }: SchemaFormProps) {
  const form = useMemo(() => buildForm(schema), [schema]);
  const [asJson, setAsJson] = useState(false);
  const changed = (after: unknown) => onChange(after as Record<string, unknown>);
  if (
    form.kind === "object" &&
    form.fields.length === 0 &&
    Object.keys(value).length === 0 &&
    issues.length === 0
  ) {
    return <Text c="dimmed">There is nothing to fill in.</Text>;
  }
  return (
    <Stack gap="md">
      {form.kind === "object" && (
        <Box>
          <SegmentedControl
            size="xs"
            aria-label="How to fill it in"
            data={[
              { value: "form", label: "Form" },
              { value: "json", label: "JSON" },
            ]}
            value={asJson ? "json" : "form"}
            onChange={(way) => setAsJson(way === "json")}
          />
        </Box>
      )}
      {form.kind === "object" && !asJson ? (
        <Fields field={form} value={value} onChange={changed} issues={issues} disabled={disabled} />
      ) : (
        <JsonField
          label="All as JSON"
          value={value}
          onChange={changed}
          empty={NOTHING}
          error={issueText(issues)}
          disabled={disabled}
          rows={8}
          object
        />
      )}
    </Stack>
  );
}

const NOTHING = {};
