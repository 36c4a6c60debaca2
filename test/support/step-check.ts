/** Runs a step type's `check` and `run` with a minimal context. */
import type { Connections } from "../../src/core/connections.ts";
import { ANY, type Shape } from "../../src/core/shapes.ts";
import type {
  AnyStepType,
  Field,
  StepCheck,
  StepCheckContext,
  StepOutcome,
  UnresolvedStep,
} from "../../src/core/step-type.ts";
import { z } from "zod";
import { callOf } from "./call-context.ts";

const NOW = Date.parse("2026-11-21T08:00:00.000Z");

interface World extends Partial<
  Pick<StepCheckContext, "workflow" | "workflowIds" | "shapeOf" | "shapeAt" | "isActiveUser" | "earlierSteps">
> {
  connections?: Partial<Connections>;
  signal?: AbortSignal;
}

const unknown = (): Shape => ANY;

export function checkStep(type: AnyStepType, written: object, world: World = {}): Promise<StepCheck> {
  const step = { id: "it", type: type.type, ...written } as UnresolvedStep;
  return type.check!(step, {
    ...callOf(),
    shapeOf: unknown,
    shapeAt: unknown,
    earlierSteps: () => [],
    workflow: () => Promise.resolve(undefined),
    workflowIds: () => Promise.resolve([]),
    ...world,
    connections: (world.connections ?? {}) as Connections,
    hasConnections: world.connections !== undefined,
  });
}

/** @param written the resolved fields, before validation */
export async function runStep(type: AnyStepType, written: object, world: World = {}): Promise<StepOutcome> {
  const shape = Object.fromEntries(
    Object.entries<Field>(type.fields).map(([name, field]) => [name, field.schema]),
  );
  return type.run(z.strictObject(shape).parse(written), {
    ...callOf(world.signal),
    idempotencyKey: "run:it:0:abc",
    trace: {},
    now: () => NOW,
    // Without secrets.
    connections: {
      maskSecrets: (text: string) => text,
      maskSecretsIn: (value: unknown) => value,
      ...world.connections,
    } as Connections,
  });
}
