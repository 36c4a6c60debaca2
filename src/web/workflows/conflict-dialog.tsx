/** Shown when a save conflicts with a newer version: what the other person changed, and how to continue. */
import { Button, Group, List, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import * as texts from "#texts/workflows";
import { confirmAction } from "../ui/confirm.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { describeChanges } from "./describe-changes.ts";
import { type WorkflowWithEtag, versionQuery } from "./queries.ts";
import type { Conflict } from "./use-draft.ts";

const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

interface ConflictDialogProps {
  conflict: Conflict;
  base: WorkflowWithEtag;
  mine: string;
  onKeep: () => void;
  onDiscard: () => void;
}

/** Closing the dialog keeps the draft, so that Escape loses nothing. */
export function ConflictDialog({
  conflict: { theirs, theirText },
  base,
  mine,
  onKeep,
  onDiscard,
}: ConflictDialogProps) {
  const { version, name } = theirs.workflow;
  const changes = describeChanges(base.workflow, theirs.workflow);
  const discard = () =>
    confirmAction({
      title: texts.discardTitle,
      consequence: texts.discardHelp({ name, version }),
      confirm: texts.discardChanges,
      onConfirm: onDiscard,
    });
  useRestoreFocus();
  return (
    <Modal opened onClose={onKeep} title={texts.conflictTitle} size="xl">
      <Stack gap="md">
        <Text size="sm">{texts.conflictHelp({ base: base.workflow.version, version })}</Text>
        <VersionAuthor id={theirs.workflow.id} version={version} />
        {changes.length > 0 && (
          <List size="sm">
            {changes.map((sentence) => (
              <List.Item key={sentence}>{sentence}</List.Item>
            ))}
          </List>
        )}
        <Suspense fallback={<LoadingSkeleton rows={6} />}>
          <DefinitionDiff
            before={theirText}
            after={mine}
            beforeLabel={texts.versionLabel({ version })}
            afterLabel={texts.yourDraft}
          />
        </Suspense>
        <Text size="sm">{texts.conflictLines({ version })}</Text>
        <Group justify="flex-end">
          <Button variant="default" color="red" onClick={discard}>
            {texts.discardMyChanges}
          </Button>
          <Button onClick={onKeep} data-autofocus>
            {texts.keepEditing}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function VersionAuthor({ id, version }: { id: string; version: number }) {
  const { data } = useQuery(versionQuery(id, version));
  if (data === undefined) return null;
  const { created_by: author, created_at: at, reason } = data;
  const time = <Time at={at} ago />;
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      {reason === null
        ? texts.versionAuthor({ version, author, time })
        : texts.versionAuthorNote({ version, author, time, reason })}
    </Text>
  );
}
