/** While there is one project, nothing mentions projects: no message, no list of tools, no answer, no output of a command. */
import { describe, expect, it } from "vitest";
import { catalogue } from "../../tools/index.ts";
import { Scope } from "../../schemas/actor.ts";
import { parseRoute } from "../../src/core/tool.ts";
import { testCli } from "../support/command-line.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { connect } from "../support/mcp.ts";
import { addProject } from "../support/projects.ts";
import { addUser, signedInUser, signIn } from "../support/users.ts";

/** Operations that are about projects, and need a second one to be of use. */
const ABOUT_PROJECTS = /project|grant|^move_workflow$|offer/;
const operations = catalogue.filter(({ name }) => !ABOUT_PROJECTS.test(name));

async function open() {
  const instance = await testInstance();
  await instance.executor();
  const { url } = await instance.rest();
  const mcp = await instance.mcp();
  const request = apiClient(url);
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const as = (cookie: string) => (method: string, path: string, body?: unknown) =>
    request(method, path, body, { Cookie: cookie, "Sec-Fetch-Site": "same-origin" });
  const { value: key } = await instance.key({ scopes: Scope.options });
  return { instance, root: as(root.cookie), as, agent: apiClient(url, key), mcp, key };
}

type WrongRequest = readonly [name: string, method: string, path: string, body: unknown];

/** Requests with fields that do not exist, one near to `project`, and with a body that is none. */
const wrongRequests = operations.flatMap((tool): WrongRequest[] => {
  const { method, path, parameters } = parseRoute(tool);
  const url = parameters.reduce((text, name) => text.replace(`:${name}`, "none"), path);
  return method === "GET" || method === "DELETE"
    ? [[tool.name, method, `${url}?zzz=1&projct=1&limit=x`, undefined]]
    : [
        [tool.name, method, url, { zzz: 1, projct: "a", projecs: ["a"] }],
        [tool.name, method, url, [1]],
      ];
});

describe("On an instance with one project", () => {
  it("no error of a request mentions projects, over REST", async () => {
    const { root, agent } = await open();
    for (const [name, method, path, body] of wrongRequests)
      for (const call of [root, agent])
        expect([name, JSON.stringify((await call(method, path, body)).body)]).toEqual([
          name,
          expect.not.stringMatching(/project/i),
        ]);
  });

  it("no tool, error or answer mentions projects, over MCP", async () => {
    const { mcp, key } = await open();
    const client = await connect("v2 pinned to 2026-07-28", mcp.url, key);
    const tools = await client.listTools();
    for (const tool of tools)
      expect([tool.name, JSON.stringify(tool)]).toEqual([tool.name, expect.not.stringMatching(/project/i)]);
    for (const { name } of tools) {
      const { content } = await client.call(name, { zzz: 1, projct: "a", projecs: ["a"] });
      expect([name, JSON.stringify(content)]).toEqual([name, expect.not.stringMatching(/project/i)]);
    }
    const answers = [
      await client.call("describe_environment"),
      await client.call("create_workflow", {
        name: "Hello",
        definition: { steps: [{ id: "a", type: "set", values: { x: 1 } }] },
      }),
      await client.call("publish_workflow", { workflow_id: "hello", fields: ["proj"] }),
      await client.call("run_workflow", { workflow_id: "hello" }),
      await client.call("list_workflows"),
      await client.call("describe_key", { key_id: "self" }),
    ];
    for (const { content, isError } of answers)
      expect([isError ?? false, JSON.stringify(content)]).toEqual([
        false,
        expect.not.stringMatching(/project/i),
      ]);
  });

  it("no output of a command mentions projects", async () => {
    const text = "name: Hello\nsteps:\n  - { id: said, type: set, values: { text: hi } }\n";
    const { cli } = await testCli({ hello: text });
    await cli("projects", "update", "default", "--review");
    for (const args of [
      ["run", "hello"],
      ["runs"],
      ["keys", "create", "--name", "limited", "--tool", "get_run"],
      ["keys", "create", "--name", "wrong", "--tool", "get_rnu"],
      ["keys", "list"],
      ["keys", "show", "limited"],
      ["reviews", "list"],
      ["storage"],
      ["check"],
    ]) {
      const { out, err } = await cli(...args);
      expect([args.join(" "), out + err]).toEqual([
        args.join(" "),
        expect.not.stringMatching(/project(?!s update|s members)/i),
      ]);
    }
  });
});

describe("With a second project", () => {
  it("errors offer the field to those who can choose", async () => {
    const { instance, root, as } = await open();
    await addProject(instance, "finance");
    const of = async (call: ReturnType<typeof as>) =>
      JSON.stringify((await call("GET", "/workflows?projct=finance")).body);
    expect(await of(root)).toContain('"did_you_mean":"project"');
    const ann = await signIn(instance, await addUser(instance, { email: "ann@example.com", role: "viewer" }));
    expect(await of(as(ann.cookie))).not.toMatch(/project/);
  });
});
