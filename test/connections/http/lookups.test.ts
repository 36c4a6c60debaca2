import { expect, it } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { callOf } from "../../support/call-context.ts";
import { mockHttpServer, parseConfig, sendJson } from "../../support/mock-http-server.ts";

it("leaves a thread for the names of another owner while those of one are never resolved", async () => {
  const peer = await mockHttpServer((_request, response) => sendJson(response, { ok: true }));
  const unanswered: (() => void)[] = [];
  let isOver = false;
  const client = createHttpClient(
    parseConfig({ http: { allowed_hosts: ["fast.example.com", "*.slow.example.com"] } }),
    fixedSecrets({}),
    {
      resolve(name, done) {
        if (name === "fast.example.com") done(null, [{ address: "127.0.0.1", family: 4 }]);
        else if (isOver) done(new Error("The test is over."), []);
        else unanswered.push(() => done(new Error("The test is over."), []));
      },
    },
  );
  const send = (url: string, owner: string, signal?: AbortSignal) =>
    client.send({ method: "GET", url, headers: {}, maxBytes: 1_000 }, callOf(signal, owner));
  const attack = new AbortController();
  const slow = Array.from({ length: 20 }, (_, index) =>
    send(`http://n${index}.slow.example.com/`, "mallory", attack.signal).catch(() => undefined),
  );
  const { port } = new URL(peer.url);
  expect((await send(`http://fast.example.com:${port}/`, "ada@example.com")).status).toBe(200);
  expect(unanswered).toHaveLength(1);
  attack.abort();
  // These requests end when their lookups do.
  isOver = true;
  unanswered[0]!();
  await Promise.all(slow);
});
