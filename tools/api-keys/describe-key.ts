import { z } from "zod";
import { Scope } from "../../schemas/actor.ts";
import { DescribedApiKey } from "../../schemas/api-key.ts";
import { text } from "../../schemas/text.ts";
import {
  type Access,
  accessOfKey,
  isInstanceAdmin,
  type Roles,
  scopesIn,
  scopesOf,
} from "../../src/core/access.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { apiKeyState, type KeyState, withLastingEnd } from "../../src/core/api-key-lifecycle.ts";
import { describeKey as toSections, type KeyFacts, type KeyProject } from "../../src/core/key-description.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { findApiKey } from "./find-api-key.ts";
import { toolScopes } from "./key-area.ts";
import { reachOf } from "./reach.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

/** Stands for the key of the request. */
const SELF = "self";

export const describeKey = defineTool({
  name: "describe_key",
  title: "Describe an API key",
  description: "Says in words what an API key can do and reach now. A key can describe itself only.",
  route: "GET /api-keys/:key_id",
  scope: "read",
  effect: "read",
  errors: ["api_key_not_found"],
  input: z.strictObject({
    key_id: text(100, 1).meta({ description: "`self` for the key of this request.", example: SELF }),
  }),
  output: DescribedApiKey,
  async run({ key_id: requested }, ctx) {
    const { kind, keyId, owner, access } = ctx.actor.principal;
    const id = requested === SELF ? keyId : requested;
    const isVisible = (key: ApiKeyWithOwner): boolean =>
      kind === "key" ? key.id === keyId : key.owner === owner || isInstanceAdmin(access);
    const key = await findApiKey(ctx.read.apiKeys, id, isVisible);
    return { ...serializeApiKey(key, ctx.now()), description: toSections(await factsOf(ctx, key)) };
  },
});

const REFUSALS: Readonly<Record<Exclude<KeyState, "active">, string>> = {
  revoked: "it is revoked",
  expired: "it has expired",
  owner_inactive: "its owner is not active",
  owner_unknown: "its owner does not exist",
};

async function factsOf(ctx: ToolContext, stored: ApiKeyWithOwner): Promise<KeyFacts> {
  const key = withLastingEnd(stored);
  // The names of its projects are known to everyone who can see the key.
  const { projects } = unscoped(ctx.read);
  const isSingleProject = await projects.isSingle();
  const roles: Roles | null = key.user && {
    role: key.user.role,
    memberships: await projects.membershipsOf(key.owner),
    isSingleProject,
  };
  const access = accessOfKey(key, roles, isSingleProject);
  const held = scopesOf(access);
  const state = apiKeyState(key, ctx.now());
  const known = key.limits?.tools === undefined ? null : await toolScopes(ctx);
  const described: KeyProject[] = [];
  for (const id of key.projects) {
    const project = await projects.find(id);
    if (project === undefined || scopesIn(access, id).size === 0) continue;
    described.push({
      name: project.name,
      review: project.review,
      scopes: scopesIn(access, id),
      workflows: await workflowsOf(ctx, id, access),
      reach: await reachOf(ctx, id, key.limits),
    });
  }
  return {
    owner: key.owner,
    refusedBecause: state === "active" ? null : REFUSALS[state],
    expiresAt: key.expiresAt,
    withheld: Scope.options.filter((scope) => key.scopes.includes(scope) && !held.has(scope)),
    projects: described,
    isSingleProject,
    tools:
      known &&
      key.limits!.tools!.flatMap((name) => {
        const scope = known.get(name);
        return scope === undefined ? [] : [{ name, scope }];
      }),
  };
}

/** The workflows of a project that a key is limited to; null for all. */
async function workflowsOf(
  { read }: ToolContext,
  project: string,
  { keyLimits }: Access,
): Promise<KeyProject["workflows"]> {
  if (keyLimits?.workflows === undefined) return null;
  const found: { id: string; name: string }[] = [];
  for (const id of keyLimits.workflows) {
    if ((await read.workflows.projectOf(id)) !== project) continue;
    const workflow = await read.workflows.find(id);
    if (workflow !== undefined) found.push({ id, name: workflow.name });
  }
  return found;
}
