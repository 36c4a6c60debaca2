/** People read only texts of the message catalogue: no component has its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findTexts } from "./find-texts.ts";

const WEB = join(import.meta.dirname, "../../../src/web");

interface Exception {
  texts: readonly string[];
  reason: string;
}

const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  "account/add-factor.tsx": {
    texts: ["Authenticator app"],
    reason: "the name that a factor gets at first, which goes to the server",
  },
  "account/auth-card.tsx": { texts: ["Millrace"], reason: "the name of the product" },
  "account/qr-code.tsx": { texts: ["M${…} ${…}h1v1h-1z"], reason: "a path of SVG" },
  "app/shell.tsx": { texts: ["Millrace"], reason: "the name of the product" },
  "app/theme.ts": {
    texts: ['ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'],
    reason: "names of fonts",
  },
  "connect/clients.ts": {
    texts: ["Claude Code", "Claude Desktop", "VS Code", "Gemini CLI", "GitHub Copilot CLI", "JetBrains IDEs"],
    reason: "names of products",
  },
  "connect/connect.tsx": { texts: ["write_workflow"], reason: "the name of a prompt" },
  "data/sql-names.ts": { texts: ["SELECT ${…}\nFROM ${…}\nLIMIT ${…}\n"], reason: "SQL" },
  "editor/expressions.ts": { texts: ["index", "item"], reason: "variables of expressions" },
  "editor/format.ts": {
    texts: ["The definition ${…}"],
    reason: "the subject of messages of the server, which are English",
  },
  "editor/palette.ts": { texts: ["#c92a2a", "#ff8787"], reason: "colours of errors" },
  "graph/edge-path.ts": { texts: ["C${…} ${…} ${…}"], reason: "a path of SVG" },
  "graph/step-card.tsx": { texts: ["×N"], reason: "a sign: N times" },
  "keys/create-key.tsx": { texts: ["ci"], reason: "an example of a name" },
  "locale/choose-language.ts": { texts: ["English", "Deutsch"], reason: "each language in itself" },
  "notifications/labels.ts": { texts: ["Microsoft Teams"], reason: "the name of a product" },
  "notifications/subscription-dialog.tsx": {
    texts: ["slack_alerts", "https://example.com/hooks/millrace"],
    reason: "examples of a name and a URL",
  },
  "palette/search-button.tsx": { texts: ["⌘ K"], reason: "the keys of a Mac" },
  "projects/grant-form.tsx": { texts: ["api.example.com"], reason: "an example of a host" },
  "runs/keep-changes.tsx": {
    texts: ["Saved from run ${…}"],
    reason: "the note of a version, which is stored on the server",
  },
  "values/rows-table.tsx": { texts: ["null"], reason: "a value of JSON" },
  "workflows/templates.ts": {
    texts: [
      "Revenue by region",
      "Queries a database, checks that the result is not empty, and returns the best region.",
      "Unpaid orders every morning",
      "Runs on weekday mornings and lists the unpaid orders.",
      "Revenue in two sentences",
      "Summarizes the rows of a query with a model, and validates the model's output.",
      "Ask for approval",
      "A person reviews the query result, fills in a form and decides. The next step depends on the decision.",
      "Notify the team",
      "Posts to a webhook with a secret, retries on failure, and sends an e-mail if every attempt fails.",
      "New orders by webhook",
      "Starts a run for each order that a shop sends to the URL of the webhook, once, however often it is sent.",
      "Join two queries",
      "Runs two queries in parallel and joins their rows in memory, even across databases.",
    ],
    reason: "the name and description that a workflow gets at first, which go to the server",
  },
  "workflows/use-restore-content.ts": {
    texts: ["Restored version ${…}"],
    reason: "the change note of a version, which goes to the server",
  },
};

const files = readdirSync(WEB, { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.tsx?$/.test(name) && !name.startsWith("messages") && name !== "vite.config.ts",
);

function textsOf(file: string): string[] {
  const allowed = EXCEPTIONS[file]?.texts ?? [];
  return findTexts(file, readFileSync(join(WEB, file), "utf8")).filter((text) => !allowed.includes(text));
}

describe("texts of the interface", () => {
  it("are in the message catalogue (src/web/messages)", () => {
    const found = files.flatMap((file) => textsOf(file).map((text) => `${file}: ${text}`));
    expect(found).toEqual([]);
  });
});

const find = (code: string): string[] => findTexts("a.tsx", code);

describe("findTexts", () => {
  it.each([
    ["<p>Hello</p>", "Hello"],
    ['<p>{ok ? "yes" : "no"}</p>', "yes|no"],
    ["<p>{`${n} runs`}</p>", "${…} runs"],
    ['<a title="Runs" />', "Runs"],
    ["<a aria-label={ok ? `x ${y}` : z} />", "x ${…}"],
    ['const a = { label: "runs" };', "runs"],
    ['const f = ({ label = "more" }) => label;', "more"],
    ['const a = { ["queued"]: "Not started" };', "Not started"],
    ["const a = `Run ${id}`;", "Run ${…}"],
  ])("finds the text of %s", (code, texts) => {
    expect(find(code)).toEqual(texts.split("|"));
  });

  it.each([
    '<a className="Big Box" />',
    '<a size="sm">{a} · {b} (1)</a>',
    'throw new Error("This never happens");',
    'const a = { to: "/runs", label: texts.runs };',
    'import a from "./A b.ts";',
    'type A = "Two words";',
  ])("finds none in %s", (code) => {
    expect(find(code)).toEqual([]);
  });
});
