import { expect, it } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import { callOf } from "../../support/call-context.ts";
import { mockHttpServer, parseConfig, sendJson } from "../../support/mock-http-server.ts";

it("leaves a thread for the names of another owner while those of one are never resolved", async () => {
  const peer = await mockHttpServer((_request, response) => sendJson(response, { ok: true }));
  let unanswered = 0;
  const client = createHttpClient(
    parseConfig({ http: { allowed_hosts: ["fast.example.com", "*.slow.example.com"] } }),
    {},
    {
      resolve(name, done) {
        if (name === "fast.example.com") done(null, [{ address: "127.0.0.1", family: 4 }]);
        else unanswered += 1;
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
  expect(unanswered).toBe(1);
  attack.abort();
  await Promise.all(slow);
});
