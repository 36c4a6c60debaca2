import { describe, expect, it } from "vitest";
import {
  effectTargetOf,
  interruptionRuleIn,
  interruptionRuleOf,
  type InterruptionRules,
} from "../../src/core/interruption-rules.ts";
import { emailStep } from "../../src/steps/email.ts";
import { httpStep } from "../../src/steps/http.ts";
import { sqlStep } from "../../src/steps/sql.ts";
import { toolStep } from "../../src/steps/tool.ts";

const rules: InterruptionRules = {
  hosts: [
    { host: "*.example.com", idempotent: false, onInterrupted: "fail" },
    { host: "pay.example.com", idempotent: true, onInterrupted: null },
  ],
  resources: { "database:shop": { idempotent: false, onInterrupted: "ask" } },
};
const NO_RULE = { idempotent: false, onInterrupted: null };
const connections = {
  defaultDatabase: "shop",
  interruptionRules: rules,
};
const step = (fields: object) => ({ id: "a", type: "", ...fields });

describe("interruptionRuleIn", () => {
  it("takes the most specific host", () => {
    expect(interruptionRuleIn(rules, { url: "https://pay.example.com/x" })).toEqual({
      idempotent: true,
      onInterrupted: null,
    });
    expect(interruptionRuleIn(rules, { url: "https://a.example.com/x" })).toEqual({
      idempotent: false,
      onInterrupted: "fail",
    });
    for (const url of ["https://example.org/", "no url"])
      expect(interruptionRuleIn(rules, { url })).toEqual(NO_RULE);
  });

  it("knows only the resources that are configured", () => {
    expect(interruptionRuleIn(rules, { resource: "database:shop" }).onInterrupted).toBe("ask");
    for (const resource of ["database:other", "toString"])
      expect(interruptionRuleIn(rules, { resource })).toEqual(NO_RULE);
  });
});

describe("interruptionRuleOf", () => {
  it("prefers what the step says", () => {
    const write = step({ database: "shop", write: true });
    expect(interruptionRuleOf(sqlStep, write, connections).onInterrupted).toBe("ask");
    expect(interruptionRuleOf(sqlStep, step({ write: true }), connections).onInterrupted).toBe("ask");
    const own = { ...write, on_interrupted: "retry" as const };
    expect(interruptionRuleOf(sqlStep, own, connections)).toEqual({
      idempotent: false,
      onInterrupted: "retry",
    });
  });

  it("knows nothing of a host that is known only at run time", () => {
    expect(interruptionRuleOf(httpStep, step({ url: "https://${{ inputs.host }}/" }), connections)).toEqual(
      NO_RULE,
    );
  });
});

describe("effectTargetOf", () => {
  it.each([
    ["the resource of a tool", toolStep, { server: "crm" }, { resource: "mcp_server:crm" }],
    ["the resource of mail", emailStep, {}, { resource: "mail" }],
    ["the default database", sqlStep, {}, { resource: "database:shop" }],
    ["a whole URL", httpStep, { url: "https://a.example.com/x?q=1" }, { url: "https://a.example.com/x?q=1" }],
    [
      "the constant part of a URL",
      httpStep,
      { url: "https://a.example.com/${{ inputs.n }}" },
      { url: "https://a.example.com/" },
    ],
    ["nothing of a host that an expression computes", httpStep, { url: "https://${{ inputs.host }}/" }, null],
  ])("is %s", (_, type, fields, expected) => {
    expect(effectTargetOf(type, step(fields), connections)).toEqual(expected);
  });
});
