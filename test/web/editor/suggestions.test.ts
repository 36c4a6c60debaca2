import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { editingSchema } from "../../../src/web/editor/editing-schema.ts";
import type { Schema } from "../../../src/web/editor/schema.ts";
import { type CompletionData, suggest } from "../../../src/web/editor/suggestions.ts";
import { hoverInfoAt } from "../../../src/web/editor/hover-info.ts";

const schema = editingSchema(
  JSON.parse(readFileSync("schemas/generated/workflow.schema.json", "utf8")) as Schema,
);
const known: CompletionData = {
  schema,
  names: {
    database: [{ name: "shop" }, { name: "scratch" }],
    secret: [{ name: "team_hook" }],
    chat: [{ name: "finance" }],
  },
  functions: ["sum"],
  steps: [{ id: "a", output: "{rows: [{region: text, total: number or null}], row_count: number, st…" }],
};

/** The labels offered at the position of |. */
function offered(text: string, format: "yaml" | "json" = "yaml", explicit = false): string[] {
  const pos = text.indexOf("|");
  const found = suggest(text.replace("|", ""), pos, format, known, explicit);
  return (found?.list ?? []).map(({ label }) => label);
}

/** The text after choosing a label at the position of |. */
function chosen(text: string, label: string, format: "yaml" | "json" = "yaml"): string {
  const pos = text.indexOf("|");
  const whole = text.replace("|", "");
  const { replace, list } = suggest(whole, pos, format, known, true)!;
  const choice = list.find((option) => option.label === label)!;
  return whole.slice(0, replace.from) + (choice.apply ?? choice.label) + whole.slice(replace.to);
}

describe("keys", () => {
  it("offers the missing keys of all step types before the type is known", () => {
    const keys = offered("steps:\n  - id: a\n    ty|\n    query: x\n  - id: b\n");
    expect(keys).toContain("type");
    expect(keys).toContain("url");
    expect(keys).not.toContain("id");
  });

  it("offers only the keys of the step's type", () => {
    const keys = offered("steps:\n  - id: a\n    type: sql\n    da|\n");
    expect(keys).toEqual(expect.arrayContaining(["database", "params", "needs"]));
    expect(keys).not.toContain("url");
  });

  it("offers keys behind references and in brackets", () => {
    expect(offered("steps:\n  - id: a\n    type: sql\n    retry: { att| }")).toEqual([
      "attempts",
      "backoff",
      "initial",
      "max",
      "on",
    ]);
    expect(offered("schedule:\n  ov|")).toContain("overlap");
    expect(offered("inputs:\n  properties:\n    since:\n      fo|")).toContain("format");
  });

  it("offers the fields of triggers, of each scheme of signatures, and of must_succeed", () => {
    const trigger = "triggers:\n  - id: pushed\n    type: webhook\n    ";
    expect(offered("tr|")).toContain("triggers");
    expect(offered(`${trigger}de|`)).toEqual([
      "description",
      "signature",
      "handshake",
      "answer_status",
      "payload",
      "sample",
      "if",
      "inputs",
      "deduplicate",
    ]);
    expect(offered(`${trigger}signature:\n      sch|`)).toEqual([
      "scheme",
      "secret",
      "header",
      "algorithm",
      "encoding",
      "secret_encoding",
      "prefix",
      "signs",
      "timestamp",
      "timestamp_prefix",
      "id",
    ]);
    expect(offered(`${trigger}signature:\n      scheme: |`)).toEqual([
      "standard_webhooks",
      "github",
      "stripe",
      "slack",
      "shared_secret",
      "hmac",
    ]);
    expect(offered(`${trigger}signature:\n      scheme: stripe\n      secret: te|`)).toEqual(["team_hook"]);
    expect(offered(`${trigger}signature:\n      scheme: stripe\n      secret: [te|]`)).toEqual(["team_hook"]);
    expect(offered(`${trigger}sample:\n      bo|`)).toEqual(["headers", "body"]);
    expect(offered("must|")).toContain("must_succeed");
    expect(offered("must_succeed:\n  ev|")).toEqual(["every", "mail"]);
    expect(offered("steps:\n  - id: w\n    type: wait\n    event:\n      si|")).toContain("signature");
  });

  it("offers the top-level fields of the API, without those of files", () => {
    const keys = offered("st|");
    expect(keys).toEqual(expect.arrayContaining(["inputs", "steps", "output", "schedule"]));
    expect(keys).not.toContain("name");
  });

  it("lists the step types in the help of `type`", () => {
    const text = "steps:\n  - id: a\n    ty";
    const { list } = suggest(text, text.length, "yaml", known, false)!;
    expect(list.find(({ label }) => label === "type")?.info).toMatch(/^One of approval, assert, email/);
  });

  it("offers nothing while typing on an empty line, and every key on request", () => {
    expect(offered("steps:\n  - id: a\n    |")).toEqual([]);
    expect(offered("steps:\n  - id: a\n    |", "yaml", true)).toContain("type");
    expect(offered("# co|\nsteps: []", "yaml", true)).toEqual([]);
  });

  it("inserts the punctuation after a key", () => {
    expect(chosen("steps:\n  - id: a\n    ret|", "retry")).toBe("steps:\n  - id: a\n    retry:\n      ");
    expect(chosen("steps:\n  - id: a\n    ty|pe: sql", "type")).toBe("steps:\n  - id: a\n    type: sql");
    expect(chosen('{"steps": [{"ty|"}]}', "type", "json")).toBe('{"steps": [{"type": }]}');
    expect(chosen("steps:\n  |", "- id")).toBe("steps:\n  - id: ");
  });
});

