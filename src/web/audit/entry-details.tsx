/** What an audit entry has on record besides its operation: before and after of a change, and more. */
import { Anchor, Modal, Stack, Table, Text } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import * as texts from "#texts/audit";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import { type ChangedField, changedVersions, splitDetails } from "./changed-fields.ts";
import { detailsLabel } from "./entry-labels.tsx";

const VersionDiff = lazy(async () => ({
  default: (await import("../workflows/version-diff.tsx")).VersionDiff,
}));

/** The project of an entry, unless it is the default one, what changed, and what else is on record. */
export function EntryDetails({ entry }: { entry: AuditEntry }) {
  const { changes, rest } = splitDetails(entry.details ?? {});
  const versions = changedVersions(entry);
  return (
    <>
      {entry.project !== undefined && " "}
      <ProjectBadge project={entry.project} inList />
      {changes.length > 0 && <Changes changes={changes} />}
      {Object.keys(rest).length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {detailsLabel(rest)}
        </Text>
      )}
      {versions !== undefined && <DefinitionChanges {...versions} />}
    </>
  );
}

function Changes({ changes }: { changes: readonly ChangedField[] }) {
  return (
    <Table
      fz="xs"
      withRowBorders={false}
      verticalSpacing={0}
      horizontalSpacing={6}
      w="auto"
      aria-label={texts.changes}
    >
      <Table.Thead style={{ position: "absolute", clipPath: "inset(50%)" }}>
        <Table.Tr>
          <Table.Th>{texts.field}</Table.Th>
          <Table.Th>{texts.valueBefore}</Table.Th>
          <Table.Th>{texts.valueAfter}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(({ name, before, after }) => (
          <Table.Tr key={name}>
            <Table.Td c="dimmed">{name}</Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>
              <del>{before}</del>
            </Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>
              <ins style={{ textDecoration: "none", fontWeight: 600 }}>{after}</ins>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function DefinitionChanges(versions: { workflowId: string; from: number; to: number }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Anchor component="button" type="button" size="xs" onClick={() => setOpened(true)}>
        {texts.showChanges}
      </Anchor>
      <Modal
        opened={opened}
        onClose={() => setOpened(false)}
        title={versions.workflowId}
        size="80rem"
        closeButtonProps={{ "aria-label": texts.close }}
      >
        <Stack>
          <Suspense fallback={<LoadingSkeleton rows={6} />}>
            <VersionDiff {...versions} />
          </Suspense>
        </Stack>
      </Modal>
    </>
  );
}
