/** API keys: created, described, rotated and revoked. */
import type { Company } from "./company.ts";
import { OTHER_DATABASE } from "./definitions.ts";
import { answerTo } from "./conditions.ts";
import type { Maker, Makers, Pick, Request } from "./request.ts";
import type { Scope } from "./state.ts";
import { live } from "./things.ts";

const SCOPES: readonly Scope[] = ["read", "write", "publish", "run", "approve", "admin"];

const TOOLS: readonly string[] = ["get_run", "run_workflow", "list_approvals", "decide_approval"];

export const KEY_OPERATIONS: Makers = [
  [3, "create_api_key", createKey],
  [1, "revoke_api_key", endKey("revoke_api_key")],
  [1, "rotate_api_key", endKey("rotate_api_key")],
  [
    2,
    "describe_key",
    (company) => ({
      operation: "describe_key",
      input: { key_id: "self" },
      actors: company.actors.filter(({ kind }) => kind === "key"),
      expected: (actor) => answerTo(company, actor, "describe_key"),
    }),
  ],
];

function createKey(company: Company, pick: Pick): Request {
  const scopes: Scope[] = ["read", ...pick.some(SCOPES.slice(1))];
  const projects = [pick.one(company.projects)!, ...(pick.chance(0.4) ? company.ownProjects : [])];
  const workflow = pick.one(live(company));
  const limits = pick.one([
    {},
    {},
    { databases: [OTHER_DATABASE] },
    { tools: pick.some(TOOLS).concat("list_workflows") },
    workflow === undefined ? {} : { workflows: [workflow.id] },
  ])!;
  const wanted = { scopes, projects: [...new Set(projects)], limits };
  const workflows = new Map(company.workflows.map((one) => [one.id, one]));
  return {
    operation: "create_api_key",
    input: { name: "made", ...wanted },
    expected: (actor) => answerTo(company, actor, "create_api_key", { wanted, workflows }),
    after({ owner, label }, { id, value }) {
      const record = { id, lineage: id, owner, ...wanted };
      company.addKey(value, record, `made by ${label}`);
    },
  };
}

function endKey(operation: "revoke_api_key" | "rotate_api_key"): Maker {
  return (company, pick) => {
    const key = pick.one(
      company.actors.filter(
        ({ kind, isValid, label, surface }) =>
          kind === "key" &&
          isValid &&
          (surface === undefined
            ? label.startsWith("made") || label.startsWith("ben")
            : operation === "revoke_api_key"),
      ),
    );
    if (key === undefined) return undefined;
    return {
      operation,
      input: { key_id: key.id, ...(operation === "rotate_api_key" && { overlap: "0s" }) },
      expected: (actor) => answerTo(company, actor, operation, { key }),
      after(_, { id, value }) {
        company.endKey(key.id);
        if (operation === "rotate_api_key")
          company.addKey(value, { ...key, id, lineage: key.subject }, "made by rotation");
      },
    };
  };
}