describe("values", () => {
  it("offers the step types with their descriptions", () => {
    const text = "steps:\n  - id: a\n    type: \n";
    const { list } = suggest(text, text.length - 1, "yaml", known, false)!;
    expect(list.map(({ label }) => label)).toEqual(expect.arrayContaining(["sql", "http", "approval"]));
    expect(list.every(({ info }) => info !== undefined)).toBe(true);
    expect(offered('{"steps": [{"id": "a", "type": "|"}]}', "json")).toContain("sql");
    expect(offered('{"steps": [{"id": "a"\n "type": "s|', "json")).toContain("sql");
  });

  it("offers the names of the server only in the fields that take them", () => {
    expect(offered("steps:\n  - type: sql\n    database: |")).toEqual(["shop", "scratch"]);
    expect(offered("steps:\n  - type: http\n    headers: { A: { secret: | } }")).toEqual(["team_hook"]);
    expect(offered("steps:\n  - type: http\n    query: { database: | }")).toEqual([]);
  });

  it("offers the chats of an approval as a list", () => {
    const step = "steps:\n  - id: ask\n    type: approval\n    chat: ";
    expect(chosen(`${step}|`, "finance")).toBe(`${step}[finance]`);
    expect(offered(`${step}[|]`)).toEqual(["finance"]);
    expect(offered(`${step}\n      - |`)).toEqual(["finance"]);
  });

  it("offers what makes approvals and mails richer", () => {
    const ask = "steps:\n  - id: ask\n    type: approval\n    ";
    expect(offered(`${ask}|`, "yaml", true)).toEqual(
      expect.arrayContaining(["evidence", "chat", "decide_by_link"]),
    );
    expect(offered(`${ask}decide_by_link: |`)).toEqual(expect.arrayContaining(["true"]));
    const send = "steps:\n  - id: send\n    type: email\n    ";
    expect(offered(`${send}|`, "yaml", true)).toEqual(
      expect.arrayContaining(["format", "tables", "attachments"]),
    );
    expect(offered(`${send}format: |`)).toEqual(["text", "markdown"]);
    expect(offered(`${send}attachments:\n      - |`, "yaml", true)).toEqual(
      expect.arrayContaining(["name", "rows", "json", "columns"]),
    );
  });

  it("offers the ids of other steps in needs, in block and flow style", () => {
    const steps = "steps:\n  - id: a\n  - id: b\n  - id: c\n";
    expect(offered(`${steps}    needs: [a, |]\n`)).toEqual(["b"]);
    expect(offered(`${steps}    needs: [a, |\n  - id: d\n`)).toEqual(["b", "d"]);
    expect(offered(`${steps}    needs:\n      - |`)).toEqual(["a", "b"]);
    expect(chosen(`${steps}    needs: |`, "a")).toBe(`${steps}    needs: [a]`);
  });

  it("offers each value once, and marks the default", () => {
    const text = "steps:\n  - type: http\n    retry: { backoff:  }";
    const { list } = suggest(text, text.length - 2, "yaml", known, true)!;
    expect(list.map(({ label, detail }) => [label, detail])).toEqual([
      ["fixed", undefined],
      ["exponential", "default"],
    ]);
    expect(offered("expose_as_tool: |")).toEqual(["true", "false"]);
  });
});

