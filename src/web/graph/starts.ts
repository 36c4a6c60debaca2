/** What starts runs by itself, as nodes of the graph: the steps that need no other one come after them. */
import * as texts from "#texts/graph";
import { definitionStarts, type DefinitionStart } from "../workflows/definition-starts.ts";
import type { GraphStep } from "./steps.ts";

/** Ids of steps are drawn without spaces around them, so no step has an id of a start. */
const PREFIX = " ";
/** Maximum number of starts with a node each. More share one node, so that they don't hide the steps. */
const MAX_NODES = 4;

/** Whether a node of the graph is a start, by its id. */
export const isStartId = (id: string): boolean => id.startsWith(PREFIX);

/**
 * Adds the starts of a definition to its steps.
 * @param startedBy of a run: the start that started it, which is drawn alone; null when it was started in another way
 */
export function withStarts(
  steps: readonly GraphStep[],
  definition: Record<string, unknown> | null,
  startedBy?: GraphStart | null,
): readonly GraphStep[] {
  if (startedBy === null || steps.length === 0) return steps;
  const nodes = startNodes(definitionStarts(definition), definition, startedBy);
  if (nodes.length === 0) return steps;
  const ids = nodes.map(({ id }) => id);
  return [...nodes, ...steps.map((step) => (step.needs.length > 0 ? step : { ...step, needs: ids }))];
}

export type GraphStart = { kind: "schedule" } | { kind: "webhook"; id: string };

function startNodes(
  declared: readonly DefinitionStart[],
  definition: Record<string, unknown> | null,
  startedBy: GraphStart | undefined,
): GraphStep[] {
  const nodes = declared.flatMap((start) => {
    const node = nodeOf(start, definition);
    return node === undefined ? [] : [node];
  });
  if (startedBy !== undefined) return nodes.filter(({ id }) => id === idOf(startedBy));
  if (nodes.length <= MAX_NODES) return nodes;
  return [
    { id: `${PREFIX}starts`, name: texts.startCount({ count: nodes.length }), type: "start", needs: [] },
  ];
}

const idOf = (start: GraphStart): string =>
  start.kind === "schedule" ? `${PREFIX}schedule` : `${PREFIX}webhook ${start.id}`;

function nodeOf(start: DefinitionStart, definition: Record<string, unknown> | null): GraphStep | undefined {
  if (start.kind === "must_succeed") return undefined;
  if (start.kind === "schedule") return { id: idOf(start), name: start.cron, type: "schedule", needs: [] };
  return {
    id: idOf(start),
    name: start.id,
    type: "webhook",
    needs: [],
    ...(hasCondition(definition, start.id) && { condition: true }),
  };
}

/** What the definition says of a start that was selected in the graph. */
export function startDefinition(
  id: string,
  definition: Record<string, unknown> | null,
): Record<string, unknown> | undefined {
  if (id === `${PREFIX}schedule`) {
    const schedule = definition?.["schedule"];
    return isObject(schedule) ? { schedule } : undefined;
  }
  if (id === `${PREFIX}starts`) {
    const [schedule, triggers] = [definition?.["schedule"], definition?.["triggers"]];
    return { ...(schedule !== undefined && { schedule }), ...(triggers !== undefined && { triggers }) };
  }
  return triggersOf(definition).find((trigger) => `${PREFIX}webhook ${String(trigger["id"])}` === id);
}

const hasCondition = (definition: Record<string, unknown> | null, id: string): boolean =>
  triggersOf(definition).some((trigger) => trigger["id"] === id && trigger["if"] !== undefined);

function triggersOf(definition: Record<string, unknown> | null): Record<string, unknown>[] {
  const triggers = definition?.["triggers"];
  return Array.isArray(triggers) ? triggers.filter(isObject) : [];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
