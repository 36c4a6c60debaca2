/** `resources/*`: those of the guide, workflows, runs and their values that the caller can see. */
import {
  type Resource,
  ResourceNotFoundError,
  type Server,
  type TextResourceContents,
} from "@modelcontextprotocol/server";
import { visibleText } from "../../../schemas/hidden-characters.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { type McpApps, supportsApps } from "./apps.ts";
import { readHint } from "./cache-hints.ts";
import { type Operations, type OperationsOf, withProtocolErrors } from "./read-operation.ts";
import {
  GUIDE,
  nameOf,
  parseUri,
  RESOURCE_KINDS,
  type ResourceKind,
  RUN,
  uriOf,
  WORKFLOW,
} from "./resource-kinds.ts";
import type { ReadSkill } from "./skills.ts";

/** Number of runs in the list, the newest ones. Others are found by completion, or by their ids. */
const LISTED_RUNS = 20;

/** The topics of the guide. */
export async function topicsOf(stepTypes: readonly AnyStepType[]): Promise<string[]> {
  // Loaded on demand, because the guide imports the whole language.
  const { TOPICS } = await import("../../../tools/environment/guide.ts");
  return [...TOPICS, ...stepTypes.map(({ type }) => type)];
}

/** What is read as a resource beside the kinds of resources. */
export interface OtherResources {
  readSkill: ReadSkill;
  apps: McpApps | undefined;
}

/** Registers the handlers of resources on a new server. */
export function registerResources(
  server: Server,
  operationsOf: OperationsOf,
  stepTypes: readonly AnyStepType[],
  { readSkill, apps }: OtherResources,
): void {
  server.registerCapabilities({ resources: {} });
  server.setRequestHandler("resources/templates/list", (_request, ctx) => {
    const { canUse } = operationsOf(server, ctx, "resources/templates/list");
    const usable = RESOURCE_KINDS.filter(({ operation }) => canUse(operation));
    return {
      resourceTemplates: usable.map(({ template, name, title, description, mimeType }) => ({
        uriTemplate: template,
        name,
        title,
        description,
        mimeType,
      })),
    };
  });
  server.setRequestHandler("resources/list", (request, ctx) =>
    withProtocolErrors(ctx, async () => {
      const operations = operationsOf(server, ctx, "resources/list");
      const page = await listResources(operations, request.params?.cursor, stepTypes);
      const isFirst = request.params?.cursor === undefined;
      return isFirst && apps !== undefined && supportsApps(server)
        ? { ...page, resources: [...apps.list(operations), ...page.resources] }
        : page;
    }),
  );
  server.setRequestHandler("resources/read", (request, ctx) => {
    const { uri } = request.params;
    return withProtocolErrors(
      ctx,
      async () => {
        const skill = await readSkill(uri, ctx);
        if (skill !== undefined) return skill;
        const operations = operationsOf(server, ctx, "resources/read");
        const view = await apps?.read(operations, uri);
        if (view !== undefined) return view;
        const { kind, contents } = await readResource(operations, uri);
        return { contents, ...readHint(ctx, kind) };
      },
      (error) => (error.status === 404 ? new ResourceNotFoundError(uri, error.message) : undefined),
    );
  });
}

interface ReadResource {
  uri: string;
  kind: ResourceKind;
  contents: TextResourceContents[];
}

/** Reads a resource by its URI, or by its name in `resources/list`. @throws ResourceNotFoundError for a URI of no kind; AppError those of the operation */
export async function readResource({ execute }: Operations, written: string): Promise<ReadResource> {
  const found = parseUri(written);
  if (found === undefined)
    throw new ResourceNotFoundError(
      written,
      `There is no resource ${JSON.stringify(written.slice(0, 200))}. URIs are ${RESOURCE_KINDS.map(({ template }) => template).join(", ")}.`,
    );
  const { uri, kind, variables } = found;
  const output = await execute(kind.operation, kind.toInput(variables));
  return { uri, kind, contents: kind.toContents(uri, output as never) };
}

interface ListedWorkflow {
  id: string;
  name: string;
  status: string;
  version: number;
}

interface ListedRun {
  id: string;
  workflow_id: string | null;
  status: string;
  created_at: string;
}

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** A page: first the guide and the newest runs, then workflows, from the one that was changed last. */
async function listResources(
  { canUse, execute }: Operations,
  cursor: string | undefined,
  stepTypes: readonly AnyStepType[],
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const resources: Resource[] = [];
  if (cursor === undefined && canUse(GUIDE.operation))
    for (const topic of await topicsOf(stepTypes))
      resources.push(
        listed(GUIDE, { topic }, { title: `Guide: ${topic}`, description: descriptionOf(topic, stepTypes) }),
      );
  if (cursor === undefined && canUse("list_runs") && canUse(RUN.operation)) {
    const runs = (await execute("list_runs", { limit: LISTED_RUNS })) as Page<ListedRun>;
    for (const { id, workflow_id: workflow, status, created_at: createdAt } of runs.items)
      resources.push(
        listed(
          RUN,
          { run_id: id },
          {
            title: workflow === null ? `Run ${id}` : `Run of ${workflow}, ${status}`,
            description: `${status}, created ${createdAt}`,
          },
        ),
      );
  }
  if (!canUse("list_workflows") || !canUse(WORKFLOW.operation)) return { resources };
  const page = (await execute("list_workflows", {
    sort: "-updated_at",
    ...(cursor !== undefined && { cursor }),
  })) as Page<ListedWorkflow>;
  for (const { id, name, status, version } of page.items)
    resources.push(
      listed(
        WORKFLOW,
        { workflow_id: id },
        { title: `Workflow: ${visibleText(name)}`, description: `${status}, version ${version}` },
      ),
    );
  return { resources, ...(page.next_cursor !== null && { nextCursor: page.next_cursor }) };
}

const descriptionOf = (topic: string, stepTypes: readonly AnyStepType[]): string =>
  stepTypes.find(({ type }) => type === topic)?.title ?? "The workflow language";

function listed(
  kind: ResourceKind,
  variables: Record<string, string>,
  texts: Pick<Resource, "title" | "description">,
): Resource {
  return {
    uri: uriOf(kind, variables),
    name: nameOf(kind, variables),
    ...texts,
    mimeType: kind.mimeType,
  };
}
