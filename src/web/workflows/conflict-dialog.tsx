/** When two people saved: what the other one changed beside one's own, and how to go on. */
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
  onTake: () => void;
}

/** Closing it goes on with one's own: nothing is lost by Escape. */
export function ConflictDialog({
  conflict: { theirs, theirText },
  base,
  mine,
  onKeep,
  onTake,
}: ConflictDialogProps) {
  const { version, name } = theirs.workflow;
  const words = describeChanges(base.workflow, theirs.workflow);
  const drop = () =>
    confirmAction({
      title: "Drop your changes?",
      consequence: `Your changes to the definition of “${name}” are lost, and version ${version} takes their place.`,
      confirm: "Drop mine",
      onConfirm: onTake,
    });
  useRestoreFocus();
  return (
    <Modal opened onClose={onKeep} title="Somebody changed it in the meantime" size="xl">
      <Stack gap="md">
        <Text size="sm">
          You began from version {base.workflow.version}; the newest is version {version} now. Nothing of
          yours was saved, and nothing is lost.
        </Text>
        <ByWhom id={theirs.workflow.id} version={version} />
        {words.length > 0 && (
          <List size="sm">
            {words.map((sentence) => (
              <List.Item key={sentence}>{sentence}</List.Item>
            ))}
          </List>
        )}
        <Suspense fallback={<LoadingSkeleton rows={6} />}>
          <DefinitionDiff
            before={theirText}
            after={mine}
            beforeLabel={`Theirs, version ${version}`}
            afterLabel="Yours"
          />
        </Suspense>
        <Text size="sm">
          What is marked as taken away is in theirs only: write it into yours where it is to stay. Saving then
          makes yours the next version.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" color="red" onClick={drop}>
            Drop mine
          </Button>
          <Button onClick={onKeep} data-autofocus>
            Keep editing mine
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Who saved the newest version, when and why; nothing while that is not known. */
function ByWhom({ id, version }: { id: string; version: number }) {
  const { data } = useQuery(versionQuery(id, version));
  if (data === undefined) return null;
  const { created_by: owner, created_at: at, reason } = data;
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      Version {version} is by {owner}, <Time at={at} ago />
      {reason === null ? ". No reason was given." : `: “${reason}”`}
    </Text>
  );
}
