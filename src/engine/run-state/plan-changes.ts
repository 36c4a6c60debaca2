/** Says what has changed since a question: which connection, host or workflow, and the steps that use it. */
import type { ApprovalPlan } from "../../../schemas/approval.ts";
import type { ConfigurationUse, Connections } from "../../core/connections.ts";
import { compareLevels, type LevelChanges, readLevel } from "../../core/plan-level.ts";
import { inOneLine } from "../../steps/as-written.ts";
import { settingsOf, type Uses, type UsingStep } from "./configuration-uses.ts";

type PlanChange = NonNullable<ApprovalPlan["changes"]>[number];

/** What can run in one run now. */
export interface ChangedLevel {
  /** What holds now, as `formatLevel` writes it. */
  level: string;
  uses: Uses;
  connections: Pick<Connections, "configurationOf">;
}

/** What those who decide may see. Null stands for the run of a single step. */
interface Viewer {
  /** Whether they may see what a workflow does. */
  isShown: (workflowId: string | null) => boolean;
  /** Whether they may know that a workflow takes part. */
  isNamed: (workflowId: string) => boolean;
  /** The workflow of the run that asks, whose name its steps don't need. */
  home: string | null;
}

/** Maximum number of steps that a change names. */
const MAX_STEPS = 5;

const HIDDEN: PlanChange = {
  text: "Something that a workflow of another project uses or calls has changed.",
  steps: [],
};
const UNKNOWN: PlanChange = {
  text: "An older release asked this, and did not record in detail what can run. It differs now.",
  steps: [],
};

/**
 * Compares what an approval is bound to with what holds now.
 * @param bound as it is stored; null for an approval that is bound to nothing
 */
export function planChanges(
  bound: readonly string[] | null,
  levels: readonly ChangedLevel[],
  { isShown, isNamed, home }: Viewer,
): PlanChange[] {
  const changes = levels.flatMap(({ level, uses, connections }, index): PlanChange[] => {
    const before = bound?.[index];
    if (before === undefined || before === level) return [];
    const [old, now] = [readLevel(before), readLevel(level)];
    if (old === undefined || now === undefined) return [UNKNOWN];
    const { calls, uses: changedUses } = compareLevels(old, now);
    const settings = settingsOf(uses, connections);
    const found = [
      ...calls.map((call) => (isNamed(call.id) ? callChange(call) : HIDDEN)),
      ...changedUses.map((change): PlanChange => {
        const { use, steps } = uses.get(change.use) ?? {
          use: JSON.parse(change.use) as ConfigurationUse,
          steps: [],
        };
        const shown = steps.filter(({ workflowId }) => isShown(workflowId));
        if (shown.length === 0) return HIDDEN;
        const who = { names: namesOf(shown, home), verb: shown.length > 1 ? "" : "s" };
        return {
          text: useText(use, who, change, settings[change.use] ?? null),
          steps: shown.map(({ stepId }) => stepId),
        };
      }),
    ];
    return found.length === 0 ? [UNKNOWN] : found;
  });
  return changes.filter(({ text }, index) => changes.findIndex((other) => other.text === text) === index);
}

const callChange = ({ id, before, now }: LevelChanges["calls"][number]): PlanChange => ({
  text:
    now === null
      ? `The workflow ${id} does not exist any more.`
      : before === null
        ? `The workflow ${id} runs version ${now} now.`
        : `The workflow ${id} runs version ${now} now instead of version ${before}.`,
  steps: [],
});

function namesOf(steps: readonly UsingStep[], home: string | null): string {
  const names = steps.map(({ workflowId, stepId }) =>
    workflowId === home || workflowId === null ? `"${stepId}"` : `"${stepId}" of ${workflowId}`,
  );
  const rest = names.length - MAX_STEPS;
  return rest > 0 ? `${names.slice(0, MAX_STEPS).join(", ")} and ${rest} more` : names.join(", ");
}

type Settings = Readonly<Record<string, unknown>>;

function useText(
  use: ConfigurationUse,
  { names, verb }: { names: string; verb: string },
  { settings: changed, before, now }: LevelChanges["uses"][number],
  current: Settings | null,
): string {
  const { entry, origin } = use;
  const [kind, name = ""] = entry.split(/:(.*)/s);
  const list = changed.toSorted().join(", ");
  if (kind === "http" && origin === undefined)
    return `The hosts that may be called have changed (${list}), and ${names} compute${verb} its host.`;
  if (kind === "http") return httpText(origin!, { names, verb }, changed, current);
  const domain = kind === "mail" && changed.length === 1 ? /^to (.*)$/s.exec(changed[0]!)?.[1] : undefined;
  if (domain !== undefined)
    return `Mail to ${inOneLine(domain)}, which ${names} send${verb}, is ${current?.[changed[0]!] === true ? "allowed now" : "not allowed any more"}.`;
  if (kind === "secrets")
    return `The secrets that ${names} may send${origin === undefined ? "" : ` to ${origin}`} have changed.`;
  if (kind === "mail") return `The mail settings, which ${names} use${verb}, have changed: ${list}.`;
  const what =
    kind === "secret"
      ? `The secret ${inOneLine(name)}, which ${names} send${verb}${origin === undefined ? "" : ` to ${origin}`},`
      : `${KINDS[kind!] ?? "The connection"} ${inOneLine(name)}, which ${names} use${verb},`;
  if (!now) return `${what} is no longer configured or granted.`;
  if (!before) return `${what} is configured now.`;
  return `${what} has changed: ${list}.`;
}

const KINDS: Readonly<Record<string, string>> = {
  database: "The database",
  model: "The model",
  mcp_server: "The MCP server",
  chat: "The chat",
};

function httpText(
  origin: string,
  { names, verb }: { names: string; verb: string },
  changed: readonly string[],
  current: Settings | null,
): string {
  if (changed.includes("allowed"))
    return `${names} may ${current?.["allowed"] === true ? `call ${origin} now` : `not call ${origin} any more`}.`;
  const what = `${origin}, which ${names} call${verb},`;
  if (changed.includes("private_address"))
    return `${what} may ${current?.["private_address"] === true ? "have a private address now" : "not have a private address any more"}.`;
  return `${what} is called ${current?.["proxy"] === undefined ? "without a proxy now" : "through another proxy now"}.`;
}
