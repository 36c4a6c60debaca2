import { describe, expect, it } from "vitest";
import { isWaitingStepType } from "../../schemas/waiting-step-types.ts";
import { stepTypes } from "../../src/steps/index.ts";

describe("waiting step types", () => {
  it("are the ones without a default timeout that compute nothing", () => {
    const unlimited = stepTypes.filter(({ timeoutMs, type }) => timeoutMs === null && !isInstant(type));
    const waiting = stepTypes.filter(({ type }) => isWaitingStepType(type));
    expect(waiting).toHaveLength(3);
    expect(waiting).toEqual(unlimited);
  });
});

const isInstant = (name: string): boolean =>
  stepTypes.some(({ type, compute }) => type === name && compute !== undefined);
