/** Starts a backtest: which runs are run again, and what reads do. */
import { Alert, Button, Group, Modal, NumberInput, Radio, Select, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Backtest, BacktestReads } from "../../../schemas/backtest.ts";
import { MAX_BACKTEST_RUNS } from "../../../schemas/backtest-rule.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { ApiError } from "../api/client.ts";
import { issueText } from "../forms/issues.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { WorkflowSelect } from "../workflows/workflow-select.tsx";
import { type BacktestRequest, useStartBacktest } from "./use-start-backtest.ts";

const SOURCES = [
  { value: "any", label: "Runs that succeeded or failed" },
  { value: "succeeded", label: "Runs that succeeded" },
  { value: "failed", label: "Runs that failed" },
] as const;

export interface BacktestDialogProps {
  workflow: Pick<Workflow, "id" | "name" | "version" | "published_version">;
  /** The text of a definition that is tested instead of a version. */
  definition?: string;
  onStarted: (backtest: Backtest) => void;
  onClose: () => void;
}

const DEFAULT_RUNS = 100;

export function BacktestDialog({ workflow, definition, onStarted, onClose }: BacktestDialogProps) {
  const { id, version: newest, published_version: published } = workflow;
  const [last, setLast] = useState(DEFAULT_RUNS);
  const [version, setVersion] = useState(newest);
  const [source, setSource] = useState<string>();
  const [status, setStatus] = useState<(typeof SOURCES)[number]["value"]>("any");
  const [reads, setReads] = useState<BacktestReads>("recorded");
  const start = useStartBacktest(id, (backtest) => {
    onStarted(backtest);
    onClose();
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const request: BacktestRequest = {
      last,
      reads,
      ...(source !== undefined && { source_workflow_id: source }),
      ...(status !== "any" && { status }),
    };
    start.mutate(definition === undefined ? { ...request, version } : { ...request, definition });
  };
  const issues = (start.error instanceof ApiError && start.error.problem.errors) || [];
  useRestoreFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={definition === undefined ? "Backtest" : "Backtest this draft"}
      size="lg"
      centered
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Text size="sm">
            Runs past runs again {definition === undefined ? "with a version" : "with the text in the editor"}{" "}
            and compares the results. Nothing is sent, written or asked: steps with effects get their recorded
            outputs.
          </Text>
          <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
            <NumberInput
              label="Number of runs"
              description="The newest ones."
              data-autofocus
              min={1}
              max={MAX_BACKTEST_RUNS}
              clampBehavior="blur"
              allowDecimal={false}
              value={last}
              onChange={(value) => setLast(Number(value) || 1)}
            />
            {definition === undefined && (
              <NumberInput
                label="Version"
                description={
                  published === null || published === newest
                    ? `The newest is ${newest}.`
                    : `The newest is ${newest}; ${published} is published.`
                }
                min={1}
                max={newest}
                clampBehavior="blur"
                allowDecimal={false}
                value={version}
                onChange={(value) => setVersion(Number(value) || newest)}
              />
            )}
          </Group>
          <WorkflowSelect
            label="Runs of"
            description="Of another workflow, to replace it by this one."
            placeholder="This workflow"
            value={source}
            onChange={setSource}
          />
          <Select
            label="Which runs"
            data={[...SOURCES]}
            value={status}
            allowDeselect={false}
            onChange={(value) => setStatus(value ?? "any")}
          />
          <Radio.Group
            label="Steps that read, if their input has changed"
            value={reads}
            onChange={(chosen) => setReads(chosen)}
          >
            <Stack mt={6} gap="xs">
              <Radio
                value="recorded"
                label="Don’t call anything"
                description="Such a run is not comparable."
              />
              <Radio
                value="live"
                label="Read live"
                description="Queries and calls that only read run now, and may return newer data."
              />
            </Stack>
          </Radio.Group>
          {issues.length > 0 ? (
            <Alert color="red" role="alert" title="Not started">
              <Text size="sm">{issueText(issues)}</Text>
            </Alert>
          ) : (
            start.error !== null && <ErrorAlert error={start.error} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={start.isPending}>
              Start backtest
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