describe("expressions", () => {
  const steps =
    "inputs:\n  properties:\n    since: { type: string }\nsteps:\n  - id: a\n  - id: b\n  - id: c\n";

  it("offers the ancestors, the inputs and the run", () => {
    expect(offered(`${steps}    if: |`, "yaml", true)).toEqual(["inputs", "steps", "run", "sum"]);
    expect(offered(`${steps}    if: steps.|`)).toEqual(["a", "b"]);
    expect(offered(`${steps}    needs: [a]\n    if: steps.|`)).toEqual(["a"]);
    expect(offered(`${steps}    message: Since \${{ inputs.|`)).toEqual(["since"]);
    expect(offered(`${steps}output:\n  x: "\${{ steps.| }}"`)).toEqual(["a", "b", "c"]);
  });

  it("offers the output fields that validation reported, at every depth", () => {
    expect(offered(`${steps}    that: steps.a.|`)).toEqual(["rows", "row_count"]);
    expect(offered(`${steps}    params: { x: "\${{ steps.a.rows[0].| }}" }`)).toEqual(["region", "total"]);
    expect(offered(`${steps}    prompt: >\n      Of \${{ steps.a.rows[0].re|`)).toEqual(["region", "total"]);
  });

  it("offers nothing outside expressions", () => {
    expect(offered(`${steps}    prompt: what steps.|`)).toEqual([]);
    expect(offered(`${steps}    query: SELECT \${{ steps.|`)).toEqual([]);
    expect(offered(`${steps}    if: 'steps.a == "steps.|"'`)).toEqual([]);
    expect(offered(`${steps}    message: \${{ a }} steps.|`)).toEqual([]);
  });
});

describe("hoverInfoAt", () => {
  const text = "steps:\n  - id: a\n    type: sql\n    max_rows: 5\n    params: { max_rows: 1 }\n";

  it("describes keys and a step's type", () => {
    expect(hoverInfoAt(text, text.indexOf("max_rows") + 2, schema)?.text).toContain("Default: 1000");
    expect(hoverInfoAt(text, text.indexOf("sql") + 1, schema)?.text).toContain("query");
  });

  it("describes no names that the author chose", () => {
    expect(hoverInfoAt(text, text.lastIndexOf("max_rows"), schema)).toBeUndefined();
  });
});

describe("the state of the workflow", () => {
  const declared =
    "state:\n  last_id: { type: integer, default: 0 }\n  page: { type: integer, default: 1 }\n";

  it("is offered in expressions with its keys, if it is declared", () => {
    const step = 'steps:\n  - id: a\n    type: set\n    values: { x: "${{ st|" }\n';
    expect(offered(declared + step)).toEqual(expect.arrayContaining(["state", "steps"]));
    expect(offered(step)).not.toContain("state");
    expect(offered(declared + step.replace("st|", "state.|"))).toEqual(["last_id", "page"]);
  });

  it("offers the keys that commit does not have yet", () => {
    expect(offered(`${declared}commit:\n  page: 1\n  l|\n`)).toEqual(["last_id"]);
    expect(chosen(`${declared}commit:\n  l|\n`, "last_id")).toBe(`${declared}commit:\n  last_id: \n`);
  });
});

