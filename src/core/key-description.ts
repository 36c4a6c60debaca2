/** What an API key can do, in sentences for people. REST, the command line and the web interface show the same. */
import { OPERATOR, type Scope } from "../../schemas/actor.ts";
import type { HttpPublic } from "../../schemas/project.ts";

/** What runs of a project, or of a key that is limited further, can reach. */
export interface Reach {
  databases: readonly { name: string; writable: boolean }[];
  models: readonly string[];
  /** `tools` is null for all tools of the server. */
  mcpServers: readonly { name: string; tools: readonly string[] | null }[];
  secrets: readonly { name: string; hosts: readonly string[] }[];
  publicHttp: HttpPublic;
  /** Patterns of public hosts, if `publicHttp` is `list`. */
  publicHosts: readonly string[];
  /** Patterns of private hosts. */
  privateHosts: readonly string[];
  /** The domains that mail goes to; empty if no mail can be sent. */
  mailDomains: readonly string[];
  /** The chats that approvals are posted to. */
  chats: readonly string[];
}

export interface KeyProject {
  name: string;
  /** What the key can do here now, as far as the role of its owner allows it. */
  scopes: ReadonlySet<Scope>;
  /** Whether another person has to approve what is published. */
  review: boolean;
  /** The workflows that the key is limited to; null for all of the project. */
  workflows: readonly { id: string; name: string }[] | null;
  reach: Reach;
}

export interface KeyFacts {
  owner: string;
  /** Why it is refused; null while it works. */
  refusedBecause: string | null;
  /** ISO 8601; null for never. */
  expiresAt: string | null;
  /** The scopes that it was created with, and that the role of its owner does not grant in any of its projects. */
  withheld: readonly Scope[];
  /** Its projects. If there is one project on the whole instance, sentences name none. */
  projects: readonly KeyProject[];
  isSingleProject: boolean;
  /** The operations and tools that it is limited to, with the scope that each needs; null for all. */
  tools: readonly { name: string; scope: Scope }[] | null;
}

export interface DescriptionSection {
  title: string;
  sentences: string[];
}

/** Describes a key on one page. */
export function describeKey(facts: KeyFacts): DescriptionSection[] {
  const about = { title: "The key", sentences: aboutKey(facts) };
  if (facts.refusedBecause !== null) return [about];
  const can = facts.projects.flatMap((project) => abilities(facts, project));
  return [
    about,
    { title: "What it can do", sentences: can.length > 0 ? [...can, ...toolSentence(facts)] : ["Nothing."] },
    { title: "What it cannot do", sentences: inabilities(facts) },
    { title: "What it can reach", sentences: reachSentences(facts) },
  ];
}

function aboutKey({ owner, expiresAt, refusedBecause, withheld }: KeyFacts): string[] {
  return [
    owner === OPERATOR
      ? "It belongs to the operator of this installation."
      : `It acts for ${owner}, and can do no more than their role allows.`,
    ...(refusedBecause === null ? [] : [`Every request with it is refused, because ${refusedBecause}.`]),
    ...(withheld.length === 0
      ? []
      : [
          `Its scope${plural(withheld)} ${list(withheld)} ${withheld.length === 1 ? "has" : "have"} no effect: ${
            owner === OPERATOR
              ? "its projects were deleted"
              : `its owner has no role that allows ${withheld.length === 1 ? "it" : "them"}`
          }.`,
        ]),
    expiresAt === null
      ? "It never expires."
      : `It expires on ${expiresAt.slice(0, 16).replace("T", " at ")} UTC.`,
  ];
}

/**
 * Whether a key can use a scope in a project: it has it, and one of the operations that it is limited to needs it. To pass
 * approvals on is not to decide them.
 */
const canUse = ({ tools }: Pick<KeyFacts, "tools">, { scopes }: KeyProject, scope: Scope): boolean =>
  scopes.has(scope) &&
  (tools === null ||
    tools.some((tool) => tool.scope === scope && (scope !== "approve" || tool.name === "decide_approval")));

/** The operations that need the scope run, and start no workflow by its id. */
const RUN_CHANGES = new Map([
  ["cancel_run", "cancel"],
  ["retry_run", "retry"],
]);

function abilities(facts: KeyFacts, project: KeyProject): string[] {
  const can = (scope: Scope): boolean => canUse(facts, project, scope);
  const { workflows, review } = project;
  const place = facts.isSingleProject ? "" : ` of the project ${project.name}`;
  const named = workflows && `${count(workflows.length, "workflow")}${place}: ${list(workflows.map(title))}`;
  if (workflows?.length === 0) return [];
  const every = `every workflow${place}`;
  const own = workflows?.length === 1 ? "its" : "their";
  const runs = workflows === null ? `runs${place}` : `${own} runs`;
  const mayUse = (name: string): boolean => facts.tools?.some((tool) => tool.name === name) !== false;
  // Tools of workflows run them too, and have other names.
  const starts = facts.tools?.every(({ scope, name }) => scope !== "run" || RUN_CHANGES.has(name)) !== true;
  const changes = [...RUN_CHANGES].filter(([name]) => mayUse(name)).map(([, verb]) => verb);
  return [
    can("read") &&
      `It can see ${named ?? every}, and ${workflows === null ? "the runs and approvals of all of them" : `${own} runs and approvals`}.`,
    can("write") && `It can create and change workflows${place}, as drafts.`,
    can("publish") &&
      (review
        ? `It can ask for the publication of workflows${place}: another person has to approve each of them before it goes live.`
        : `It can publish workflows${place}, which go live at once, and change or archive what is live.`),
    can("run") && starts && `It can run ${named ?? `${every}, drafts and old versions too`}.`,
    can("run") && changes.length > 0 && `It can ${list(changes)} ${runs}.`,
    can("approve") && `It can decide approvals${workflows === null ? place : " of these workflows"}.`,
    can("admin") && `It can read the audit log${place}, and allow agents to use workflows${place} as tools.`,
  ].filter((sentence) => sentence !== false);
}

