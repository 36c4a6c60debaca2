/** A form that is generated from a JSON Schema: the inputs of a run, or the fields of an approval. */
import { Box, SegmentedControl, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import * as texts from "#texts/forms";
import type { Issue } from "../../../schemas/problem.ts";
import { issueText } from "./issues.ts";
import { Fields } from "./field.tsx";
import { JsonField } from "./json-field.tsx";
import { buildForm, type JsonSchema } from "./schema.ts";

interface SchemaFormProps {
  schema: JsonSchema;
  /** Start with `initialValue(schema)`. */
  value: Readonly<Record<string, unknown>>;
  onChange: (value: Record<string, unknown>) => void;
  /** The server's issues, with paths relative to the value. Each is shown at its field. */
  issues: readonly Issue[];
  disabled?: boolean;
}

/**
 * Renders only the fields; the page provides the <form>. The browser does not submit it while a field contains invalid
 * JSON. The server validates the value against the schema.
 */
export function SchemaForm({ schema, value, onChange, issues, disabled = false }: SchemaFormProps) {
  const form = useMemo(() => buildForm(schema), [schema]);
  const [asJson, setAsJson] = useState(false);
  const change = (next: unknown) => onChange(next as Record<string, unknown>);
  if (
    form.kind === "object" &&
    form.fields.length === 0 &&
    Object.keys(value).length === 0 &&
    issues.length === 0
  ) {
    return <Text c="dimmed">{texts.noFields}</Text>;
  }
  return (
    <Stack gap="md">
      {form.kind === "object" && (
        <Box>
          <SegmentedControl
            size="xs"
            aria-label={texts.inputMode}
            data={[
              { value: "form", label: texts.formMode },
              { value: "json", label: texts.jsonMode },
            ]}
            value={asJson ? "json" : "form"}
            onChange={(mode) => setAsJson(mode === "json")}
          />
        </Box>
      )}
      {form.kind === "object" && !asJson ? (
        <Fields field={form} value={value} onChange={change} issues={issues} disabled={disabled} />
      ) : (
        <JsonField
          label={texts.valuesAsJson}
          value={value}
          onChange={change}
          empty={EMPTY_OBJECT}
          error={issueText(issues)}
          disabled={disabled}
          rows={8}
          objectOnly
        />
      )}
    </Stack>
  );
}

/** A constant, because JsonField compares values by identity. */
const EMPTY_OBJECT = {};
