/** What a step touches, in words for the person who approves it. */
import { describe, expect, it } from "vitest";
import type { EffectContext, UnresolvedStep } from "../../src/core/step-type.ts";
import { stepTypes } from "../../src/steps/index.ts";

const ctx: EffectContext = {
  connections: {
    defaultDatabase: "shop",
    databases: {} as never,
    models: {
      list: () => [{ name: "writer", type: "openai", model_ref: "gpt-5", unavailableReason: null }],
    } as never,
  },
  versionOf: (id) => (id === "child" ? 3 : null),
};

const typeOf = (type: string) => stepTypes.find((candidate) => candidate.type === type)!;
const effectOf = (step: Omit<UnresolvedStep, "id">) =>
  typeOf(String(step["type"])).describeEffect?.({ id: "a", ...step } as UnresolvedStep, ctx);
const wordsOf = (step: Omit<UnresolvedStep, "id">) => effectOf(step)?.words;

const secret = { Authorization: { secret: "team_hook" } };

describe("the effect of a step", () => {
  it.each([
    [{ type: "sql", query: "SELECT 1" }, "Reads the database shop"],
    [{ type: "sql", database: "crm", query: "DELETE FROM t", write: true }, "Writes to the database crm"],
    [{ type: "sql", database: "scratch", query: "SELECT 1" }, "Computes in memory"],
    [{ type: "http", url: "https://api.example.com/a" }, "Sends GET to api.example.com"],
    [
      { type: "http", method: "POST", url: "https://api.example.com:8443/${{ inputs.x }}", headers: secret },
      "Sends POST to api.example.com:8443, with the secret team_hook",
    ],
    [
      { type: "http", method: "${{ inputs.m }}", url: "https://${{ inputs.host }}/" },
      "Sends ${{ inputs.m }} to https://${{ inputs.host }}/",
    ],
    [
      { type: "email", to: ["a@example.com", "${{ inputs.to }}"], cc: "b@example.com" },
      "Sends mail to a@example.com, ${{ inputs.to }}, with a copy to b@example.com",
    ],
    [{ type: "model", model: "writer" }, "Sends a prompt to the model writer (openai gpt-5)"],
    [{ type: "model", model: "gone" }, "Sends a prompt to the model gone"],
    [{ type: "tool", server: "crm", tool: "delete_all" }, "Calls the tool delete_all of the server crm"],
    [{ type: "workflow", workflow: "child" }, "Runs version 3 of child"],
    [{ type: "workflow", workflow: "gone" }, "Runs gone, which does not exist"],
    [{ type: "approval", assignees: [] }, "Asks a person"],
    [{ type: "approval", assignees: ["a@example.com"] }, "Asks a@example.com, and sends them a mail"],
    [
      { type: "approval", assignees: ["a@example.com"], decide_by_link: true, chat: ["finance", "ops"] },
      "Asks a@example.com, and sends them a mail whose link decides without an account; " +
        "posts the question to the chats finance, ops, where people may decide",
    ],
    [
      { type: "approval", chat: ["finance"] },
      "Asks a person; posts the question to the chat finance, where people may decide",
    ],
    [{ type: "wait", for: "10m" }, "Waits 10m"],
    [{ type: "wait", event: {} }, "Waits for an event from outside"],
    [{ type: "set", values: {} }, undefined],
    [{ type: "assert", that: "true" }, undefined],
  ])("%j", (step, effect) => {
    expect(wordsOf(step)).toBe(effect);
  });

  it.each([
    [{ type: "sql", query: "SELECT 1" }, "reads", ["shop"]],
    [{ type: "sql", query: "DELETE FROM t", write: true }, "writes", ["shop"]],
    [{ type: "sql", database: "scratch", query: "SELECT 1" }, "nothing", []],
    [{ type: "http", url: "https://api.example.com/a" }, "reads", ["api.example.com"]],
    [{ type: "http", method: "POST", url: "https://api.example.com/a" }, "sends", ["api.example.com"]],
    [{ type: "http", method: "${{ inputs.m }}", url: "https://a.example.com/" }, "sends", ["a.example.com"]],
    [
      { type: "email", to: ["a@example.com", "${{ inputs.to }}"], cc: "b@example.com" },
      "sends",
      ["a@example.com", "${{ inputs.to }}", "b@example.com"],
    ],
    [{ type: "tool", server: "crm", tool: "find" }, "calls", ["crm/find"]],
    [{ type: "approval", assignees: ["a@example.com"] }, "asks", ["a@example.com"]],
    [{ type: "workflow", workflow: "child" }, "runs", ["child"]],
    [{ type: "wait", for: "10m" }, "waits", []],
  ])("%j as data", (step, does, targets) => {
    expect(effectOf(step)).toMatchObject({ does, targets });
  });

  it("is shortened to one line, and shows that it is", () => {
    const effect = wordsOf({ type: "http", url: `\${{ inputs.x }}\n${"y".repeat(500)}` })!;
    expect(effect).toMatch(/^Sends GET to \$\{\{ inputs\.x \}\} y+…$/);
    expect(effect.length).toBeLessThan(230);
  });

  const http = { entry: "http", origin: "https://example.com" };
  const hook = { entry: "secret:team_hook", origin: "https://example.com", header: "Authorization" };
  it.each([
    ["a host and a secret by its name", { headers: secret }, [http, { ...hook, method: "GET" }]],
    ["a computed method", { headers: secret, method: "${{ inputs.m }}" }, [http, hook]],
    [
      "a computed name, which can be that of any secret",
      { headers: { X: { secret: "${{ inputs.s }}" } } },
      [http, { ...http, entry: "secrets" }],
    ],
    ["computed headers", { headers: "${{ inputs.headers }}" }, [http, { ...http, entry: "secrets" }]],
    ["a computed header", { headers: { X: " ${{ inputs.x }}" } }, [http, { ...http, entry: "secrets" }]],
    ["a text with an expression, which names no secret", { headers: { X: "Run ${{ run.id }}" } }, [http]],
    ["a path that is computed", { url: "https://example.com/${{ run.id }}" }, [http]],
    ["a host that is computed", { url: "https://${{ inputs.host }}/" }, [{ entry: "http" }]],
    [
      "another port",
      { url: "HTTP://Example.com:8080/a" },
      [{ entry: "http", origin: "http://example.com:8080" }],
    ],
  ])("of a request depends on the configuration of %s", (_what, fields, uses) => {
    const step = { id: "a", type: "http", url: "https://example.com", ...fields };
    expect(typeOf("http").configurationUses!(step)).toEqual(uses);
  });

  it.each([
    [
      { to: ["a@Example.com", "b@example.com"], cc: "c@example.org" },
      { domains: ["example.com", "example.org"] },
    ],
    [{ to: "a@example.com", cc: ["${{ inputs.cc }}"] }, {}],
    [{ to: "${{ inputs.to }}" }, {}],
  ])("of a mail %j depends on the domains of its recipients, if they are known", (fields, use) => {
    expect(typeOf("email").configurationUses!({ id: "a", type: "email", ...fields })).toEqual([
      { entry: "mail", ...use },
    ]);
  });
});
