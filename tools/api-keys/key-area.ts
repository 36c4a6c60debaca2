/** The projects of a new key, and what it is limited to: nothing that its creator does not have or see. */
import type { z } from "zod";
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../../schemas/api-key.ts";
import type { Issue } from "../../schemas/problem.ts";
import { DEFAULT_PROJECT, projectOf } from "../../schemas/project.ts";
import { type Access, scopesIn } from "../../src/core/access.ts";
import { exposedToolName } from "../../src/core/exposed-tool-name.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { reservedToolNames } from "../workflows/reserved-tool-names.ts";

type Limits = z.output<typeof KeyLimits>;

/** The stream of a run's events, which is no operation of the catalogue. */
const RUN_EVENTS = { name: "run_events", scope: "read" } as const;
/** Maximum number of recent workflow ids to search for a near match. */
const MAX_CANDIDATES = 200;

/** The projects in which a caller can do something, the default one first. */
async function projectsOf({ actor, read }: ToolContext): Promise<string[]> {
  const { access } = actor.principal;
  const ids = access.everywhere === null ? [...access.projects.keys()] : await allProjects(read);
  return ids.toSorted((a, b) => Number(b === DEFAULT_PROJECT) - Number(a === DEFAULT_PROJECT));
}

const allProjects = async (read: ToolContext["read"]): Promise<string[]> =>
  (await read.projects.list()).map(({ id }) => id);

/**
 * The projects of a new key.
 * @param requested left out, the only project of the caller, else the default one
 * @returns those that the caller has, and the issues of the others
 */
export async function keyProjects(
  ctx: ToolContext,
  requested: readonly string[] | undefined,
): Promise<{ projects: string[]; issues: Issue[] }> {
  const allowed = await projectsOf(ctx);
  if (requested === undefined) {
    const [first] = allowed;
    if (first === DEFAULT_PROJECT || allowed.length === 1) return { projects: [first!], issues: [] };
    const issue = {
      path: "projects",
      code: "required",
      message: "is required, because you work in several projects",
      allowed,
    };
    return { projects: [], issues: [issue] };
  }
  const names = [...new Set(requested)];
  // The others are reported and not looked into: what they can use is not the caller's to know.
  const projects = names.filter((name) => allowed.includes(name));
  return { projects, issues: unknownNames("projects", "a project of yours", names, allowed) };
}

/** The scopes that a caller can give to a key of these projects. */
export const grantableScopes = (access: Access, projects: readonly string[]): ReadonlySet<Scope> =>
  new Set(projects.flatMap((project) => [...scopesIn(access, project)]));

const namesOf = (entries: readonly { name: string }[]): string[] => entries.map(({ name }) => name);

/** The issues of the limits of a new key. @param key its projects and scopes */
export async function limitIssues(
  ctx: ToolContext,
  limits: Limits,
  key: { projects: readonly string[]; scopes: readonly Scope[] },
): Promise<Issue[]> {
  const views = await Promise.all(key.projects.map((project) => ctx.engine.connectionsOf(project, null)));
  const databases = views.flatMap((view) => namesOf(view.databases.list()));
  const models = views.flatMap((view) => namesOf(view.models.list()));
  return [
    ...(await workflowIssues(ctx, limits.workflows ?? [], key.projects)),
    ...(await toolIssues(ctx, limits, key.scopes)),
    ...unknownNames("limits.databases", "a database", limits.databases ?? [], databases),
    ...unknownNames("limits.models", "a model", limits.models ?? [], models),
  ];
}

function unknownNames(
  path: string,
  what: string,
  names: readonly string[],
  known: readonly string[],
): Issue[] {
  return names.flatMap((name, index) => {
    if (known.includes(name)) return [];
    const near = nearMatch(name, known);
    return [
      {
        path: `${path}[${index}]`,
        code: "not_found",
        message: `is not the name of ${what}, got ${name}`,
        ...(near === undefined ? { allowed: [...known] } : { did_you_mean: near }),
      },
    ];
  });
}

async function workflowIssues(
  { read: { workflows } }: ToolContext,
  ids: readonly string[],
  projects: readonly string[],
): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const [index, id] of ids.entries()) {
    const found = await workflows.find(id);
    const path = `limits.workflows[${index}]`;
    if (found === undefined) {
      const near = nearMatch(id, await workflows.recentIds(MAX_CANDIDATES));
      issues.push({
        path,
        code: "not_found",
        message: `is not the id of a workflow, got ${id}`,
        ...(near !== undefined && { did_you_mean: near }),
      });
    } else if (!projects.includes(projectOf(found))) {
      const project = projectOf(found);
      issues.push({
        path,
        code: "not_allowed",
        message: `is ${id}, which belongs to the project ${project}, and the key does not`,
        fix: `Add ${project} to projects, or leave the workflow out.`,
      });
    }
  }
  return issues;
}

async function toolIssues(
  ctx: ToolContext,
  { tools = [], workflows }: Limits,
  scopes: readonly Scope[],
): Promise<Issue[]> {
  if (tools.length === 0) return [];
  const known = await toolScopes(ctx, workflows);
  const lacking = tools.flatMap((name, index): Issue[] => {
    const scope = known.get(name);
    if (scope === undefined || scope === "read" || scopes.includes(scope)) return [];
    return [
      {
        path: `limits.tools[${index}]`,
        code: "not_allowed",
        message: `is ${name}, which needs the scope ${scope}, and the key does not have it`,
        fix: `Add ${scope} to scopes, or leave ${name} out.`,
      },
    ];
  });
  return [...unknownNames("limits.tools", "an operation or tool", tools, [...known.keys()]), ...lacking];
}

/**
 * The scope that each tool needs which a key can use: operations, and workflows that are tools of their own.
 * @param workflows ids of the workflows that the key sees; undefined for all that the caller sees
 */
export async function toolScopes(
  { read }: Pick<ToolContext, "read">,
  workflows?: readonly string[],
): Promise<Map<string, Scope>> {
  // Loaded on demand, because the catalogue contains this operation.
  const { catalogue } = await import("../index.ts");
  const operations = catalogue.filter(({ requiresUser }) => requiresUser !== true);
  const reserved = await reservedToolNames();
  const exposed = (await read.workflows.consentedExposures()).filter(
    ({ id }) => workflows?.includes(id) !== false,
  );
  return new Map<string, Scope>([
    ...operations.map(({ name, scope }) => [name, scope] as const),
    [RUN_EVENTS.name, RUN_EVENTS.scope],
    ...exposed.map((request) => [exposedToolName(request, reserved), "run"] as const),
  ]);
}
