/**
 * The names of workflows by their ids. Answers of the API name workflows by id, for agents; people read names. All ids of a render
 * are read in one request and kept for some minutes.
 */
import { Anchor, type AnchorProps } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { Link } from "react-router";
import { send } from "../api/client.ts";
import { batched } from "../api/batched.ts";
import { Id } from "../ui/id.tsx";
import { workflowQuery } from "./queries.ts";

/** Maximum number of ids that the list of workflows takes. */
const MAX_IDS = 100;
/** How long a name is used before it is read again, in milliseconds. A change in this tab shows at once. */
const FRESH_MS = 5 * 60_000;

/** What stands for a name until it is loaded. */
const LOADING = "…";

const readName = batched(async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const { data } = await send("get", "/workflows", { query: { ids: [...ids], limit: MAX_IDS } });
  return new Map(data.map(({ id, name }) => [id, name]));
}, MAX_IDS);

/** The name of a workflow; null if there is none with this id that the user can see. */
export const workflowNameQuery = (id: string) =>
  queryOptions({
    // With the key of the other queries of workflows, so that a change of one reads the names again. No id contains a `*`.
    queryKey: ["workflows", "*name", id],
    queryFn: async (): Promise<string | null> => (await readName(id)) ?? null,
    staleTime: FRESH_MS,
  });

/** @returns undefined while the name is loaded; null if it can't be read. @param id null reads nothing */
function useName(id: string | null): string | null | undefined {
  const client = useQueryClient();
  const { data, isError } = useQuery({
    ...workflowNameQuery(id ?? ""),
    enabled: id !== null,
    placeholderData: () => client.getQueryData(workflowQuery(id ?? "").queryKey)?.workflow.name,
  });
  return isError && data === undefined ? null : data;
}

/**
 * The name of a workflow as text, for labels and the title of the document; its id if the name can't be read. Elsewhere
 * `WorkflowName` is better, since it marks an id as one.
 */
export function useWorkflowText(id: string | null): string {
  const name = useName(id);
  return name === undefined ? LOADING : (name ?? id ?? "");
}

/** The name of a workflow, or its id as code. A long name wraps. */
export function WorkflowName({ id }: { id: string }) {
  const name = useName(id);
  if (name === null) return <Id>{id}</Id>;
  return (
    <bdi
      style={{ overflowWrap: "anywhere" }}
      {...(name === undefined ? { "aria-busy": true } : { title: id })}
    >
      {name ?? LOADING}
    </bdi>
  );
}

/** Names with commas between them. */
export const WorkflowNames = ({ ids }: { ids: readonly string[] }) =>
  ids.map((id, index) => (
    <Fragment key={id}>
      {index > 0 && ", "}
      <WorkflowName id={id} />
    </Fragment>
  ));

interface WorkflowLinkProps extends AnchorProps {
  id: string;
  /** The page of the workflow to link to, such as `/versions`. */
  page?: string;
  children?: ReactNode;
}

/** A link to the page of a workflow that says its name. */
export function WorkflowLink({ id, page = "", children, ...look }: WorkflowLinkProps) {
  return (
    <Anchor component={Link} to={`/workflows/${encodeURIComponent(id)}${page}`} inherit {...look}>
      {children ?? <WorkflowName id={id} />}
    </Anchor>
  );
}
