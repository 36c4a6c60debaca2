import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { describeKey, type KeyFacts, type KeyProject, type Reach } from "../../src/core/key-description.ts";

const NOTHING: Reach = {
  databases: [],
  models: [],
  mcpServers: [],
  secrets: [],
  publicHttp: "none",
  publicHosts: [],
  privateHosts: [],
  mailDomains: [],
  chats: [],
};
const project = (changes: Partial<KeyProject> = {}): KeyProject => ({
  name: "Finance",
  scopes: new Set(["read", "write", "publish", "run"]),
  review: false,
  workflows: null,
  reach: NOTHING,
  ...changes,
});
const facts = (changes: Partial<KeyFacts> = {}): KeyFacts => ({
  owner: "ann@example.com",
  refusedBecause: null,
  expiresAt: null,
  withheld: [],
  projects: [project()],
  isSingleProject: true,
  tools: null,
  ...changes,
});
const sentences = (described: KeyFacts, title: string): string[] =>
  describeKey(described).find((section) => section.title === title)?.sentences ?? [];

/** What a key with these scopes can and cannot do. */
const of = (scopes: readonly Scope[]): string =>
  JSON.stringify(describeKey(facts({ projects: [project({ scopes: new Set(scopes) })] })).slice(1, 3));

/** What a key can do that has the scope approve, and is limited to one operation that needs it. */
const withTool = (name: string): string[] =>
  sentences(
    facts({ projects: [project({ scopes: new Set(["approve"]) })], tools: [{ name, scope: "approve" }] }),
    "What it can do",
  );