describe("examples", () => {
  const steps = "steps:\n  - { id: fetch, type: http }\n  - { id: send, type: email }\n";

  it("offer the steps whose outputs can be given", () => {
    expect(offered(`${steps}examples:\n  - given:\n      fetch: {}\n      s|\n`)).toEqual([
      "send",
      "from_run",
      "steps",
    ]);
  });

  it("offer the output in what they assert, and nowhere else", () => {
    expect(offered(`${steps}examples:\n  - assert: ["ou|"]\n`)).toContain("output");
    expect(offered(`${steps}examples:\n  - assert: ["steps.f|"]\n`)).toEqual(["fetch", "send"]);
    expect(offered(`${steps}output: { x: "\${{ ou|" }\n`)).not.toContain("output");
  });
});

describe("the URLs of events", () => {
  it("are offered for the steps that wait for one", () => {
    const text =
      'steps:\n  - id: a\n    type: set\n    values: { x: "${{ run.event_urls.|" }\n' +
      "  - { id: callback, type: wait, event: {} }\n  - { id: nap, type: wait, for: 1m }\n";
    expect(offered(text)).toEqual(["callback"]);
    expect(offered(text.replace("event_urls.|", "|"))).toContain("event_urls");
  });
});

/** A repeated step with a variable `page`. */
const repeatedStep = (repeat: string, values = "n: 1"): string =>
  `steps:\n  - id: a\n    type: sql\n    params: { ${values} }\n    repeat:\n      max: 5\n      with: { page: { start: 1, next: "loop.page" } }\n${repeat}`;

describe("a repeated step", () => {
  it("offers its variables in its fields, its condition and its variables", () => {
    expect(offered(repeatedStep("", 'n: "${{ loop.| }}"'))).toEqual(["page", "index"]);
    expect(offered(repeatedStep("      until: loop.|\n"))).toEqual(["page", "index"]);
    expect(offered(repeatedStep("", 'n: "${{ lo| }}"'))).toContain("loop");
    expect(offered('steps:\n  - id: b\n    type: set\n    values: { n: "${{ lo| }}" }\n')).not.toContain(
      "loop",
    );
  });

  it("offers the fields of an iteration only after it", () => {
    const steps = [
      { id: "a", output: "{status: text, items: [{rows: [any], status: text}], count: number}" },
    ];
    const labels = (source: string): string[] => {
      const pos = source.indexOf("|");
      const data = { ...known, steps };
      return (suggest(source.replace("|", ""), pos, "yaml", data, true)?.list ?? []).map(
        ({ label }) => label,
      );
    };
    expect(labels(repeatedStep("      until: result.|\n"))).toEqual(["rows", "status"]);
    expect(labels(repeatedStep("      until: re|\n"))).toContain("result");
    expect(labels(repeatedStep("", 'n: "${{ result.| }}"'))).toEqual([]);
    expect(labels(repeatedStep("", 'n: "${{ re| }}"'))).not.toContain("result");
  });

  it("offers the keys of repeat", () => {
    expect(offered("steps:\n  - id: a\n    type: sql\n    repeat: { ma| }")).toEqual([
      "until",
      "max",
      "every",
      "with",
    ]);
  });
});

/** A step with an expression in its lookup. */
const lookupWith = (value: string) =>
  `steps:\n  - id: pay\n    type: http\n    url: https://x.example.com\n    lookup:\n      type: http\n      ${value}\n`;

describe("the lookup of a step", () => {
  it("offers the result after its request, and the idempotency key", () => {
    for (const value of ["happened: res|", 'output: { x: "${{ res|" }'])
      expect(offered(lookupWith(value))).toContain("result");
    expect(offered(lookupWith('url: "${{ res|"'))).not.toContain("result");
    expect(offered(lookupWith('url: "${{ idem|"'))).toContain("idempotency_key");
    expect(offered(undoWith("idem|"))).not.toContain("idempotency_key");
  });
});

/** A step with an expression in its undo. */
const undoWith = (value: string) =>
  `steps:\n  - id: revenue\n    type: sql\n    query: SELECT 1\n    undo:\n      type: set\n      values: { x: "\${{ ${value}" }\n`;

describe("the undo of a step", () => {
  it("offers the result of the step, which its own fields do not", () => {
    expect(offered(undoWith("res|"))).toContain("result");
    const own = 'steps:\n  - id: revenue\n    type: set\n    values: { x: "${{ res|" }\n';
    expect(offered(own)).not.toContain("result");
  });
});
