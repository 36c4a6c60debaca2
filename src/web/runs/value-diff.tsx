/** The differences of two values as a table. */
import { Code, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import * as texts from "#texts/runs";
import { isTruncated } from "../values/classify-value.ts";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { diffValues } from "./diff-values.ts";
import { outputQuery } from "./queries.ts";

/** Maximum size of an output that is loaded for a comparison, in characters of JSON. */
const MAX_COMPARED_CHARS = 2_000_000;

export function ValueDiff({ before, after, label }: { before: unknown; after: unknown; label: string }) {
  const { listed, total, isCapped } = useMemo(() => diffValues(before, after), [before, after]);
  if (total === 0)
    return (
      <Text size="sm" c="dimmed">
        {isCapped ? texts.noDifferencesInPart : texts.noDifferences}
      </Text>
    );
  return (
    <>
      <Table aria-label={label} verticalSpacing={4} fz="sm" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.value}</Table.Th>
            <Table.Th>{texts.lastGoodRun}</Table.Th>
            <Table.Th>{texts.thisRun}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {listed.map(({ path, before: old, after: current }) => (
            <Table.Tr key={path}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{path === "" ? texts.whole : path}</Table.Td>
              <Table.Td>
                <Side text={old} />
              </Table.Td>
              <Table.Td>
                <Side text={current} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {(listed.length < total || isCapped) && (
        <Text size="sm" c="dimmed">
          {isCapped
            ? texts.firstDifferencesCapped({ listed: listed.length, total })
            : texts.firstDifferences({ listed: listed.length, total })}
        </Text>
      )}
    </>
  );
}

function Side({ text }: { text: string | undefined }) {
  if (text === undefined)
    return (
      <Text span size="sm" c="dimmed" fs="italic">
        {texts.notThere}
      </Text>
    );
  return <Code style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{text}</Code>;
}

interface StepOutputDiffProps {
  stepId: string;
  /** The last good run, and this run. */
  runIds: readonly [string, string];
}

export function StepOutputDiff({ stepId, runIds: [good, current] }: StepOutputDiffProps) {
  const before = useQuery(outputQuery(good, stepId, MAX_COMPARED_CHARS));
  const after = useQuery(outputQuery(current, stepId, MAX_COMPARED_CHARS));
  return (
    <QueryContent query={before} skeleton={<LoadingSkeleton rows={1} />}>
      {(old) => (
        <QueryContent query={after} skeleton={<LoadingSkeleton rows={1} />}>
          {(now) => {
            const tooLarge = [old, now].find(isTruncated);
            return tooLarge === undefined ? (
              <ValueDiff before={old} after={now} label={texts.outputDifferences({ step: stepId })} />
            ) : (
              <Text size="sm" c="dimmed">
                {texts.tooLargeToCompare({ chars: tooLarge.chars })}
              </Text>
            );
          }}
        </QueryContent>
      )}
    </QueryContent>
  );
}
