/** Projects: what they contain, what they may use, who works in them, and what is delivered from them. */
import type { Company } from "./company.ts";
import { DATABASE } from "./definitions.ts";
import { answerTo } from "./conditions.ts";
import { has, needsReview } from "./model.ts";
import type { Maker, Makers } from "./request.ts";
import { DEFAULT } from "./state.ts";
import { callersOf, itemsOf, live } from "./things.ts";

export const PROJECT_OPERATIONS: Makers = [
  [
    4,
    "move_workflow",
    (company, pick) => {
      const own = live(company).filter(
        (one) => one.calls === null && one.offeredTo.length === 0 && callersOf(company, one).length === 0,
      );
      const workflow = pick.one(own);
      if (workflow === undefined) return undefined;
      const to = pick.one(company.ownProjects.filter((project) => project !== workflow.project))!;
      return {
        operation: "move_workflow",
        input: { workflow_id: workflow.id, project: to, force: true },
        expected: (actor) => answerTo(company, actor, "move_workflow", { workflow, to }),
        after(actor) {
          workflow.project = to;
          const { published } = workflow;
          // What nobody else has reviewed arrives as a draft.
          const again = { ...workflow, published: null };
          if (published !== null && needsReview(company, actor, again, published)) workflow.published = null;
        },
      };
    },
  ],
  [
    1,
    "create_project",
    (company) => {
      const id = `x${company.number}-${company.madeProjects.length}`;
      return {
        operation: "create_project",
        input: { name: id, id },
        expected: (actor) => answerTo(company, actor, "create_project"),
        after: () => void company.madeProjects.push(id),
      };
    },
  ],
  [
    1,
    "delete_project",
    (company, pick) => {
      const project = pick.one([...company.madeProjects, ...company.ownProjects])!;
      const isMade = company.madeProjects.includes(project);
      return {
        operation: "delete_project",
        input: { project },
        // The others have something in them, sooner or later.
        actors: isMade ? company.actors : company.actors.filter(({ owner }) => owner !== root(company)),
        expected: (actor) => answerTo(company, actor, "delete_project", { project }),
        after: () => void company.madeProjects.splice(company.madeProjects.indexOf(project), 1),
      };
    },
  ],
  [2, "add_grant", ofGrant("add_grant")],
  [1, "remove_grant", ofGrant("remove_grant")],
  [
    2,
    "set_project_member",
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const person = pick.one([...company.people.values()].slice(1))!;
      const role = pick.one(["viewer", "editor", "editor", "admin"] as const)!;
      return {
        operation: "set_project_member",
        input: { project, email: person.email, role },
        expected: (actor) => answerTo(company, actor, "set_project_member", { project }),
        after: () => void person.roles.set(project, role),
      };
    },
  ],
  [
    1,
    "remove_project_member",
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const person = pick.one([...company.people.values()].filter(({ roles }) => roles.has(project)));
      if (person === undefined) return undefined;
      return {
        operation: "remove_project_member",
        input: { project, email: person.email },
        expected: (actor) => answerTo(company, actor, "remove_project_member", { project }),
        after: () => void person.roles.delete(project),
      };
    },
  ],
  [
    1,
    "list_project_members",
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      return {
        operation: "list_project_members",
        input: { project },
        expected: (actor) => answerTo(company, actor, "list_project_members", { project }),
      };
    },
  ],
  [
    1,
    "update_project",
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      return {
        operation: "update_project",
        input: { project, description: `Text ${pick.number(1_000)}` },
        expected: (actor) => answerTo(company, actor, "update_project", { project }),
      };
    },
  ],
  [2, "list_audit_log", ofAuditLog("list_audit_log")],
  [1, "export_audit_log", ofAuditLog("export_audit_log")],
  [
    2,
    "create_subscription",
    (company, pick) => {
      // The default project is shared by all sequences, and has a maximum of subscriptions.
      const project = pick.one(company.ownProjects)!;
      const input = { name: "s", url: "https://example.com/hook", events: ["workflow.overdue"] };
      return {
        operation: "create_subscription",
        input: { ...input, project },
        expected: (actor) => answerTo(company, actor, "create_subscription", { project }),
        after: (_, { id }) => void company.subscriptions.push({ id, project }),
      };
    },
  ],
  [1, "get_subscription", ofSubscription("get_subscription")],
  [1, "update_subscription", ofSubscription("update_subscription", { name: "t" })],
  [1, "rotate_subscription_secret", ofSubscription("rotate_subscription_secret")],
  [2, "test_subscription", ofSubscription("test_subscription")],
  [1, "delete_subscription", ofSubscription("delete_subscription")],
  [1, "list_subscriptions", ofDeliveries("list_subscriptions", "subscriptions")],
  [1, "list_deliveries", ofDeliveries("list_deliveries", "sent")],
  [1, "get_delivery", ofDelivery("get_delivery")],
  [1, "redeliver", ofDelivery("redeliver")],
];

