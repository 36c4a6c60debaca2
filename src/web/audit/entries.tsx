/** The entries of the audit log: a table, and cards in a narrow window. Each opens to all that is on record. */
import { ActionIcon, Box, Card, Group, Stack, Table, Text } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useId, useState } from "react";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Fact, Facts } from "../runs/facts.tsx";
import { SURFACE_LABELS, describeClient } from "../ui/surfaces.ts";
import { Time } from "../ui/time.tsx";
import { Target } from "./entry-target.tsx";
import { changeText, factsOf, operationLabel, summaryOf } from "./entry-words.ts";

const COLUMNS = ["Time", "Actor", "Operation", "Target", "Source"];

export function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <>
      <Table.ScrollContainer minWidth={760} visibleFrom="sm">
        <Table verticalSpacing="xs" aria-label="Entries">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={40}>
                <span className="visually-hidden">Details</span>
              </Table.Th>
              {COLUMNS.map((column) => (
                <Table.Th key={column}>{column}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Stack gap="xs" hiddenFrom="sm">
        {entries.map((entry) => (
          <EntryCard key={entry.id} entry={entry} />
        ))}
      </Stack>
    </>
  );
}

function EntryRow({ entry }: { entry: AuditEntry }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <Table.Tr style={{ verticalAlign: "top" }}>
        <Table.Td>
          <Toggle entry={entry} isOpen={isOpen} controls={id} onToggle={() => setOpen(!isOpen)} />
        </Table.Td>
        <Table.Td>
          <Time at={entry.at} />
        </Table.Td>
        <Table.Td>{entry.owner}</Table.Td>
        <Table.Td>{operationLabel(entry.operation)}</Table.Td>
        <Table.Td>
          <Target entry={entry} />
          <Summary entry={entry} />
        </Table.Td>
        <Table.Td>
          {SURFACE_LABELS[entry.surface]}
          <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {describeClient({ ...entry, key: entry.key_name })}
          </Text>
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr id={id}>
          <Table.Td />
          <Table.Td colSpan={COLUMNS.length}>
            <EntryFacts entry={entry} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

function EntryCard({ entry }: { entry: AuditEntry }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        <Box miw={0}>
          <Text size="sm" fw={600}>
            {operationLabel(entry.operation)} <Target entry={entry} />
          </Text>
          <Summary entry={entry} />
          <Text size="sm" c="dimmed" component="div">
            {entry.owner} · {SURFACE_LABELS[entry.surface]} · <Time at={entry.at} />
          </Text>
        </Box>
        <Toggle entry={entry} isOpen={isOpen} controls={id} onToggle={() => setOpen(!isOpen)} />
      </Group>
      {isOpen && (
        <Box id={id} mt="sm">
          <EntryFacts entry={entry} />
        </Box>
      )}
    </Card>
  );
}

interface ToggleProps {
  entry: AuditEntry;
  isOpen: boolean;
  controls: string;
  onToggle: () => void;
}

function Toggle({ entry: { operation, target }, isOpen, controls, onToggle }: ToggleProps) {
  const Icon = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={`Details: ${operationLabel(operation)} ${target ?? ""}`.trim()}
      aria-expanded={isOpen}
      aria-controls={controls}
      onClick={onToggle}
    >
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
}

/** The project of an entry, unless it is the default one, and what changed, in a line. */
function Summary({ entry: { project, details } }: { entry: AuditEntry }) {
  const text = details === null ? "" : summaryOf(details);
  return (
    <>
      {project !== undefined && " "}
      <ProjectBadge project={project} inList />
      {text !== "" && (
        <Text size="xs" c="dimmed" lineClamp={3} style={{ overflowWrap: "anywhere" }}>
          {text}
        </Text>
      )}
    </>
  );
}

/** All that is on record: each field with what it was before, and where the change came from. */
function EntryFacts({ entry }: { entry: AuditEntry }) {
  const { target, details, key_name: key, client, request_id: request } = entry;
  return (
    <Facts>
      {factsOf(details ?? {}).map((fact) => (
        <Fact key={fact.name} name={fact.label}>
          {changeText(fact)}
        </Fact>
      ))}
      {target !== null && <Fact name="Target ID">{target}</Fact>}
      {key !== null && <Fact name="Key">{key}</Fact>}
      <Fact name="Client">{client}</Fact>
      {request !== null && <Fact name="Request ID">{request}</Fact>}
    </Facts>
  );
}
