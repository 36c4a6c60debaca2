/** The queries of projects, and of what is theirs. */
import { queryOptions } from "@tanstack/react-query";
import { DEFAULT_PROJECT } from "../../../schemas/project-ids.ts";
import type { Grant, GrantKind, Project, ProjectMember } from "../../../schemas/project.ts";
import { type ApiResponse, send } from "../api/client.ts";
import { cursorParam } from "../ui/pagination.ts";

const PAGE_SIZE = 200;

/** Loads all pages of a list that is short, but may be longer than one page. */
async function readAll<T>(
  readPage: (page: { limit: number; cursor?: string }) => Promise<ApiResponse<T[]>>,
): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: ApiResponse<T[]> = await readPage({ limit: PAGE_SIZE, ...cursorParam(cursor) });
    items.push(...page.data);
    cursor = page.next;
  }
  return items;
}

/** The projects that the user has a role in; the default one comes first. */
export const projectsQuery = queryOptions({
  queryKey: ["projects", "list"],
  queryFn: ({ signal }): Promise<Project[]> =>
    readAll((query) => send("get", "/projects", { query, signal })),
  staleTime: 60_000,
  // Another person may add the user to a project, or require reviews.
  refetchInterval: 300_000,
});

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ["projects", "one", id],
    queryFn: async ({ signal }): Promise<Project> =>
      (await send("get", "/projects/{project}", { path: { project: id }, signal })).data,
  });

/** The members of a project, by e-mail address. */
export const membersQuery = (project: string) =>
  queryOptions({
    queryKey: ["projects", "members", project],
    queryFn: ({ signal }): Promise<ProjectMember[]> =>
      readAll((query) => send("get", "/projects/{project}/members", { path: { project }, query, signal })),
  });

/** What a project is granted, by kind and name. */
export const grantsQuery = (project: string) =>
  queryOptions({
    queryKey: ["projects", "grants", project],
    queryFn: ({ signal }): Promise<Grant[]> =>
      readAll((query) => send("get", "/projects/{project}/grants", { path: { project }, query, signal })),
  });

const namesOf = (items: readonly { name: string }[] = []): string[] => items.map(({ name }) => name);

/**
 * The names that can be granted, by kind: what the default project may use, which is everything unless it was limited itself.
 * Hosts are not listed.
 */
export const grantableNamesQuery = queryOptions({
  queryKey: ["environment", "grantable"],
  queryFn: async ({ signal }): Promise<Partial<Record<GrantKind, string[]>>> => {
    const { data } = await send("get", "/environment", { query: { project: DEFAULT_PROJECT }, signal });
    return {
      database: namesOf(data.databases),
      model: namesOf(data.models),
      mcp_server: namesOf(data.mcp_servers),
      secret: namesOf(data.secrets),
      mail: data.mail?.allowed_domains ?? [],
      chat: namesOf(data.chats),
    };
  },
  staleTime: 60_000,
});

/** The projects that a workflow is offered to. The key is below the workflow's, whose mutations invalidate it. */
export const offerQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ["workflows", workflowId, "offer"],
    queryFn: async ({ signal }) =>
      (await send("get", "/workflows/{workflow_id}/offer", { path: { workflow_id: workflowId }, signal }))
        .data,
  });
