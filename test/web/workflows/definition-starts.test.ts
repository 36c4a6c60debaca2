import { describe, expect, it } from "vitest";
import { definitionStarts } from "../../../src/web/workflows/definition-starts.ts";

describe("definitionStarts", () => {
  it("lists the schedule, each webhook, and within which time a run must succeed", () => {
    expect(
      definitionStarts({
        must_succeed: { every: "26h", mail: [] },
        triggers: [
          { id: "pushed", type: "webhook" },
          { id: "released", type: "webhook" },
          { id: "pushed", type: "webhook" },
        ],
        schedule: { cron: "0 3 * * *" },
      }),
    ).toEqual([
      { kind: "schedule", cron: "0 3 * * *", timezone: "UTC" },
      { kind: "webhook", id: "pushed" },
      { kind: "webhook", id: "released" },
      { kind: "must_succeed", every: "26h" },
    ]);
  });

  it.each([
    null,
    {},
    { triggers: {}, schedule: "daily", must_succeed: "26h" },
    { triggers: [null, {}, { id: 1 }] },
  ])("skips what is not valid yet: %j", (definition) => expect(definitionStarts(definition)).toEqual([]));
});
