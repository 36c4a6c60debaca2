/** What runs are grouped by, in words. */
import { splitList } from "../../../schemas/split-list.ts";
import type { GroupField } from "../../../schemas/run-groups.ts";
import type { RunTrigger } from "../../../schemas/run.ts";
import { cellText } from "../../../schemas/csv.ts";
import { TRIGGER_LABELS } from "./labels.ts";

const FIELD_LABELS: Readonly<Record<GroupField, string>> = {
  day: "Day",
  hour: "Hour",
  month: "Month",
  workflow_id: "Workflow",
  version: "Version",
  status: "Status",
  trigger: "Trigger",
  error_code: "Error code",
  failed_step: "Failed step",
};

const isField = (name: string): name is GroupField => Object.hasOwn(FIELD_LABELS, name);

export const FIELD_LABEL_LIST: readonly string[] = Object.values(FIELD_LABELS);

/** A field in words; an expression as it is. */
export const fieldLabel = (name: string): string => (isField(name) ? FIELD_LABELS[name] : name);

const FIELDS_BY_LABEL: ReadonlyMap<string, string> = new Map(
  Object.entries(FIELD_LABELS).map(([name, label]) => [label.toLowerCase(), name]),
);

/** The fields and expressions that a person has written. Several may be written at once, with commas between them. */
export const parseGroups = (texts: readonly string[]): string[] => [
  ...new Set(parseExpressions(texts).map((text) => FIELDS_BY_LABEL.get(text.toLowerCase()) ?? text)),
];

/** Expressions that a person has written. The API takes them with commas between them too. */
export const parseExpressions = (texts: readonly string[]): string[] =>
  texts
    .flatMap(splitList)
    .map((text) => text.trim())
    .filter((text) => text !== "");

interface LargeValue {
  truncated: true;
  preview: string;
}

const isLarge = (value: unknown): value is LargeValue =>
  typeof value === "object" && value !== null && "truncated" in value && "preview" in value;

/** A value that runs have in common, where a large one is the beginning of its JSON. */
export const groupValue = (value: unknown): unknown => (isLarge(value) ? `${value.preview}…` : value);

/** What a group is called in a chart. @param names of workflows by their ids */
export function groupLabel(
  by: Readonly<Record<string, unknown>>,
  name: string,
  names: ReadonlyMap<string, string>,
): string {
  if (!Object.hasOwn(by, name)) return name === "workflow_id" ? "Single steps" : "none";
  const value = groupValue(by[name]);
  const text = value === null ? "null" : cellText(value);
  switch (name) {
    case "workflow_id":
      return names.get(text) ?? text;
    case "version":
      return `v${text}`;
    case "trigger":
      return TRIGGER_LABELS[text as RunTrigger];
    case "hour":
      return hourLabel(text);
    default:
      return text === "" ? "empty" : text;
  }
}

/** "11-21 08:00": the year takes the place of the hour below a bar. */
export const hourLabel = (hour: string): string => hour.slice(5).replace("T", " ");
