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

  it("has every one, and no other", () => {
    expect(rows.map(([name]) => plain(name!)).toSorted()).toEqual(VARIABLES.toSorted());
  });

  it("says which of them may stand in a file", () => {
    const listed = rows.filter(([, , file]) => file === "yes").map(([name]) => plain(name!));
    expect(listed.toSorted()).toEqual(FILE_BACKED_VARIABLES.toSorted());
    expect(rows.every(([, , file]) => file === "yes" || file === "no")).toBe(true);
  });
});

describe("the table of metrics", () => {
  const rows = tableIn(sectionOf(OPERATIONS, "## Metrics"));

  it("has every metric of ours with its type and labels, and no other", async () => {
    const there = [...(await readMetrics(exercisedMetrics()))].filter(([name]) =>
      name.startsWith("millrace_"),
    );
    const exported = there.map(([name, { type, samples }]) => ({
      name,
      type,
      // Each has the process; a histogram's buckets their bound.
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

  it("is asked only for metrics that it has", () => {
    const names = new Set(rows.map(([name]) => plain(name!)));
    const pages = [OPERATIONS, "docs/troubleshooting.md", "docs/upgrading.md"];
    const asked = pages.flatMap((page) =>
      inlineCodeOf(page).flatMap((code) => /^millrace_[a-z_]+/.exec(code)?.[0] ?? []),
    );
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
  });
});

describe("the table of exit codes", () => {
  it("has every one", () => {
    const rows = tableIn(sectionOf("docs/troubleshooting.md", "## Exit codes"));
    expect(rows.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });
});

describe("what agents' clients are told", () => {
  const page = "docs/connecting-agents.md";
  const setups = clientSetups("http://localhost:8000", API_KEY_PLACEHOLDER);

  it.each(setups.map((setup) => [setup.name, setup] as const))(
    "is the same for %s as in the web interface",
    (_, { text }) => {
      const same = text.startsWith("{")
        ? codeBlocksOf(page)
            .filter(({ language }) => language === "json")
            .map((block) => JSON.parse(block.text) as unknown)
        : codeBlocksOf(page).map((block) => block.text.trimEnd());
      expect(same).toContainEqual(text.startsWith("{") ? JSON.parse(text) : text);
    },
  );

  it("begins with the same request for scripts", () => {
    expect(readDocument(page)).toContain(curlCommand("http://localhost:3000", "mill_…"));
  });
});
