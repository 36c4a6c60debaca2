/** Subscriptions, keys, members, users and the audit log. */
import type { Company } from "./company.ts";
import { OTHER_DATABASE } from "./definitions.ts";
import { has, may, ofProject, rules } from "./model.ts";
import type { Operation, Role, Scope } from "./needs.ts";
import type { Maker, Makers, Pick, Request } from "./request.ts";
import { DEFAULT } from "./state.ts";
import { itemsOf, live } from "./things.ts";

const SCOPES: readonly Scope[] = ["read", "write", "publish", "run", "approve", "admin"];

const TOOLS: readonly Operation[] = ["get_run", "run_workflow", "list_approvals", "decide_approval"];

export const ADMIN_OPERATIONS: Makers = [
  [
    2,
    (company, pick) => {
      // The default project is shared by all sequences, and has a maximum of subscriptions.
      const project = pick.one(company.ownProjects)!;
      const input = { name: "s", url: "https://example.com/hook", events: ["workflow.overdue"] };
      return {
        operation: "create_subscription",
        input: { ...input, project },
        expected: (actor) => may(company, actor, "create_subscription", ofProject(project)),
        after: (_, { id }) => void company.subscriptions.push({ id, project }),
      };
    },
  ],
  [1, ofSubscription("get_subscription")],
  [1, ofSubscription("update_subscription")],
  [1, ofSubscription("delete_subscription")],
  [3, createKey],
  [1, endKey("revoke_api_key")],
  [1, endKey("rotate_api_key")],
  [
    2,
    (company) => ({
      operation: "describe_key",
      input: { key_id: "self" },
      actors: company.actors.filter(({ kind }) => kind === "key"),
      expected: (actor) => may(company, actor, "describe_key"),
    }),
  ],
  [
    2,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const person = pick.one([...company.people.values()].slice(1))!;
      const role = pick.one(["viewer", "editor", "editor", "admin"] as const)!;
      return {
        operation: "set_project_member",
        input: { project, email: person.email, role },
        expected: (actor) => may(company, actor, "set_project_member", ofProject(project)),
        after: () => void person.roles.set(project, role),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const person = pick.one([...company.people.values()].filter(({ roles }) => roles.has(project)));
      if (person === undefined) return undefined;
      return {
        operation: "remove_project_member",
        input: { project, email: person.email },
        expected: (actor) => may(company, actor, "remove_project_member", ofProject(project)),
        after: () => void person.roles.delete(project),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      return {
        operation: "list_project_members",
        input: { project },
        expected: (actor) => may(company, actor, "list_project_members", ofProject(project)),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      return {
        operation: "update_project",
        input: { project, description: `Text ${pick.number(1_000)}` },
        expected: (actor) => may(company, actor, "update_project", ofProject(project)),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const person = pick.one([...company.people.values()].slice(1))!;
      const role = pick.one(["member", "member", "viewer", "editor"] as const)!;
      return {
        operation: "update_user",
        input: { user_id: company.userIds.get(person.email), role },
        expected: (actor) => may(company, actor, "update_user"),
        after: () => void (person.role = role satisfies Role),
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const project = pick.chance(0.5) ? pick.one(company.ownProjects)! : undefined;
      return {
        operation: "list_audit_log",
        input: { ...(project !== undefined && { project }), limit: 20 },
        expected: (actor) =>
          may(company, actor, "list_audit_log", project === undefined ? undefined : ofProject(project)),
        check: (actor, output) =>
          itemsOf(output)
            .map((entry) => entry.project ?? DEFAULT)
            .filter((id) => company.projects.includes(id) && !has(company, actor, id, "admin"))
            .map((id) => `shows entries of ${id}`)[0],
      };
    },
  ],
];

function ofSubscription(
  operation: "get_subscription" | "update_subscription" | "delete_subscription",
): Maker {
  return (company, pick) => {
    const subscription = pick.one(company.subscriptions);
    if (subscription === undefined) return undefined;
    const { id, project } = subscription;
    return {
      operation,
      input: { subscription_id: id, ...(operation === "update_subscription" && { name: "t" }) },
      expected: (actor) =>
        may(company, actor, operation, { project, workflow: null, missing: "subscription_not_found" }),
      after() {
        if (operation === "delete_subscription")
          company.subscriptions.splice(company.subscriptions.indexOf(subscription), 1);
      },
    };
  };
}

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
  const byId = new Map(company.workflows.map((one) => [one.id, one]));
  return {
    operation: "create_api_key",
    input: { name: "made", ...wanted },
    expected: (actor) => rules.createKey(company, actor, wanted, byId),
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
        ({ kind, isValid, label }) =>
          kind === "key" && isValid && (label.startsWith("made") || label.startsWith("ben")),
      ),
    );
    if (key === undefined) return undefined;
    return {
      operation,
      input: { key_id: key.id, ...(operation === "rotate_api_key" && { overlap: "0s" }) },
      expected: (actor) => rules.endKey(company, actor, key, operation),
      after(_, { id, value }) {
        key.isValid = false;
        if (operation === "rotate_api_key")
          company.addKey(value, { ...key, id, lineage: key.subject }, "made by rotation");
      },
    };
  };
}
