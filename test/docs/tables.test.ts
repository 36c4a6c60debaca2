import { describe, expect, it } from "vitest";
import { EXIT } from "../../src/commands/io.ts";
import { FILE_BACKED_VARIABLES, VARIABLES } from "../../src/config/environment.ts";
import { clientSetups, curlCommand, API_KEY_PLACEHOLDER } from "../../src/web/connect/clients.ts";
import { codeBlocksOf, inlineCodeOf, sectionOf, tableIn, readDocument } from "../support/documents.ts";
import { exercisedMetrics, readMetrics } from "../support/metrics.ts";

const OPERATIONS = "docs/operations.md";
const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
const plain = (cell: string): string => cell.replaceAll("`", "");

describe("the table of variables", () => {
  const rows = tableIn(sectionOf(OPERATIONS, "### Environment"));

  it("has exactly the existing variables", () => {
    expect(rows.map(([name]) => plain(name!)).toSorted()).toEqual(VARIABLES.toSorted());
  });

  it("says which variables can be read from a file", () => {
    const listed = rows.filter(([, , file]) => file === "yes").map(([name]) => plain(name!));
    expect(listed.toSorted()).toEqual(FILE_BACKED_VARIABLES.toSorted());
    expect(rows.every(([, , file]) => file === "yes" || file === "no")).toBe(true);
  });
});

describe("the table of metrics", () => {
  const rows = tableIn(sectionOf(OPERATIONS, "## Metrics"));

  it("has exactly the exported metrics, with their types and labels", async () => {
    const families = [...(await readMetrics(exercisedMetrics()))].filter(([name]) =>
      name.startsWith("millrace_"),
    );
    const exported = families.map(([name, { type, samples }]) => ({
      name,
      type,
      // Every metric has the label process, and the buckets of a histogram have le.
      labels: [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))]
        .filter((label) => label !== "process" && label !== "le")
        .toSorted(),
    }));
    const listed = rows.map(([name, type, labels]) => ({
      name: plain(name!),
      type,
      labels: [...labels!.matchAll(/`(\w+)`/g)].map((found) => found[1]!).toSorted(),
    }));
    expect(listed.toSorted(byName)).toEqual(exported.toSorted(byName));
  });

  it("has every metric that the pages mention", () => {
    const names = new Set(rows.map(([name]) => plain(name!)));
    const pages = [OPERATIONS, "docs/troubleshooting.md", "docs/upgrading.md"];
    const mentioned = pages.flatMap((page) =>
      inlineCodeOf(page).flatMap((code) => /^millrace_[a-z_]+/.exec(code)?.[0] ?? []),
    );
    expect(mentioned.filter((name) => !names.has(name))).toEqual([]);
  });
});

describe("the table of exit codes", () => {
  it("has exactly the existing exit codes", () => {
    const rows = tableIn(sectionOf("docs/troubleshooting.md", "## Exit codes"));
    expect(rows.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });
});

describe("the instructions for agents' clients", () => {
  const page = "docs/connecting-agents.md";
  const setups = clientSetups("http://localhost:8000", API_KEY_PLACEHOLDER);

  it.each(setups.map((setup) => [setup.name, setup] as const))(
    "are the same for %s as in the web interface",
    (_, { text }) => {
      const same = text.startsWith("{")
        ? codeBlocksOf(page)
            .filter(({ language }) => language === "json")
            .map((block) => JSON.parse(block.text) as unknown)
        : codeBlocksOf(page).map((block) => block.text.trimEnd());
      expect(same).toContainEqual(text.startsWith("{") ? JSON.parse(text) : text);
    },
  );

  it("contain the same curl request", () => {
    expect(readDocument(page)).toContain(curlCommand("http://localhost:3000", "mill_…"));
  });
});
