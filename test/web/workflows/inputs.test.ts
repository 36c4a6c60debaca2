import { describe, expect, it } from "vitest";
import { splitInputs } from "../../../src/web/workflows/inputs.ts";

describe("the inputs of an earlier run", () => {
  it("are taken over where the version has them, and the others are named", () => {
    const definition = { inputs: { type: "object", properties: { region: { type: "string" } } } };
    expect(splitInputs(definition, { region: "north", since: "2026-11-01" })).toEqual({
      known: { region: "north" },
      unknown: ["since"],
    });
    expect(splitInputs({}, { a: 1 })).toEqual({ known: {}, unknown: ["a"] });
  });
});
