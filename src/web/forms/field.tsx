/** One field of a form made from a schema; lists and objects hold fields themselves. */
import {
  ActionIcon,
  Alert,
  Box,
  Button,
  Fieldset,
  Group,
  SimpleGrid,
  Stack,
  Text,
  VisuallyHidden,
} from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Issue } from "../../../schemas/problem.ts";
import { issuesUnder, issuesOutside, issueText } from "./issues.ts";
import { JsonField } from "./json-field.tsx";
import { BooleanField, ChoiceField, ChoicesField, NumberField, TextField } from "./scalar-fields.tsx";
import type { Field, FieldOf } from "./schema.ts";

export interface FieldProps {
  field: Field;
  value: unknown;
  /** With undefined where the field is emptied: the name is left out then. */
  onChange: (value: unknown) => void;
  /** Paths are from here on. */
  issues: readonly Issue[];
  disabled: boolean;
  /** In a list: the name for who does not see the place. */
  ariaLabel?: string;
}

/** A list longer than this is quicker to read and write as JSON. */
const MOST_ROWS = 50;

function SchemaField({ field, ...rest }: FieldProps): ReactNode {
  switch (field.kind) {
    case "text":
      return <TextField field={field} {...rest} />;
    case "number":
      return <NumberField field={field} {...rest} />;
    case "boolean":
      return <BooleanField field={field} {...rest} />;
    case "choice":
      return <ChoiceField field={field} {...rest} />;
    case "choices":
      return <ChoicesField field={field} {...rest} />;
    case "object":
      return isObject(rest.value ?? {}) ? (
        <ObjectField field={field} {...rest} />
      ) : (
        <AsJson field={field} {...rest} />
      );
    case "list": {
      const { value = [] } = rest;
      const fits = Array.isArray(value) && value.length <= MOST_ROWS;
      return fits ? <ListField field={field} {...rest} /> : <AsJson field={field} {...rest} />;
    }
    case "json":
      return <AsJson field={field} {...rest} />;
  }
}

function AsJson({ field, value, onChange, issues, disabled, ariaLabel }: FieldProps) {
  return (
    <JsonField
      label={ariaLabel ?? field.label}
      help={[field.help, "Written as JSON."].filter(Boolean).join(" ")}
      value={value}
      onChange={onChange}
      empty={field.empty}
      error={issueText(issues)}
      required={field.required}
      disabled={disabled}
    />
  );
}

type Props<K extends Field["kind"]> = Omit<FieldProps, "field"> & { field: FieldOf<K> };

function ObjectField({ field, ...rest }: Props<"object">) {
  if (rest.ariaLabel !== undefined) {
    return (
      <Fieldset
        variant="unstyled"
        legend={<VisuallyHidden>{rest.ariaLabel}</VisuallyHidden>}
        disabled={rest.disabled}
        p={0}
      >
        <Fields field={field} {...rest} columns={2} />
      </Fieldset>
    );
  }
  return (
    <Fieldset legend={field.label} disabled={rest.disabled}>
      <Stack gap="sm">
        {field.help !== "" && (
          <Text size="sm" c="dimmed">
            {field.help}
          </Text>
        )}
        <Fields field={field} {...rest} />
      </Stack>
    </Fieldset>
  );
}

/** The fields of an object, without a frame. */
export function Fields({
  field,
  value,
  onChange,
  issues,
  disabled,
  columns = 1,
}: Props<"object"> & { columns?: number }) {
  const present = isObject(value) ? value : {};
  const change = (name: string, inner: unknown) => {
    const { [name]: _before, ...others } = present;
    const after = inner === undefined ? others : { ...present, [name]: inner };
    onChange(Object.keys(after).length === 0 && !field.required ? field.empty : after);
  };
  const own = issueText(
    issuesOutside(
      issues,
      field.fields.map(({ name }) => name),
    ),
  );
  return (
    <Stack gap="md">
      {own !== undefined && <Refused>{own}</Refused>}
      <SimpleGrid cols={{ base: 1, sm: columns }} spacing="md">
        {field.fields.map((inner) => (
          <SchemaField
            key={inner.name}
            field={inner}
            value={present[inner.name]}
            onChange={(changed) => change(inner.name, changed)}
            issues={issuesUnder(issues, inner.name)}
            disabled={disabled}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function ListField({ field, value, onChange, issues, disabled }: Props<"list">) {
  const items = (Array.isArray(value) ? value : []) as unknown[];
  const set = (after: unknown[]) => onChange(after.length === 0 && !field.required ? field.empty : after);
  const own = issueText(issuesOutside(issues, [...items.keys()]));
  const { item, label } = field;
  return (
    <Fieldset legend={field.required ? `${label} *` : label} disabled={disabled}>
      <Stack gap="sm">
        {field.help !== "" && (
          <Text size="sm" c="dimmed">
            {field.help}
          </Text>
        )}
        {own !== undefined && <Refused>{own}</Refused>}
        {items.map((inner, index) => (
          // Rows have no identity of their own; all of them are shown from their values.
          <Group
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            gap="xs"
            align={item.kind === "object" ? "flex-end" : "flex-start"}
            wrap="nowrap"
          >
            <Box flex={1} miw={0}>
              <SchemaField
                field={item}
                value={inner}
                onChange={(changed) => set(items.with(index, changed ?? startOf(item)))}
                issues={issuesUnder(issues, index)}
                disabled={disabled}
                ariaLabel={`${label}, ${index + 1}`}
              />
            </Box>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              disabled={disabled}
              aria-label={`Remove ${label}, ${index + 1}`}
              onClick={() => set(items.toSpliced(index, 1))}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Box>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={disabled || (field.most !== undefined && items.length >= field.most)}
            onClick={() => set([...items, startOf(item)])}
            aria-label={`Add to ${label}`}
          >
            Add
          </Button>
        </Box>
      </Stack>
    </Fieldset>
  );
}

/** What a new row holds: nothing yet, in the form that its field shows. */
function startOf(item: Field): unknown {
  if (item.kind === "object") return {};
  if (item.kind === "text") return "";
  if (item.kind === "choices") return [];
  return item.kind === "boolean" ? false : null;
}

function Refused({ children }: { children: string }) {
  return (
    <Alert color="red" p="xs" role="alert" styles={{ message: { whiteSpace: "pre-line" } }}>
      {children}
    </Alert>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
