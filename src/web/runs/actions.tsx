/** The actions on a run: cancel, retry, and edit and retry. */
import { Button, Menu } from "@mantine/core";
import {
  IconArrowsDiff,
  IconBan,
  IconChevronDown,
  IconFilePlus,
  IconForms,
  IconPencil,
  IconPlayerPlay,
  IconRefresh,
} from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/runs";
import { send } from "../api/client.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { otherInputsPath, useRunAgain } from "./repeat.tsx";
import { useRetry } from "./retry.tsx";
import { hasEnded, type LiveRun } from "./live-updates.ts";
import { runName } from "./run-name.ts";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

export function RunActions({ run }: { run: LiveRun }) {
  const may = useHasScopeIn(run);
  if (!may("run")) return hasEnded(run) && run.workflow_id !== null ? <CompareLink run={run} /> : null;
  // Keyed by run, so that each run gets its own idempotency keys.
  return hasEnded(run) ? <RetryButtons key={run.id} run={run} /> : <CancelButton key={run.id} run={run} />;
}

function CancelButton({ run }: { run: LiveRun }) {
  const client = useQueryClient();
  const headerFor = useIdempotencyHeader();
  const cancel = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/runs/{run_id}/cancel", { path: { run_id: run.id }, header: headerFor({}), body: {} }),
    onSuccess: () => notifySuccess(texts.runWasCancelled({ name: runName(run) })),
    onError: (error) => notifyError(texts.cancelFailed, error),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["runs"] }),
        client.invalidateQueries({ queryKey: ["approvals"] }),
      ]),
  });
  const stopping = run.stopping === true || cancel.isPending;
  return (
    <Button
      variant="default"
      leftSection={<IconBan size={16} aria-hidden />}
      loading={stopping}
      onClick={() =>
        confirmAction({
          title: texts.cancelTitle({ name: runName(run) }),
          consequence: texts.cancelHelp({ id: run.id }),
          confirm: texts.cancelRun,
          cancel: texts.keepRunning,
          onConfirm: () => cancel.mutate(),
        })
      }
    >
      {texts.cancel}
    </Button>
  );
}

const CompareLink = ({ run }: { run: LiveRun }) => (
  <Button
    component={Link}
    to={`/runs/${run.id}/compare`}
    variant="default"
    leftSection={<IconArrowsDiff size={16} aria-hidden />}
  >
    {texts.compareWithGood}
  </Button>
);

/** What is needed less often: a new run, and the comparison. */
function RepeatMenu({ run }: { run: LiveRun }) {
  const runAgain = useRunAgain();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={16} aria-hidden />}>
          {texts.more}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {run.status !== "succeeded" && (
          <Menu.Item leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={() => runAgain(run)}>
            {texts.runAgain}
          </Menu.Item>
        )}
        <Menu.Item
          component={Link}
          to={otherInputsPath(run)}
          leftSection={<IconForms size={14} aria-hidden />}
        >
          {texts.runWithOtherInputs}
        </Menu.Item>
        <Menu.Item
          component={Link}
          to={`/runs/${run.id}/compare`}
          leftSection={<IconArrowsDiff size={14} aria-hidden />}
        >
          {texts.compareWithGood}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const CreateWorkflowLink = ({ run }: { run: LiveRun }) => (
  <Button
    component={Link}
    to={`/runs/${run.id}/workflow`}
    variant="default"
    leftSection={<IconFilePlus size={16} aria-hidden />}
  >
    {texts.createWorkflow}
  </Button>
);

function RetryButtons({ run }: { run: LiveRun }) {
  const may = useHasScopeIn(run);
  const retry = useRetry(run);
  const runAgain = useRunAgain();
  // A single step is retried as it was, and has no workflow that could run again.
  if (run.workflow_id === null && run.status === "succeeded")
    return may("write") ? <CreateWorkflowLink run={run} /> : null;
  return (
    <>
      {may("write") && run.workflow_id !== null && (
        <Button
          component={Link}
          to={`/runs/${run.id}/retry`}
          variant="default"
          leftSection={<IconPencil size={16} aria-hidden />}
        >
          {texts.editAndRetry}
        </Button>
      )}
      {run.workflow_id !== null && <RepeatMenu run={run} />}
      {/* A retry of a succeeded run would reuse every step, so it offers a new run instead. */}
      {run.status === "succeeded" ? (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => runAgain(run)}
        >
          {texts.runAgain}
        </Button>
      ) : (
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={retry.isPending}
          onClick={() => retry.mutate({})}
        >
          {run.failed_step === undefined ? texts.retry : texts.retryFrom({ step: run.failed_step.id })}
        </Button>
      )}
    </>
  );
}
