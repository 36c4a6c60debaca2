import { describe, expect, it } from "vitest";
import { hoverInfoAt } from "../../../src/web/editor/hover-info.ts";
import { suggest } from "../../../src/web/editor/suggestions.ts";

const tested = {
  revenue: { rows: [{ region: "north", total: 7.5, note: null }], row_count: 1, text: "x".repeat(100) },
};
const steps = [{ id: "revenue", output: "{rows: [{region: text}], row_count: number}" }];

const definition = (expression: string): string =>
  `steps:\n  - id: revenue\n    type: http\n    url: x\n  - id: b\n    type: set\n    values:\n      x: "\${{ ${expression} }}"\n`;

/** What is offered at |, by label. */
function offered(expression: string, more: object = {}): Record<string, { detail: unknown; info: unknown }> {
  const marked = definition(expression);
  const pos = marked.indexOf("|");
  const text = marked.replace("|", "");
  const found = suggest(text, pos, "yaml", { schema: {}, tested, ...more }, true);
  return Object.fromEntries((found?.list ?? []).map(({ label, detail, info }) => [label, { detail, info }]));
}

const hovered = (expression: string, at: string): string | undefined => {
  const text = definition(expression);
  return hoverInfoAt(text, text.indexOf(at, text.indexOf("${{")) + 1, {}, tested)?.text;
};

describe("the values of the last test", () => {
  it("are completed where validation knows no fields, and shown beside the fields that it knows", () => {
    expect(offered("steps.revenue.rows[0].|")).toEqual({
      region: { detail: '"north"', info: 'In the last test: "north"' },
      total: { detail: "7.5", info: "In the last test: 7.5" },
      note: { detail: "null", info: "In the last test: null" },
    });
    const known = offered("steps.revenue.rows[0].|", { steps });
    expect(known["region"]).toEqual({ detail: "text", info: 'In the last test: "north"' });
    expect(offered("steps.revenue.|")["rows"]).toEqual({
      detail: "1 item",
      info: "In the last test: 1 item",
    });
    expect(offered("steps.revenue.|")["text"]?.detail).toHaveLength(60);
  });

  it("are shown for the part of an expression under the pointer", () => {
    const expression = "steps.revenue.rows[0].region + steps.none.x";
    expect(hovered(expression, "region")).toBe('region in the last test: "north"');
    expect(hovered(expression, "rows")).toBe(
      'rows[0] in the last test: {"region":"north","total":7.5,"note":null}',
    );
    expect(hovered(expression, "none")).toBeUndefined();
  });
});
