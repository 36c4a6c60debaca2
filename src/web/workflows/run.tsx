/** Starts a run: chooses the version and the inputs. `?from=` is a run, whose inputs the form begins with. */
import { Anchor, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "react-router";
import { useHasScope } from "../app/session.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { RunLink } from "../runs/facts.tsx";
import { inputsQuery, type RunInputs } from "../runs/queries.ts";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, QueryContent, Page } from "../ui/page.tsx";
import { type WorkflowWithEtag, versionQuery, workflowQuery } from "./queries.ts";
import { RunForm } from "./run-form.tsx";

export default function RunWorkflow() {
  const { workflowId = "" } = useParams();
  const hasScope = useHasScope();
  const query = useQuery({ ...workflowQuery(workflowId), enabled: hasScope("run") });
  const may = useHasScopeIn(query.data?.workflow);
  const back = `/workflows/${workflowId}`;
  if (!may("run")) return <AccessDenied title="Run" needs="editors and admins" />;
  return (
    <Page
      title={`Run ${query.data?.workflow.name ?? workflowId}`}
      about={
        <Anchor component={Link} to={back} size="sm">
          Back to the workflow
        </Anchor>
      }
    >
      <QueryContent query={query}>{(read) => <EarlierRun read={read} />}</QueryContent>
    </Page>
  );
}

/** Loads the run that is repeated, if there is one. A run of another workflow has other inputs. */
function EarlierRun({ read }: { read: WorkflowWithEtag }) {
  const [parameters] = useSearchParams();
  const from = parameters.get("from");
  const query = useQuery({ ...inputsQuery(from ?? ""), enabled: from !== null });
  if (from === null) return <ChosenVersion read={read} />;
  return (
    <QueryContent query={query}>
      {(earlier) => (
        <ChosenVersion read={read} {...(earlier.run.workflow_id === read.workflow.id && { earlier })} />
      )}
    </QueryContent>
  );
}

interface ChosenVersionProps {
  read: WorkflowWithEtag;
  /** The run that is repeated. */
  earlier?: RunInputs;
}

function ChosenVersion({ read: { workflow }, earlier }: ChosenVersionProps) {
  const [parameters, setParameters] = useSearchParams();
  const { id, version: latest, published_version: published, status } = workflow;
  const defaultVersion = published ?? latest;
  const requested = Number(parameters.get("version"));
  const version =
    Number.isInteger(requested) && requested >= 1 && requested <= latest ? requested : defaultVersion;
  const query = useQuery(versionQuery(id, version));
  if (status === "archived") {
    return <EmptyState title="Archived workflow">Restore the workflow to run it.</EmptyState>;
  }
  return (
    <Stack gap="lg" maw={720}>
      {earlier !== undefined && <Repeated run={earlier.run} />}
      {latest > 1 && (
        <NativeSelect
          label="Version"
          description={
            version === defaultVersion
              ? undefined
              : `Default: version ${defaultVersion} (${published === null ? "latest" : "published"})`
          }
          value={version}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            setParameters(
              (before) => {
                if (chosen === String(defaultVersion)) before.delete("version");
                else before.set("version", chosen);
                return before;
              },
              { replace: true },
            );
          }}
          data={Array.from({ length: latest }, (_, index) => latest - index).map((number) => ({
            value: String(number),
            label: `${number}${number === published ? " (published)" : ""}${number === latest ? " (latest)" : ""}`,
          }))}
          maw={260}
        />
      )}
      <QueryContent query={query}>
        {({ definition = null }) =>
          definition === null ? (
            <EmptyState title="No definition yet">Version {version} has no definition.</EmptyState>
          ) : (
            <RunForm
              key={version}
              workflowId={id}
              version={version}
              definition={definition}
              inputs={earlier?.inputs}
            />
          )
        }
      </QueryContent>
    </Stack>
  );
}

/** Says where the inputs come from, and what the new run does otherwise than that run. */
function Repeated({ run: { id, version, patched, trial } }: { run: RunInputs["run"] }) {
  return (
    <Text size="sm" role="note">
      Filled in with the inputs of <RunLink id={id} />, which ran version {version}
      {patched === true && " with a modified definition"}.
      {trial === true && " It was a trial; this run executes steps with effects."}
    </Text>
  );
}
