/** The version history of a workflow: authors, change notes, diffs, and restoring. */
import { Anchor, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "react-router";
import * as texts from "#texts/workflows";
import { PagedList } from "../ui/paged-list.tsx";
import { QueryContent, Page } from "../ui/page.tsx";
import { type WorkflowWithEtag, versionsQuery, workflowQuery } from "./queries.ts";
import { VersionDiff } from "./version-diff.tsx";
import { VersionTable } from "./version-table.tsx";

export default function Versions() {
  const { workflowId = "" } = useParams();
  const query = useQuery(workflowQuery(workflowId));
  return (
    <Page
      title={texts.versionsOf({ name: query.data?.workflow.name ?? workflowId })}
      about={
        <Anchor component={Link} to={`/workflows/${workflowId}`} size="sm">
          {texts.backToWorkflow}
        </Anchor>
      }
    >
      <QueryContent query={query}>{(read) => <History read={read} />}</QueryContent>
    </Page>
  );
}

function History({ read }: { read: WorkflowWithEtag }) {
  const { id, version: latest, published_version: published } = read.workflow;
  const versions = useInfiniteQuery(versionsQuery(id));
  const [parameters, setParameters] = useSearchParams();
  const requested = ["from", "to"].map((name) => Number(parameters.get(name)));
  const isValid = requested.every((number) => Number.isInteger(number) && number >= 1 && number <= latest);
  const before = published !== null && published !== latest ? published : latest - 1;
  const [from, to] = (isValid ? requested : [before, latest]).toSorted((a, b) => a - b) as [number, number];
  const compare = (one: number, other: number) =>
    setParameters(
      { from: String(Math.min(one, other)), to: String(Math.max(one, other)) },
      { replace: true, preventScrollReset: true },
    );
  return (
    <Stack gap="xl">
      <Stack gap="sm">
        <PagedList query={versions} empty={null}>
          {(items) => <VersionTable items={items} read={read} from={from} to={to} onCompare={compare} />}
        </PagedList>
      </Stack>
      {from >= 1 && from !== to ? (
        <VersionDiff workflowId={id} from={from} to={to} />
      ) : (
        <Text c="dimmed" size="sm">
          {latest === 1 ? texts.firstVersion : texts.selectTwo}
        </Text>
      )}
    </Stack>
  );
}