/** The admin of the instance. */
const root = ({ people }: Company): string => [...people.keys()][0]!;

function ofGrant(operation: "add_grant" | "remove_grant"): Maker {
  return (company, pick) => {
    const project = pick.one(company.ownProjects)!;
    return {
      operation,
      input: { project, kind: "database", name: DATABASE },
      expected(actor) {
        const answer = answerTo(company, actor, operation, { project });
        return operation === "remove_grant" && answer === "ok" ? "ok|grant_not_found" : answer;
      },
    };
  };
}

function ofAuditLog(operation: "list_audit_log" | "export_audit_log"): Maker {
  return (company, pick) => {
    const project = pick.chance(0.5) ? pick.one(company.ownProjects)! : undefined;
    return {
      operation,
      input: { ...(project !== undefined && { project }), limit: 20 },
      expected: (actor) => answerTo(company, actor, operation, { project }),
      check: (actor, output) =>
        itemsOf(output)
          .map((entry) => entry.project ?? DEFAULT)
          .filter((id) => company.projects.includes(id) && !has(company, actor, id, "admin"))
          .map((id) => `shows entries of ${id}`)[0],
    };
  };
}

function ofSubscription(operation: string, change: object = {}): Maker {
  return (company, pick) => {
    const subscription = pick.one(company.subscriptions);
    if (subscription === undefined) return undefined;
    const { id, project } = subscription;
    return {
      operation,
      input: { subscription_id: id, ...change },
      expected: (actor) => answerTo(company, actor, operation, { project }),
      after(_, output) {
        if (operation === "test_subscription") company.sent.push({ id: output.id, project });
        if (operation !== "delete_subscription") return;
        company.subscriptions.splice(company.subscriptions.indexOf(subscription), 1);
        // Its deliveries are gone with it.
        company.sent.splice(0);
      },
    };
  };
}

function ofDelivery(operation: "get_delivery" | "redeliver"): Maker {
  return (company, pick) => {
    const delivery = pick.one(company.sent);
    if (delivery === undefined) return undefined;
    const { id, project } = delivery;
    return {
      operation,
      input: { delivery_id: id },
      expected(actor) {
        const answer = answerTo(company, actor, operation, { project });
        return operation === "redeliver" && answer === "ok" ? "ok|delivery_pending" : answer;
      },
    };
  };
}

function ofDeliveries(operation: string, list: "subscriptions" | "sent"): Maker {
  return (company, pick) => {
    const project = pick.one(company.ownProjects)!;
    return {
      operation,
      input: { project, limit: 100 },
      expected: (actor) => answerTo(company, actor, operation, { project }),
      check(actor, output) {
        const shown = new Set(itemsOf(output).map(({ id }) => id));
        const wanted = (one: { project: string }) =>
          one.project === project && has(company, actor, project, "admin");
        const wrong = company[list].find((one) => shown.has(one.id) !== wanted(one) && shown.size < 100);
        return wrong && `${wrong.id} shown: ${shown.has(wrong.id)}, expected: ${wanted(wrong)}`;
      },
    };
  };
}
