/** Shown when a save conflicts with a newer version: what the other person changed, and how to continue. */
import { Button, Group, List, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
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
      title: "Discard your changes?",
      consequence: `Your changes to the definition of “${name}” will be lost and replaced by version ${version}.`,
      confirm: "Discard changes",
      onConfirm: onDiscard,
    });
  useRestoreFocus();
  return (
    <Modal opened onClose={onKeep} title="Conflicting changes" size="xl">
      <Stack gap="md">
        <Text size="sm">
          You started from version {base.workflow.version}, but version {version} has been saved since. Your
          changes are not saved yet.
        </Text>
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
            beforeLabel={`Version ${version}`}
            afterLabel="Your draft"
          />
        </Suspense>
        <Text size="sm">
          Lines marked as removed exist only in version {version}. Copy the ones you need into your draft,
          then save it as the next version.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" color="red" onClick={discard}>
            Discard my changes
          </Button>
          <Button onClick={onKeep} data-autofocus>
            Keep editing
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function VersionAuthor({ id, version }: { id: string; version: number }) {
  const { data } = useQuery(versionQuery(id, version));
  if (data === undefined) return null;
  const { created_by: owner, created_at: at, reason } = data;
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      Version {version} by {owner}, <Time at={at} ago />
      {reason === null ? ". No change note." : `: “${reason}”`}
    </Text>
  );
}
