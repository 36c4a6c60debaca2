/** One field of a form that is generated from a JSON Schema. Lists and objects contain further fields. */
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
import * as texts from "#texts/forms";
import type { Issue } from "../../../schemas/problem.ts";
import { issuesUnder, issuesOutside, issueText } from "./issues.ts";
import { JsonField } from "./json-field.tsx";
import { BooleanField, ChoiceField, ChoicesField, NumberField, TextField } from "./scalar-fields.tsx";
import type { Field, FieldOf } from "./schema.ts";

export interface FieldProps {
  field: Field;
  value: unknown;
  /** Called with undefined when the field is cleared; the property is then removed. */
  onChange: (value: unknown) => void;
  /** Paths are relative to this field. */
  issues: readonly Issue[];
  disabled: boolean;
  /** Accessible name of a list item, which has no visible label. */
  ariaLabel?: string;
}

/** Longer lists are edited as JSON. */
const MAX_LIST_ITEMS = 50;

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
        <JsonFallback field={field} {...rest} />
      );
    case "list": {
      const { value = [] } = rest;
      const fits = Array.isArray(value) && value.length <= MAX_LIST_ITEMS;
      return fits ? <ListField field={field} {...rest} /> : <JsonFallback field={field} {...rest} />;
    }
    case "json":
      return <JsonFallback field={field} {...rest} />;
  }
}

function JsonFallback({ field, value, onChange, issues, disabled, ariaLabel }: FieldProps) {
  return (
    <JsonField
      label={ariaLabel ?? field.label}
      help={[field.help, texts.enterJson].filter(Boolean).join(" ")}
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

/** The fields of an object, without a fieldset around them. */
export function Fields({
  field,
  value,
  onChange,
  issues,
  disabled,
  columns = 1,
}: Props<"object"> & { columns?: number }) {
  const current = isObject(value) ? value : {};
  const setProperty = (name: string, propertyValue: unknown) => {
    const { [name]: _removed, ...others } = current;
    const next = propertyValue === undefined ? others : { ...current, [name]: propertyValue };
    onChange(Object.keys(next).length === 0 && !field.required ? field.empty : next);
  };
  const ownIssues = issueText(
    issuesOutside(
      issues,
      field.fields.map(({ name }) => name),
    ),
  );
  return (
    <Stack gap="md">
      {ownIssues !== undefined && <IssueAlert>{ownIssues}</IssueAlert>}
      <SimpleGrid cols={{ base: 1, sm: columns }} spacing="md">
        {field.fields.map((property) => (
          <SchemaField
            key={property.name}
            field={property}
            value={current[property.name]}
            onChange={(changed) => setProperty(property.name, changed)}
            issues={issuesUnder(issues, property.name)}
            disabled={disabled}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function ListField({ field, value, onChange, issues, disabled }: Props<"list">) {
  const items = (Array.isArray(value) ? value : []) as unknown[];
  const setItems = (next: unknown[]) => onChange(next.length === 0 && !field.required ? field.empty : next);
  const ownIssues = issueText(issuesOutside(issues, [...items.keys()]));
  const { item, label } = field;
  return (
    <Fieldset legend={field.required ? `${label} *` : label} disabled={disabled}>
      <Stack gap="sm">
        {field.help !== "" && (
          <Text size="sm" c="dimmed">
            {field.help}
          </Text>
        )}
        {ownIssues !== undefined && <IssueAlert>{ownIssues}</IssueAlert>}
        {items.map((itemValue, index) => (
          // Items have no id. The index is a safe key because every field shows the value that it gets.
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
                value={itemValue}
                onChange={(changed) => setItems(items.with(index, changed ?? emptyItem(item)))}
                issues={issuesUnder(issues, index)}
                disabled={disabled}
                ariaLabel={`${label} ${index + 1}`}
              />
            </Box>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              disabled={disabled}
              aria-label={texts.removeItem({ list: label, number: index + 1 })}
              onClick={() => setItems(items.toSpliced(index, 1))}
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
            disabled={disabled || (field.maxItems !== undefined && items.length >= field.maxItems)}
            onClick={() => setItems([...items, emptyItem(item)])}
            aria-label={texts.addTo({ list: label })}
          >
            {texts.add}
          </Button>
        </Box>
      </Stack>
    </Fieldset>
  );
}

/** The value of a new list item: empty, of the type that its field edits. */
function emptyItem(item: Field): unknown {
  if (item.kind === "object") return {};
  if (item.kind === "text") return "";
  if (item.kind === "choices") return [];
  return item.kind === "boolean" ? false : null;
}

function IssueAlert({ children }: { children: string }) {
  return (
    <Alert color="red" p="xs" role="alert" styles={{ message: { whiteSpace: "pre-line" } }}>
      {children}
    </Alert>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
