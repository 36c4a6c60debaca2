/** Every risk of OWASP's lists has a row in the security model, and the tests that a row names exist. */
import { existsSync, readFileSync } from "node:fs";
import { type ESTree, parseSync, Visitor } from "vite";
import { describe, expect, it } from "vitest";
import { ROOT, sectionOf, tableIn } from "../support/documents.ts";

const PAGE = "docs/security.md";

/** @see https://owasp.org/API-Security/editions/2023/en/0x11-t10/ */
const API_RISKS = [
  "API1:2023 Broken Object Level Authorization",
  "API2:2023 Broken Authentication",
  "API3:2023 Broken Object Property Level Authorization",
  "API4:2023 Unrestricted Resource Consumption",
  "API5:2023 Broken Function Level Authorization",
  "API6:2023 Unrestricted Access to Sensitive Business Flows",
  "API7:2023 Server Side Request Forgery",
  "API8:2023 Security Misconfiguration",
  "API9:2023 Improper Inventory Management",
  "API10:2023 Unsafe Consumption of APIs",
];
/** @see https://owasp.org/www-project-mcp-top-10/ */
const MCP_RISKS = [
  "MCP01:2025 Token Mismanagement & Secret Exposure",
  "MCP02:2025 Privilege Escalation via Scope Creep",
  "MCP03:2025 Tool Poisoning",
  "MCP04:2025 Software Supply Chain Attacks & Dependency Tampering",
  "MCP05:2025 Command Injection & Execution",
  "MCP06:2025 Intent Flow Subversion",
  "MCP07:2025 Insufficient Authentication & Authorization",
  "MCP08:2025 Lack of Audit and Telemetry",
  "MCP09:2025 Shadow MCP Servers",
  "MCP10:2025 Context Injection & Over-Sharing",
];

const TEST_FUNCTIONS = new Set(["it", "test"]);
/** Such a test does not run, or passes when it fails. */
const HOLDS_NOTHING = new Set(["skip", "todo", "fails"]);

/** The names that lead to a call: it and each, of `it.each([1])("title", …)`. */
function namesOf(node: ESTree.Expression | ESTree.Super): string[] {
  if (node.type === "Identifier") return [node.name];
  if (node.type === "CallExpression") return namesOf(node.callee);
  if (node.type === "TaggedTemplateExpression") return namesOf(node.tag);
  if (node.type !== "MemberExpression" || node.property.type !== "Identifier") return [];
  return [...namesOf(node.object), node.property.name];
}

/** The titles of the tests in a source, as they are written there: those of it.each with their placeholders. */
function titlesIn(file: string, source: string): Set<string> {
  const titles = new Set<string>();
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [title, body] }) {
      const names = namesOf(callee);
      if (!TEST_FUNCTIONS.has(names[0] ?? "") || names.some((name) => HOLDS_NOTHING.has(name))) return;
      if (title === undefined || body === undefined) return;
      if (title.type === "Literal" && typeof title.value === "string") titles.add(title.value);
      if (title.type === "TemplateLiteral") titles.add(source.slice(title.start + 1, title.end - 1));
    },
  });
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]!.message}`);
  visitor.visit(program);
  return titles;
}

/** What is wrong with the tests that a cell names. */
function issuesOf(cell: string): string[] {
  const named = cell.split("<br>").map((line) => /^`(test\/[^`]+\.test\.tsx?)`: "(.+)"$/.exec(line.trim()));
  if (named.length > 3 || named.includes(null))
    return [`must be one to three of \`test/….test.ts\`: "title", separated by <br>, got ${cell}`];
  return named.flatMap((match) => {
    const [, file, title] = match!;
    if (!existsSync(`${ROOT}${file!}`)) return [`${file!} does not exist`];
    const titles = titlesIn(file!, readFileSync(`${ROOT}${file!}`, "utf8"));
    return titles.has(title!) ? [] : [`${file!} has no test "${title!}"`];
  });
}

describe("the table of OWASP's risks", () => {
  it.each([
    ["### API Security Top 10", API_RISKS],
    ["### MCP Top 10", MCP_RISKS],
  ])("has each risk once, with what Millrace does not do: %s", (heading, risks) => {
    const rows = tableIn(sectionOf(PAGE, heading));
    expect(rows.map(([risk]) => risk)).toEqual(risks);
    for (const [, protection] of rows) expect(protection).toMatch(/^[A-Z].+\. \*\*Not\*\*: .+\.$/);
  });

  it.each(["### API Security Top 10", "### MCP Top 10"])("names tests that exist: %s", (heading) => {
    const issues = tableIn(sectionOf(PAGE, heading)).flatMap(([risk, , tests]) =>
      issuesOf(tests!).map((issue) => `${risk!}: ${issue}`),
    );
    expect(issues).toEqual([]);
  });

  it("accepts no test without a file, of another title, or that is skipped", () => {
    const own = "test/docs/owasp.test.ts";
    expect(issuesOf(`\`${own}\`: "names tests that exist: %s"`)).toEqual([]);
    expect(issuesOf(`\`${own}\`: "names tests"`)).toEqual([`${own} has no test "names tests"`]);
    expect(issuesOf('`test/docs/none.test.ts`: "x"')).toEqual(["test/docs/none.test.ts does not exist"]);
    expect(issuesOf("No test holds this.")).toEqual([expect.stringMatching(/^must be one to three/)]);
    const source = `it.skip("a", () => {}); it.todo("b"); describe("c", () => void test("d", () => {})); it.each([])(\`e \${1}\`, f);`;
    expect(titlesIn("x.test.ts", source)).toEqual(new Set(["d", "e ${1}"]));
  });
});
