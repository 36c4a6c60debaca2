/** The files that agents look for: served without a key, and made of the texts of the prompts. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { catalogue } from "../../tools/index.ts";
import { DEBUGGING, skillFile, WRITING } from "../../src/surfaces/agent-texts.ts";
import { testInstance } from "../support/instance.ts";
import { rawRequest } from "../support/raw-http.ts";

it("llms.txt names the MCP server and files that exist", async () => {
  const { url } = await (
    await testInstance()
  ).rest({ env: { MILLRACE_MCP_URL: "https://mcp.example.com/mcp" } });
  const { status, headers, text } = await rawRequest("GET", `${url}/llms.txt`);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(text).toContain("https://mcp.example.com/mcp (Streamable HTTP)");
  const linked = [...text.matchAll(/\]\((\/[^)]*)\)/g)].map(([, path]) => path!);
  expect(linked.length).toBeGreaterThan(3);
  for (const path of linked)
    expect([path, (await rawRequest("GET", url + path)).status]).toEqual([
      path,
      expect.toBeOneOf([200, 503]),
    ]);
});

it("the skill is the committed file, and names only tools that exist", async () => {
  const { url } = await (await testInstance()).rest();
  const { status, headers, text } = await rawRequest("GET", `${url}/skills/millrace/SKILL.md`);
  expect([status, headers["content-type"]]).toEqual([200, "text/markdown; charset=utf-8"]);
  expect(text).toBe(readFileSync(new URL("../../skills/millrace/SKILL.md", import.meta.url), "utf8"));
  expect(text).toBe(skillFile());
  for (const part of [WRITING, DEBUGGING]) expect(text).toContain(part);
  const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name]) => name!);
  const fields = ["apply_fixes", "dry_run", "step_id", "missing_scope", "not_given"];
  const tools = new Set([...catalogue.map(({ name }) => name), ...fields]);
  expect(named.filter((name) => !tools.has(name))).toEqual([]);
  expect((await rawRequest("POST", `${url}/skills/millrace/SKILL.md`, { body: {} })).status).toBe(405);
});