const toolSentence = ({ tools }: KeyFacts): string[] =>
  tools === null
    ? []
    : [
        `All of this only with ${list(tools.map(({ name }) => name))}: every other operation is refused, except to describe itself.`,
      ];

const LACKS: readonly (readonly [Scope, string])[] = [
  ["read", "see workflows and runs by itself"],
  ["write", "create or change workflows"],
  ["publish", "publish anything"],
  ["run", "start, cancel or retry runs"],
  ["approve", "decide approvals"],
  ["admin", "read the audit log"],
];

function inabilities(facts: KeyFacts): string[] {
  const lacked = LACKS.filter(([scope]) => !facts.projects.some((project) => canUse(facts, project, scope)));
  const lacks = (scope: Scope): boolean => lacked.some(([other]) => other === scope);
  const isReadOnly = lacks("write") && lacks("publish");
  const what = lacked.flatMap(([scope, ability]) => {
    if (!isReadOnly || (scope !== "write" && scope !== "publish")) return [ability];
    return scope === "write" ? ["change or publish anything"] : [];
  });
  return [
    ...what.map((ability) => `It cannot ${ability}.`),
    ...(lacks("publish") && !lacks("write")
      ? ["What it saves is a draft, until a person publishes it."]
      : []),
    "It cannot create or revoke keys, invite people or end sessions.",
  ];
}

function reachSentences(facts: KeyFacts): string[] {
  const using = facts.projects.filter(
    (project) =>
      project.workflows?.length !== 0 && (canUse(facts, project, "run") || canUse(facts, project, "write")),
  );
  if (using.length === 0) return ["It starts nothing, so it reaches no database, model, host or mailbox."];
  return using.flatMap((project) => {
    const { reach, name, workflows } = project;
    const through = workflows === null ? "Its runs" : "Runs of its workflows";
    const subject = facts.isSingleProject ? through : `${through} in the project ${name}`;
    const can = reachable(reach);
    const cannot = unreachable(reach);
    const sentences = can.map((what) => `${subject} can ${what}.`);
    return cannot.length === 0 ? sentences : sentences.concat(`${subject} cannot ${list(cannot, "or")}.`);
  });
}

function reachable(reach: Reach): string[] {
  const readOnly = reach.databases.filter(({ writable }) => !writable).map(({ name }) => name);
  const writable = reach.databases.filter((database) => database.writable).map(({ name }) => name);
  const servers = reach.mcpServers.map(
    ({ name, tools }) => `${name} (${tools === null ? "all tools" : list(tools)})`,
  );
  const secrets = reach.secrets.map(({ name, hosts }) => `${name} (only to ${list(hosts)})`);
  // The grants of a project can be in both lists.
  const hosts = [
    ...new Set([
      ...(reach.publicHttp === "any" ? ["any public host"] : []),
      ...(reach.publicHttp === "list" ? reach.publicHosts : []),
      ...reach.privateHosts,
    ]),
  ];
  return [
    readOnly.length > 0 && `read the database${plural(readOnly)} ${list(readOnly)}`,
    writable.length > 0 && `read and change the database${plural(writable)} ${list(writable)}`,
    reach.models.length > 0 && `use the model${plural(reach.models)} ${list(reach.models)}`,
    servers.length > 0 && `call tools of the MCP server${plural(servers)} ${list(servers)}`,
    hosts.length > 0 && `send requests to ${list(hosts)}`,
    secrets.length > 0 &&
      `send the secret${plural(secrets)} ${list(secrets)}, but not read ${secrets.length === 1 ? "it" : "them"}`,
    reach.mailDomains.length > 0 && `mail people at ${list(reach.mailDomains)}`,
    reach.chats.length > 0 && `post approvals to the chat${plural(reach.chats)} ${list(reach.chats)}`,
  ].filter((what) => what !== false);
}

function unreachable({
  databases,
  models,
  publicHttp,
  publicHosts,
  privateHosts,
  mailDomains,
}: Reach): string[] {
  const noHost =
    publicHttp !== "any" && (publicHttp === "none" || publicHosts.length === 0) && privateHosts.length === 0;
  return [
    databases.length === 0 && "use a database",
    models.length === 0 && "use a model",
    noHost && "send a request to any host",
    mailDomains.length === 0 && "send mail",
  ].filter((what) => what !== false);
}

const title = ({ id, name }: { id: string; name: string }): string => (name === id ? id : `${name} (${id})`);
const plural = (items: readonly unknown[]): string => (items.length === 1 ? "" : "s");

/** `a, b and c`. */
function list(items: readonly string[], last = "and"): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const count = (number: number, noun: string): string =>
  `${NUMBERS[number] ?? number} ${noun}${number === 1 ? "" : "s"}`;
