/** Retries a run with another definition, other inputs, or both, which apply to the new run only. */
import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { useHasScope } from "../app/session.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { toText } from "../editor/format.ts";
import { AccessDenied } from "../ui/access-denied.tsx";
import { ErrorAlert, QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { RunLink } from "./facts.tsx";
import { RunName, useRunText } from "./run-name.tsx";
import { definitionQuery, inputsQuery, runQuery } from "./queries.ts";
import { hasEnded } from "./live-updates.ts";
import { RetryEditor, type WorkflowRun } from "./retry-editor.tsx";

export default function EditAndRetry() {
  const { runId = "" } = useParams();
  const hasScope = useHasScope();
  const run = useQuery({ ...runQuery(runId), enabled: hasScope("run") && hasScope("write") });
  const may = useHasScopeIn(run.data);
  const name = useRunText(run.data);
  if (!may("run") || !may("write")) {
    return <AccessDenied title="Edit and retry" needs="editors and admins" />;
  }
  return (
    <Page
      title={run.data === undefined ? "Edit and retry" : `Edit and retry ${name}`}
      heading={<>Edit and retry {run.data !== undefined && <RunName run={run.data} />}</>}
      about={
        <>
          Retries <RunLink id={runId} /> with another definition, other inputs, or both. The changes apply to
          the new run only. Its page offers to keep a changed definition as a version.
        </>
      }
    >
      <QueryContent query={run}>
        {(data) =>
          data.workflow_id === null ? (
            <Alert color="gray" title="This run has no workflow" role="note">
              A single step can only be retried as it was. <RunLink id={runId}>Back to the run</RunLink>
            </Alert>
          ) : hasEnded(data) ? (
            <OriginalRun key={data.id} run={{ ...data, workflow_id: data.workflow_id }} />
          ) : (
            <Alert color="gray" title="This run is still active" role="note">
              Wait until it ends, or cancel it before you retry. <RunLink id={runId}>Back to the run</RunLink>
            </Alert>
          )
        }
      </QueryContent>
    </Page>
  );
}

/** Loads the definition of the run, as text, and its inputs. */
function OriginalRun({ run }: { run: WorkflowRun }) {
  const definition = useQuery(definitionQuery(run.id));
  const inputs = useQuery(inputsQuery(run.id));
  const text = useQuery({
    queryKey: ["runs", run.id, "definition", "yaml"],
    queryFn: () => toText(definition.data ?? null, "yaml"),
    enabled: definition.data !== undefined,
    staleTime: Infinity,
  });
  if (definition.isError)
    return <ErrorAlert error={definition.error} retry={() => void definition.refetch()} />;
  return (
    <QueryContent query={inputs} skeleton={<LoadingSkeleton rows={8} />}>
      {({ inputs: given }) => (
        <QueryContent query={text} skeleton={<LoadingSkeleton rows={8} />}>
          {(original) => (
            <RetryEditor run={run} definition={definition.data ?? {}} text={original} inputs={given} />
          )}
        </QueryContent>
      )}
    </QueryContent>
  );
}
