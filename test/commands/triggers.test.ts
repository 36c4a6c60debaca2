import { expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";

const ON_PUSH = `id: on-push
name: On push
triggers:
  - { id: pushed, type: webhook, inputs: { ref: "\${{ event.body.ref }}" } }
inputs: { type: object, properties: { ref: { type: string } } }
steps:
  - { id: one, type: set, values: { a: 1 } }
`;

it("shows webhooks with their URLs, replaces a URL, and reports what was not received", async () => {
  const { cli, files } = await testCli();
  const applied = await cli("workflows", "apply", files({ "on-push": ON_PUSH }), "--publish", "--yes");
  expect(applied.code).toBe(0);
  const shown = await cli("triggers", "on-push");
  expect(shown).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^pushed {2}not signed\n {2}http\S+\/hooks\/trg_/),
  });
  expect(JSON.parse((await cli("triggers", "on-push", "--json")).out)).toMatchObject([{ id: "pushed" }]);
  expect((await cli("triggers", "deliveries", "on-push")).out).toContain("received nothing");
  const rotated = await cli("triggers", "rotate", "on-push", "pushed");
  expect(rotated.out).toMatch(/\/hooks\/trg_/);
  expect((await cli("triggers", "on-push")).out).not.toBe(shown.out);
  expect(await cli("triggers", "redeliver", "on-push", "trd_none")).toMatchObject({
    code: 1,
    err: expect.stringContaining('no delivery "trd_none"'),
  });
});
