/** What can be done with a run in a list. */
import { ActionIcon, Menu } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import {
  IconArrowsDiff,
  IconCopy,
  IconDotsVertical,
  IconForms,
  IconPlayerPlay,
  IconRefresh,
} from "@tabler/icons-react";
import { Link } from "react-router";
import * as texts from "#texts/runs";
import type { RunSummary } from "../../../schemas/run.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { formatRelativeTime } from "../ui/relative-time.ts";
import { useNow } from "../ui/now.ts";
import { hasEnded } from "./live-updates.ts";
import { otherInputsPath, type RepeatedRun, useRunAgain } from "./repeat.tsx";
import { useRetry } from "./retry.tsx";
import { runName } from "./run-name.ts";

type ListedRun = RepeatedRun & Pick<RunSummary, "status" | "created_at">;

export function RunMenu({ run }: { run: ListedRun }) {
  const may = useHasScopeIn(run);
  const runAgain = useRunAgain();
  const retry = useRetry(run);
  const clipboard = useClipboard();
  const now = useNow();
  const isOfWorkflow = run.workflow_id !== null;
  const isRetryable = hasEnded(run) && run.status !== "succeeded";
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={texts.actionsOn({
            name: runName(run),
            ago: formatRelativeTime(Date.parse(run.created_at), now),
          })}
        >
          <IconDotsVertical size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {may("run") && isRetryable && (
          <Menu.Item
            leftSection={<IconRefresh size={14} aria-hidden />}
            onClick={() => retry.mutate({})}
            disabled={retry.isPending}
          >
            {texts.retry}
          </Menu.Item>
        )}
        {may("run") && isOfWorkflow && (
          <>
            <Menu.Item leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={() => runAgain(run)}>
              {texts.runAgain}
            </Menu.Item>
            <Menu.Item
              component={Link}
              to={otherInputsPath(run)}
              leftSection={<IconForms size={14} aria-hidden />}
            >
              {texts.runWithOtherInputs}
            </Menu.Item>
          </>
        )}
        {isOfWorkflow && hasEnded(run) && (
          <Menu.Item
            component={Link}
            to={`/runs/${run.id}/compare`}
            leftSection={<IconArrowsDiff size={14} aria-hidden />}
          >
            {texts.compareWithGood}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconCopy size={14} aria-hidden />} onClick={() => clipboard.copy(run.id)}>
          {texts.copyRunId}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