describe("The description of a key", () => {
  it("names no project while there is one", () => {
    expect(describeKey(facts())).toEqual([
      {
        title: "The key",
        sentences: [
          "It acts for ann@example.com, and can do no more than their role allows.",
          "It never expires.",
        ],
      },
      {
        title: "What it can do",
        sentences: [
          "It can see every workflow, and the runs and approvals of all of them.",
          "It can create and change workflows, as drafts.",
          "It can publish workflows, which go live at once, and change or archive what is live.",
          "It can run every workflow, drafts and old versions too.",
          "It can cancel and retry runs.",
        ],
      },
      {
        title: "What it cannot do",
        sentences: [
          "It cannot decide approvals.",
          "It cannot read the audit log.",
          "It cannot create or revoke keys, invite people or end sessions.",
        ],
      },
      {
        title: "What it can reach",
        sentences: ["Its runs cannot use a database, use a model, send a request to any host or send mail."],
      },
    ]);
  });

  it("says that a key can decide only if it can use decide_approval", () => {
    expect(withTool("decide_approval")[0]).toBe("It can decide approvals.");
    expect(withTool("delegate_approval")).toEqual(["Nothing."]);
  });

  it("names a host once that is granted and that both policies list", () => {
    const reach: Reach = {
      ...NOTHING,
      publicHttp: "list",
      publicHosts: ["10.0.0.5", "hooks.example.com"],
      privateHosts: ["10.0.0.5", "hooks.example.com"],
    };
    expect(sentences(facts({ projects: [project({ reach })] }), "What it can reach")[0]).toBe(
      "Its runs can send requests to 10.0.0.5 and hooks.example.com.",
    );
  });

  it("names the workflows that it is limited to, and that it changes nothing", () => {
    const workflows = [
      { id: "finance.weekly", name: "Weekly revenue" },
      { id: "finance.close", name: "finance.close" },
    ];
    const limited = facts({
      isSingleProject: false,
      projects: [project({ workflows, scopes: new Set(["read", "run"]) })],
    });
    const named = "two workflows of the project Finance: Weekly revenue (finance.weekly) and finance.close";
    expect(sentences(limited, "What it can do")).toEqual([
      `It can see ${named}, and their runs and approvals.`,
      `It can run ${named}.`,
      "It can cancel and retry their runs.",
    ]);
    expect(sentences(limited, "What it cannot do")[0]).toBe("It cannot change or publish anything.");
    expect(sentences(limited, "What it can reach")[0]).toMatch(
      /^Runs of its workflows in the project Finance cannot use a database/,
    );
  });

  it("says that somebody else has to approve or publish", () => {
    const reviewed = facts({ isSingleProject: false, projects: [project({ review: true })] });
    expect(sentences(reviewed, "What it can do")).toContain(
      "It can ask for the publication of workflows of the project Finance: another person has to approve each of them before it goes live.",
    );
    const drafts = facts({ projects: [project({ scopes: new Set(["read", "write"]) })] });
    expect(sentences(drafts, "What it cannot do")).toEqual(
      expect.arrayContaining([
        "It cannot publish anything.",
        "What it saves is a draft, until a person publishes it.",
      ]),
    );
  });

  it("counts a scope only where one of its tools needs it", () => {
    const limited = facts({ tools: [{ name: "run_workflow", scope: "run" }] });
    expect(sentences(limited, "What it can do")).toEqual([
      "It can run every workflow, drafts and old versions too.",
      "All of this only with run_workflow: every other operation is refused, except to describe itself.",
    ]);
    expect(sentences(limited, "What it cannot do")[0]).toBe("It cannot see workflows and runs by itself.");
  });

  it("names what its runs can reach, and what they cannot", () => {
    const reach: Reach = {
      databases: [
        { name: "shop", writable: false },
        { name: "crm", writable: true },
      ],
      models: ["writer"],
      mcpServers: [
        { name: "tickets", tools: ["search", "get"] },
        { name: "files", tools: null },
      ],
      secrets: [{ name: "HOOK", hosts: ["hooks.example.com"] }],
      publicHttp: "list",
      publicHosts: ["api.example.com"],
      privateHosts: ["10.0.0.5:8080"],
      mailDomains: ["example.com"],
      chats: ["finance"],
    };
    expect(sentences(facts({ projects: [project({ reach })] }), "What it can reach")).toEqual([
      "Its runs can read the database shop.",
      "Its runs can read and change the database crm.",
      "Its runs can use the model writer.",
      "Its runs can call tools of the MCP servers tickets (search and get) and files (all tools).",
      "Its runs can send requests to api.example.com and 10.0.0.5:8080.",
      "Its runs can send the secret HOOK (only to hooks.example.com), but not read it.",
      "Its runs can mail people at example.com.",
      "Its runs can post approvals to the chat finance.",
    ]);
    const reader = facts({ projects: [project({ reach, scopes: new Set(["read"]) })] });
    expect(sentences(reader, "What it can reach")).toEqual([
      "It starts nothing, so it reaches no database, model, host or mailbox.",
    ]);
  });

  it("says why a key is refused, and nothing else", () => {
    const refused = facts({ refusedBecause: "it is revoked", expiresAt: "2027-02-01T00:00:00.000Z" });
    expect(describeKey(refused)).toEqual([
      {
        title: "The key",
        sentences: [
          "It acts for ann@example.com, and can do no more than their role allows.",
          "Every request with it is refused, because it is revoked.",
          "It expires on 2027-02-01 at 00:00 UTC.",
        ],
      },
    ]);
  });

  it("names one workflow in the singular", () => {
    const workflows = [{ id: "finance.weekly", name: "Weekly revenue" }];
    const limited = facts({ projects: [project({ workflows, scopes: new Set(["read", "run"]) })] });
    expect(sentences(limited, "What it can do")).toEqual([
      "It can see one workflow: Weekly revenue (finance.weekly), and its runs and approvals.",
      "It can run one workflow: Weekly revenue (finance.weekly).",
      "It can cancel and retry its runs.",
    ]);
  });

  it("says which scopes have no effect", () => {
    const withheld = facts({ withheld: ["write", "run"], projects: [] });
    expect(sentences(withheld, "The key")).toContain(
      "Its scopes write and run have no effect: its owner has no role that allows them.",
    );
    expect(sentences(withheld, "What it can do")).toEqual(["Nothing."]);
    expect(sentences({ ...withheld, owner: "operator" }, "The key")).toContain(
      "Its scopes write and run have no effect: its projects were deleted.",
    );
  });

  it("says of each scope either that it can or that it cannot", () => {
    const all = of(Scope.options);
    for (const scope of Scope.options) {
      const without = of(Scope.options.filter((held) => held !== scope));
      expect(without).not.toBe(all);
    }
    expect(of([])).toContain("Nothing.");
  });
});
