/** The fields of the statistics beside the filters: what runs are grouped by, a condition, and numbers. */
import { Checkbox, SimpleGrid, TagsInput, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Issue } from "../../../schemas/problem.ts";
import { ApiError } from "../api/client.ts";
import { issuesUnder, issueText } from "../forms/issues.ts";
import { FIELD_LABEL_LIST, fieldLabel, parseExpressions, parseGroups } from "./group-fields.ts";
import type { StatisticsState } from "./statistics-state.ts";

/** Maximum numbers that the API takes. */
const MAX_GROUPS = 4;
const MAX_MEASURES = 5;

interface StatisticsFieldsProps {
  state: StatisticsState;
  onChange: (part: Partial<StatisticsState>) => void;
  /** Why the runs were not counted. */
  error: Error | null;
  /** The condition as it was read, where it was written in another syntax. */
  readAs: string | undefined;
}

export function StatisticsFields({ state, onChange, error, readAs }: StatisticsFieldsProps) {
  const { groupBy, where, measures, trials } = state;
  const issues = issuesOf(error);
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="sm">
        <TagsInput
          label="Group by"
          description="Fields, or values such as output.region."
          placeholder={groupBy.length === 0 ? "All runs in one group" : ""}
          data={[...FIELD_LABEL_LIST]}
          value={groupBy.map(fieldLabel)}
          onChange={(texts) => onChange({ groupBy: parseGroups(texts) })}
          maxTags={MAX_GROUPS}
          splitChars={NO_SPLIT}
          isDuplicate={isSame}
          error={textOfList(issues, "group_by", groupBy)}
        />
        <Condition
          value={where}
          onChange={(to) => onChange({ where: to })}
          error={issueText(issuesUnder(issues, "where"))}
          readAs={readAs}
        />
        <TagsInput
          label="Numbers"
          description="Values to add up, such as output.total."
          value={[...measures]}
          onChange={(texts) => onChange({ measures: parseExpressions(texts) })}
          maxTags={MAX_MEASURES}
          splitChars={NO_SPLIT}
          isDuplicate={isSame}
          error={textOfList(issues, "measures", measures)}
        />
      </SimpleGrid>
      <Checkbox
        label="Count trials too"
        checked={trials}
        onChange={({ currentTarget }) => onChange({ trials: currentTarget.checked })}
      />
    </>
  );
}

/** An expression contains commas, so they do not end it. */
const NO_SPLIT: string[] = [];
/** Names differ by their case. */
const isSame = (text: string, texts: readonly string[]): boolean => texts.includes(text);

interface ConditionProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  readAs: string | undefined;
}

/** It is applied on Enter, and when the field is left. */
function Condition({ value, onChange, error, readAs }: ConditionProps) {
  const [typed, setTyped] = useState({ value, text: value });
  // Another address has another condition.
  if (typed.value !== value) setTyped({ value, text: value });
  const { text } = typed;
  const apply = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <TextInput
      label="Condition"
      description={readAs === undefined ? "Only runs for which it is true." : `Read as ${readAs}`}
      placeholder="output.total > 1000"
      value={text}
      onChange={({ currentTarget }) => setTyped({ value, text: currentTarget.value })}
      onBlur={apply}
      onKeyDown={({ key }) => key === "Enter" && apply()}
      spellCheck={false}
      autoCapitalize="off"
      error={error}
    />
  );
}

const issuesOf = (error: Error | null): readonly Issue[] =>
  error instanceof ApiError ? (error.problem.errors ?? []) : [];

/** Whether the fields show why the runs were not counted. */
export const isShownAtFields = (error: Error): boolean => {
  const issues = issuesOf(error);
  return issues.length > 0 && issues.every(({ path }) => /^(?:where|group_by|measures)(?:\[|$)/.test(path));
};

/** The issues of a list, with the items in place of their numbers. */
function textOfList(issues: readonly Issue[], name: string, items: readonly string[]): string | undefined {
  const own = issuesUnder(issues, name).map((issue): Issue => {
    const item = items[Number(/^\[(\d+)\]$/.exec(issue.path)?.[1])];
    if (item === undefined) return issue;
    const { message } = issue;
    const isNamed = message.startsWith(`${item} `);
    return Object.assign({}, issue, {
      path: item,
      message: isNamed ? message.slice(item.length + 1) : message,
    });
  });
  return issueText(own);
}
