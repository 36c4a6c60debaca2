/** The condition of a step that failed because of it: its expression, and the value of each operand. */
import { Code, Stack, Table, Text } from "@mantine/core";
import * as texts from "#texts/runs";
import { conditionDetails, type Operand } from "./condition-details.ts";
import type { RunError } from "../../../schemas/run.ts";

export function Condition({ error }: { error: RunError }) {
  const condition = conditionDetails(error);
  if (condition === undefined) return null;
  const { expression, operands, more } = condition;
  return (
    <Stack gap={6}>
      <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {expression}
      </Code>
      <Table aria-label={texts.conditionValues} verticalSpacing={4} fz="sm" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.inCondition}</Table.Th>
            <Table.Th>{texts.value}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {operands.map((operand) => (
            <Table.Tr key={operand.expression}>
              <Table.Td
                valign="top"
                ff="monospace"
                className="left-to-right"
                style={{ overflowWrap: "anywhere" }}
              >
                {operand.expression}
              </Table.Td>
              <Table.Td valign="top" style={{ overflowWrap: "anywhere" }}>
                <OperandValue operand={operand} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {more > 0 && (
        <Text size="sm" c="dimmed">
          {texts.moreValues({ more })}
        </Text>
      )}
    </Stack>
  );
}

function OperandValue({ operand: { text, chars, failed } }: { operand: Operand }) {
  if (failed === true)
    return (
      <Text span size="sm" fs="italic">
        {texts.noValue({ reason: text })}
      </Text>
    );
  return (
    <>
      <Text span size="sm" ff="monospace" className="left-to-right">
        {chars === undefined ? text : `${text}…`}
      </Text>
      {chars !== undefined && (
        <Text size="xs" c="dimmed">
          {texts.firstCharacters({ shown: text.length, chars })}
        </Text>
      )}
    </>
  );
}
