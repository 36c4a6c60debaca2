/** A draft that begins with the definition of a run: where it comes from, and how it differs from the latest version. */
import { Alert, Stack, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import { send } from "../api/client.ts";
import { changeText, toText } from "../editor/format.ts";
import { RunLink } from "../runs/facts.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import type { WorkflowWithEtag } from "./queries.ts";
import type { useDraft } from "./use-draft.ts";

const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

const readRunDefinition = async (runId: string, signal: AbortSignal) =>
  (await send("get", "/runs/{run_id}/definition", { path: { run_id: runId }, signal })).data;

export interface DraftOfRun extends Awaited<ReturnType<typeof readRunDefinition>> {
  /** The id of the run. */
  id: string;
  /** Its definition as YAML, with the comments of the latest version. */
  text: string;
}

/** @returns undefined for a run of another workflow, which has nothing that this one could keep */
export async function readDraftOfRun(
  runId: string,
  { read, text }: { read: WorkflowWithEtag; text: string },
  signal: AbortSignal,
): Promise<DraftOfRun | undefined> {
  const run = await readRunDefinition(runId, signal);
  if (run.workflow_id !== read.workflow.id) return undefined;
  const changed = (await changeText(text, run.definition)) ?? (await toText(run.definition, "yaml"));
  return { ...run, id: runId, text: changed };
}

interface RunDraftProps {
  run: DraftOfRun;
  base: Pick<ReturnType<typeof useDraft>, "base" | "baseText" | "text" | "format">;
}

export function RunDraft({ run: { id, version, patched }, base: { base, baseText, text } }: RunDraftProps) {
  const latest = base.workflow.version;
  return (
    <Alert color="blue" icon={<IconHistory aria-hidden />} title="Definition of a run" role="note">
      <Stack gap="sm">
        <Text size="sm">
          The text is the definition of <RunLink id={id} />: version {version}
          {patched && ", modified for that run"}. Save it to keep it as version {latest + 1}.
          {version !== latest &&
            ` It is without what was changed between version ${version} and version ${latest}.`}
        </Text>
        <Suspense fallback={<LoadingSkeleton rows={3} />}>
          <DefinitionDiff
            before={baseText}
            after={text}
            beforeLabel={`Version ${latest}`}
            afterLabel="This draft"
          />
        </Suspense>
      </Stack>
    </Alert>
  );
}
