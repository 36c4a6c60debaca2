/** The faults below the editor: how many there are, said when it changes, and each a way to its line. */
import { Box, Code, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconAlertTriangle, IconCircleX } from "@tabler/icons-react";
import type { EditorFault } from "./format.ts";

interface FaultListProps {
  faults: readonly EditorFault[];
  onChoose: (fault: EditorFault) => void;
}

export function FaultList({ faults, onChoose }: FaultListProps) {
  return (
    <Stack gap={4} mt={faults.length > 0 ? "xs" : 0}>
      <Text size="sm" fw={600} role="status" aria-live="polite">
        {countOf(faults)}
      </Text>
      {faults.length > 0 && (
        <Box component="ul" m={0} p={0} mah={260} style={{ listStyle: "none", overflowY: "auto" }}>
          {faults.map((fault) => (
            <li key={`${fault.line} ${fault.column} ${fault.path} ${fault.message}`}>
              <UnstyledButton w="100%" px="xs" py={6} bdrs="sm" onClick={() => onChoose(fault)}>
                <Item fault={fault} />
              </UnstyledButton>
            </li>
          ))}
        </Box>
      )}
    </Stack>
  );
}

function Item({ fault: { severity, path, message, fix, line } }: { fault: EditorFault }) {
  const Icon = severity === "error" ? IconCircleX : IconAlertTriangle;
  const color = severity === "error" ? "var(--mantine-color-error)" : "var(--mantine-color-yellow-text)";
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Icon size={16} color={color} style={{ flexShrink: 0, marginTop: 3 }} aria-label={severity} />
      <Text component="span" size="sm" style={{ overflowWrap: "anywhere" }}>
        {line !== undefined && `Line ${line}: `}
        {path !== "" && <Code>{path}</Code>} {message}.
        {fix !== undefined && (
          <Text component="span" c="dimmed" inherit>
            {` ${fix}`}
          </Text>
        )}
      </Text>
    </Group>
  );
}

function countOf(faults: readonly EditorFault[]): string {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  return [counted(errors, "fault"), counted(faults.length - errors, "warning")]
    .filter((text) => text !== "")
    .join(", ");
}

const counted = (count: number, what: string): string =>
  count === 0 ? "" : `${count} ${what}${count === 1 ? "" : "s"}`;
