/** Every risk of OWASP's lists has a row in the security model, and the tests that a row names exist. */
import { describe, expect, it } from "vitest";
import { sectionOf, tableIn } from "../support/documents.ts";
import { namedTestIssues } from "../support/named-tests.ts";

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
      namedTestIssues(tests!).map((issue) => `${risk!}: ${issue}`),
    );
    expect(issues).toEqual([]);
  });
});
