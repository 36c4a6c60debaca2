/** People, their sessions, keys and absences. */
import type { Company } from "./company.ts";
import type { Actor } from "./made.ts";
import { answerTo } from "./conditions.ts";
import type { Maker, Makers, Pick } from "./request.ts";
import type { Role } from "./state.ts";
import { itemsOf } from "./things.ts";

const sessionsOf = ({ actors }: Company): Actor[] =>
  actors.filter(({ kind, isValid }) => kind === "session" && isValid);

const endSessionsOf = (company: Company, email: string): Promise<void> =>
  company.endSessions(sessionsOf(company).filter(({ owner }) => owner === email));

/** Everybody but the one admin of the instance, without whom nobody could be changed any more. */
const anybody = ({ people }: Company, pick: Pick) => pick.one([...people.values()].slice(1))!;

export const ACCOUNT_OPERATIONS: Makers = [
  [
    1,
    "update_user",
    (company, pick) => {
      const person = anybody(company, pick);
      const role = pick.one(["member", "member", "viewer", "editor"] as const)!;
      return {
        operation: "update_user",
        input: { user_id: company.users.get(person.email)!.id, role },
        expected: (actor) => answerTo(company, actor, "update_user"),
        async after() {
          const isChanged = person.role !== role;
          person.role = role satisfies Role;
          // Each change of an inactive account ends its sessions; here its person has signed in again nevertheless.
          if (isChanged && !person.isActive) await endSessionsOf(company, person.email);
        },
      };
    },
  ],
  [
    2,
    "update_user",
    (company, pick) => {
      const inactive = [...company.people.values()].find(({ isActive }) => !isActive);
      const person = inactive ?? anybody(company, pick);
      return {
        operation: "update_user",
        input: {
          user_id: company.users.get(person.email)!.id,
          status: person.isActive ? "deactivated" : "active",
        },
        expected: (actor) => answerTo(company, actor, "update_user"),
        async after() {
          person.isActive = !person.isActive;
          if (!person.isActive) await endSessionsOf(company, person.email);
        },
      };
    },
  ],
  [1, "list_users", plain("list_users")],
  [
    1,
    "invite_user",
    (company) => {
      const email = `new${company.number}-${company.invited.length}@example.com`;
      return {
        operation: "invite_user",
        input: { email, role: "viewer" },
        expected: (actor) => answerTo(company, actor, "invite_user"),
        after: (_, { user }) => void company.invited.push(user.id),
      };
    },
  ],
  [
    1,
    "renew_invitation",
    (company, pick) => {
      const id = pick.one(company.invited);
      return id === undefined ? undefined : ofUser(company, "renew_invitation", id);
    },
  ],
  [
    1,
    "reset_user_password",
    (company, pick) => {
      const active = [...company.people.values()].filter(({ isActive }) => isActive);
      return ofUser(company, "reset_user_password", company.users.get(pick.one(active)!.email)!.id);
    },
  ],
  [1, "list_sessions", plain("list_sessions")],
  [
    2,
    "end_session",
    (company, pick) => {
      const session = pick.one(sessionsOf(company))!;
      return {
        operation: "end_session",
        input: { session_id: session.id },
        expected: (actor) => answerTo(company, actor, "end_session", { key: session }),
        after: () => company.endSessions([session]),
      };
    },
  ],
  [
    1,
    "end_other_sessions",
    (company) => ({
      operation: "end_other_sessions",
      input: {},
      expected: (actor) => answerTo(company, actor, "end_other_sessions"),
      after: (actor) =>
        company.endSessions(
          sessionsOf(company).filter((session) => session !== actor && session.owner === actor.owner),
        ),
    }),
  ],
  [
    2,
    "list_api_keys",
    (company, pick) => {
      const everyone = pick.chance(0.5);
      return {
        operation: "list_api_keys",
        input: { everyone, limit: 100 },
        expected: (actor) => answerTo(company, actor, "list_api_keys", { everyone }),
        check({ owner }, output) {
          const shown = new Set(itemsOf(output).map(({ id }) => id));
          const foreign = company.actors.find((key) => shown.has(key.id) && key.owner !== owner);
          return everyone || foreign === undefined ? undefined : `${foreign.label} is shown`;
        },
      };
    },
  ],
  [1, "get_key_changes", ofKey("get_key_changes", {})],
  // What it would do: reverts have a random test of their own (revert-key-property.test.ts).
  [1, "revert_key_changes", ofKey("revert_key_changes", { dry_run: true })],
  [1, "get_absence", plain("get_absence")],
  [
    4,
    "set_absence",
    (company, pick) => {
      const { person, about } = chooseAbsent(company, pick);
      const to = pick.one(pick.chance(0.6) ? company.assignees : [...company.people.keys()])!;
      const until = new Date(company.instance.clock.now() + 86_400_000).toISOString();
      return {
        operation: "set_absence",
        input: { until, substitute: to, ...about },
        expected: (actor) => answerTo(company, actor, "set_absence", { ...about, to }),
        aspect: ({ owner }) => `${(person ?? owner) === owner}`,
        after: ({ owner }) => void company.absences.set(person ?? owner, to),
      };
    },
  ],
  [
    1,
    "end_absence",
    (company, pick) => {
      const { person, about } = chooseAbsent(company, pick);
      return {
        operation: "end_absence",
        input: about,
        expected: (actor) => answerTo(company, actor, "end_absence", about),
        after: ({ owner }) => void company.absences.delete(person ?? owner),
      };
    },
  ],
];

/** Whose absence it is: the caller's, or that of an assignee. */
function chooseAbsent({ assignees }: Company, pick: Pick) {
  const person = pick.chance(0.5) ? pick.one(assignees) : undefined;
  return { person, about: person === undefined ? {} : { person } };
}

function plain(operation: string): Maker {
  return (company) => ({ operation, input: {}, expected: (actor) => answerTo(company, actor, operation) });
}

const ofUser = (company: Company, operation: string, id: string) => ({
  operation,
  input: { user_id: id },
  expected: (actor: Actor) => answerTo(company, actor, operation),
});

function ofKey(operation: string, input: object): Maker {
  return (company, pick) => {
    const key = pick.one(company.actors.filter(({ kind }) => kind === "key"))!;
    return {
      operation,
      input: { key_id: key.id, since: "2026-01-01T00:00:00Z", ...input },
      expected: (actor) => answerTo(company, actor, operation, { key }),
    };
  };
}
