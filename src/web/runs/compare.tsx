/** Two runs side by side: where they first part, their inputs, definitions, steps and outputs. */
import { Alert, Button, Group, List, Stack, TextInput } from "@mantine/core";
import { IconArrowsDiff, IconEqual } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, lazy, Suspense, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { RunComparison } from "../../../schemas/run-comparison.ts";
import { ApiError } from "../api/client.ts";
import { toText } from "../editor/format.ts";
import { MarkedText } from "../ui/id.tsx";
import { EmptyState, LoadingSkeleton, Page, QueryContent } from "../ui/page.tsx";
import { ComparedRuns, ComparedSteps, ValueDifferences } from "./compared-parts.tsx";
import { describeVerdict, differingParts, differingValues } from "./comparison.ts";
import { RunLink } from "./facts.tsx";
import { comparisonQuery, definitionQuery } from "./queries.ts";
import { RunName, useRunText } from "./run-name.tsx";
import { Section } from "./section.tsx";

const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

export default function ComparePage() {
  const { runId = "" } = useParams();
  const [params, setParams] = useSearchParams();
  const other = params.get("with") ?? undefined;
  const query = useQuery(comparisonQuery(runId, other));
  const after = query.data?.after;
  const name = useRunText(after);
  const compareWith = (id: string | undefined): void =>
    setParams(id === undefined ? {} : { with: id }, { preventScrollReset: true });
  return (
    <Page
      title={after === undefined ? "Compare runs" : `Compare runs of ${name}`}
      heading={
        <>
          Compare runs
          {after !== undefined && (
            <>
              {" "}
              of <RunName run={after} />
            </>
          )}
        </>
      }
      about={
        <>
          What <RunLink id={runId} /> did differently from{" "}
          {other === undefined ? "the last run before it that succeeded" : <RunLink id={other} />}.
        </>
      }
    >
      {/* Keyed, so that the field shows the run of the address. */}
      <OtherRunForm key={other ?? ""} other={other} onCompare={compareWith} />
      {other === undefined && hasNoOther(query.error) ? (
        <EmptyState title="No earlier run has succeeded">Enter the ID of the run to compare with.</EmptyState>
      ) : (
        <QueryContent query={query} skeleton={<LoadingSkeleton rows={8} />}>
          {(comparison) => <Comparison comparison={comparison} />}
        </QueryContent>
      )}
    </Page>
  );
}

/** Whether no run was named, and there is none to compare with. */
const hasNoOther = (error: Error | null): boolean =>
  error instanceof ApiError && error.problem.errors?.some(({ path }) => path === "with") === true;

interface OtherRunFormProps {
  other: string | undefined;
  onCompare: (id: string | undefined) => void;
}

function OtherRunForm({ other, onCompare }: OtherRunFormProps) {
  const [id, setId] = useState(other ?? "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onCompare(id.trim() === "" ? undefined : id.trim());
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Compare with the run"
          placeholder="run_…"
          value={id}
          onChange={(event) => setId(event.currentTarget.value)}
          maxLength={100}
          w={{ base: "100%", xs: 260 }}
        />
        <Button type="submit" variant="default" disabled={id.trim() === (other ?? "")}>
          Compare
        </Button>
        {other !== undefined && (
          <Button variant="subtle" onClick={() => onCompare(undefined)}>
            Compare with the last good run
          </Button>
        )}
      </Group>
    </form>
  );
}

function Comparison({ comparison }: { comparison: RunComparison }) {
  const { before, after, notes, steps, same, definition } = comparison;
  const given = differingValues(comparison, ["inputs", "state"]);
  const returned = differingValues(comparison, ["error", "output", "committed"]);
  const parts = steps.flatMap(differingParts);
  return (
    <Stack gap="xl">
      <Alert
        role="status"
        color={same ? "green" : "blue"}
        icon={same ? <IconEqual aria-hidden /> : <IconArrowsDiff aria-hidden />}
        title={<MarkedText text={describeVerdict(comparison)} />}
      >
        {notes.length > 0 && (
          <List size="sm" aria-label="Notes">
            {notes.map((note) => (
              <List.Item key={note} style={{ overflowWrap: "anywhere" }}>
                {note}
              </List.Item>
            ))}
          </List>
        )}
      </Alert>
      <ComparedRuns before={before} after={after} />
      {given.map(({ title, value }) => (
        <Section key={title} title={title} order={2}>
          <ValueDifferences label={title} value={value} />
        </Section>
      ))}
      <Section title="Steps" order={2}>
        <ComparedSteps comparison={comparison} />
      </Section>
      {parts.length > 0 && (
        <Section title="What differs in the steps" order={2}>
          <Stack gap="lg">
            {parts.map(({ title, notes: said, values }) => (
              <Section key={title} title={[title, ...said].join(": ")}>
                {values.map((one) => (
                  <ValueDifferences
                    key={one.title}
                    label={`${one.title} of ${title}`}
                    caption={one.title}
                    value={one.value}
                  />
                ))}
              </Section>
            ))}
          </Stack>
        </Section>
      )}
      {returned.map(({ title, value }) => (
        <Section key={title} title={`${title} of the run`} order={2}>
          <ValueDifferences label={`${title} of the run`} value={value} />
        </Section>
      ))}
      {definition !== undefined && <Definitions before={before} after={after} />}
    </Stack>
  );
}

/** The definitions of both runs, as the API has them. */
function Definitions({ before, after }: Pick<RunComparison, "before" | "after">) {
  const older = useQuery(definitionQuery(before.id));
  const newer = useQuery(definitionQuery(after.id));
  const texts = useQuery({
    queryKey: ["runs", after.id, "compare-definitions", before.id],
    queryFn: () => Promise.all([older.data, newer.data].map((one) => toText(one ?? null, "yaml"))),
    enabled: older.data !== undefined && newer.data !== undefined,
    staleTime: Infinity,
  });
  return (
    <Section title="Definition" order={2}>
      <QueryContent query={older}>
        {() => (
          <QueryContent query={newer}>
            {() => (
              <QueryContent query={texts}>
                {([old = "", current = ""]) => (
                  <Suspense fallback={<LoadingSkeleton rows={6} />}>
                    <DefinitionDiff
                      before={old}
                      after={current}
                      beforeLabel={`Before: ${versionOf(before)}`}
                      afterLabel={`After: ${versionOf(after)}`}
                    />
                  </Suspense>
                )}
              </QueryContent>
            )}
          </QueryContent>
        )}
      </QueryContent>
    </Section>
  );
}

const versionOf = ({ id, version }: RunComparison["before"]): string =>
  version === null ? id : `version ${version}, ${id}`;
