/** The fields of the statistics beside the filters: what runs are grouped by, a condition, and numbers. */
import { Checkbox, SimpleGrid, TagsInput } from "@mantine/core";
import type { Issue } from "../../../schemas/problem.ts";
import { issuesOfError, issuesUnder, issueText } from "../forms/issues.ts";
import { FIELD_LABEL_LIST, fieldLabel, parseExpressions, parseGroups } from "./group-fields.ts";
import type { StatisticsState } from "./statistics-state.ts";
import { SubmittedField } from "./submitted-field.tsx";

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
  const issues = issuesOfError(error);
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
        <SubmittedField
          label="Condition"
          description={readAs === undefined ? "Only runs for which it is true." : `Read as ${readAs}`}
          placeholder="output.total > 1000"
          value={where}
          onSubmit={(to) => onChange({ where: to })}
          error={issueText(issuesUnder(issues, "where"))}
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
