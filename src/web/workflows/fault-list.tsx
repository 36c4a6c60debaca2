/** Faults of a definition, all of them, each with its place and what to do. */
import { Code, List, Text } from "@mantine/core";
import type { Fault } from "../../../schemas/problem.ts";

export function FaultList({ faults, label }: { faults: readonly Fault[]; label: string }) {
  return (
    <List size="sm" spacing={6} aria-label={label} withPadding={false}>
      {faults.map((fault) => (
        <List.Item key={`${fault.path} ${fault.code} ${fault.message}`}>
          {fault.path !== "" && <Code>{fault.path}</Code>} {fault.message}
          {fault.did_you_mean !== undefined &&
            fault.fix === undefined &&
            ` Did you mean ${fault.did_you_mean}?`}
          {fault.fix !== undefined && (
            <Text span inherit c="dimmed">
              {" "}
              {fault.fix}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  );
}
