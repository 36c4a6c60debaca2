/** The values that runs of a workflow leave for later ones, with their history; setting and resetting them. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { IconPencil, IconRestore } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/workflows";
import type { WorkflowStateContent } from "../../../schemas/workflow-state.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { RunLink } from "../runs/facts.tsx";
import { ScrollableValue } from "../runs/section.tsx";
import { stateQuery, versionQuery } from "./queries.ts";

const StateDialog = lazy(async () => ({ default: (await import("./state-dialog.tsx")).StateDialog }));

const ResetStateDialog = lazy(async () => ({
  default: (await import("./reset-state-dialog.tsx")).ResetStateDialog,
}));
const StateHistory = lazy(async () => ({ default: (await import("./state-history.tsx")).StateHistory }));

/** Whether the version that runs declares state: the published one, else the newest. False while that is loading. */
export function useDeclaresState(workflow: WorkflowWithDefinition): boolean {
  const { id, version, published_version: published } = workflow;
  const isNewest = published === null || published === version;
  const { data } = useQuery({ ...versionQuery(id, published ?? version), enabled: !isNewest });
  const definition = isNewest ? workflow.definition : data?.definition;
  return definition?.["state"] !== undefined;
}

export function StatePanel({ workflow }: { workflow: WorkflowWithDefinition }) {
  const query = useQuery(stateQuery(workflow.id));
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={2} />}>
      {(read) =>
        read === null ? (
          <Text size="sm" c="dimmed">
            {texts.noState}
          </Text>
        ) : (
          <State state={read.state} etag={read.etag} workflow={workflow} />
        )
      }
    </QueryContent>
  );
}

interface StateProps {
  state: WorkflowStateContent;
  etag: string;
  workflow: WorkflowWithDefinition;
}

function State({ state, etag, workflow }: StateProps) {
  const may = useHasScopeIn(workflow);
  const [dialog, setDialog] = useState<"edit" | "reset">();
  const [showsHistory, setShowsHistory] = useState(false);
  const close = () => setDialog(undefined);
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between" align="flex-start">
        <Text size="sm" c="dimmed">
          <LastWrite state={state} />
        </Text>
        {may("write") && workflow.status !== "archived" && (
          <Group gap="xs" wrap="nowrap" style={{ flexShrink: 0 }}>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPencil size={14} aria-hidden />}
              onClick={() => setDialog("edit")}
            >
              {texts.editState}
            </Button>
            {state.updated_at !== null && (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconRestore size={14} aria-hidden />}
                onClick={() => setDialog("reset")}
              >
                {texts.reset}
              </Button>
            )}
          </Group>
        )}
      </Group>
      <ScrollableValue label={texts.stateOfWorkflow}>
        <ValueView value={state.values} label={texts.stateOfWorkflow} />
      </ScrollableValue>
      {state.updated_at !== null && (
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={showsHistory}
            onClick={() => setShowsHistory(!showsHistory)}
          >
            {showsHistory ? texts.hideHistory : texts.showHistory}
          </Button>
        </Group>
      )}
      <Suspense fallback={showsHistory && <LoadingSkeleton rows={3} />}>
        {showsHistory && <StateHistory workflowId={workflow.id} />}
      </Suspense>
      <Suspense>
        {dialog === "edit" && <StateDialog state={state} etag={etag} onClose={close} />}
        {dialog === "reset" && <ResetStateDialog state={state} etag={etag} onClose={close} />}
      </Suspense>
    </Stack>
  );
}

function LastWrite({ state: { updated_at: at, updated_by: by } }: { state: WorkflowStateContent }) {
  if (at === null || by === null) return texts.stateNotWritten;
  return texts.stateRevised({
    time: <Time at={at} ago />,
    author: by.startsWith("run_") ? <RunLink id={by} /> : by,
  });
}
