import type { AddressInfo } from "node:net";
import express from "express";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { throttle } from "../../src/auth/throttle.ts";
import { mcpResources } from "../../src/core/mcp-resource.ts";
import { oauthStateStore } from "../../src/store/oauth-states.ts";
import { rateLimitCounter } from "../../src/store/rate-limit-counts.ts";
import { oauthAdapter } from "../../src/surfaces/oauth/adapter.ts";
import { authorizationServer } from "../../src/surfaces/oauth/server.ts";
import { cookieClient } from "../support/cookie-client.ts";
import { testInstance } from "../support/instance.ts";
import { authorizationUrl, location } from "../support/oauth.ts";

const CLIENT = "https://client.example.com/oauth.json";
const CALLBACK = "https://client.example.com/callback";
const DOCUMENT = { client_id: CLIENT, client_name: "Client", redirect_uris: [CALLBACK] };

/** The authorization server alone, with documents that the test makes. */
async function serverWith(fetchDocument: (url: string) => Response) {
  const instance = await testInstance();
  const { store, keys, clock } = instance;
  const states = oauthStateStore(store, clock);
  const fetched: string[] = [];
  let base = "";
  const server = authorizationServer({
    issuer: () => base,
    adapter: oauthAdapter({ states, keys, clock, revoke: async () => undefined }),
    cookieKey: "for this test only",
    lifetimes: { accessS: 60, idleS: 60, longestS: 60 },
    registration: true,
    pathPrefix: "",
    originRules: { hostnames: [], origins: [] },
    resources: mcpResources({ mcpUrl: undefined, baseUrl: undefined }),
    defaultResource: () => "http://localhost:8000/mcp",
    isActive: async () => true,
    async fetchDocument(url) {
      fetched.push(url);
      return fetchDocument(url);
    },
    throttle: throttle(rateLimitCounter(store), clock),
    log: pino({ level: "silent" }),
  });
  const app = express();
  server.mount(app);
  app.get("/session/authorization", async (req, res) => {
    res.json((await server.pendingRequest(req, res)) ?? null);
  });
  const listener = app.listen(0, "127.0.0.1");
  onTestFinished(() => void listener.close());
  await new Promise((resolve) => listener.once("listening", resolve));
  base = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const browser = cookieClient();
  const authorize = (client_id: string, redirect_uri = CALLBACK) =>
    browser.fetch(authorizationUrl(base, { client_id, redirect_uri }).url);
  return { base, browser, fetched, authorize };
}

describe("the metadata document of a client", () => {
  it("names the client, and is fetched once for a while", async () => {
    const { base, browser, fetched, authorize } = await serverWith(() => Response.json(DOCUMENT));
    for (const _ of [1, 2]) expect(location(await authorize(CLIENT))).toContain("/ui/authorize?request=");
    expect(fetched).toEqual([CLIENT]);
    const request = await (await browser.fetch(`${base}/session/authorization`)).json();
    expect(request).toMatchObject({
      clientId: CLIENT,
      name: "Client",
      redirectUri: CALLBACK,
      resource: "http://localhost:8000/mcp",
    });
  });

  it.each([
    ["is of another client", () => Response.json({ ...DOCUMENT, client_id: `${CLIENT}?x` }), CALLBACK],
    ["does not list the redirect URI", () => Response.json(DOCUMENT), `${CALLBACK}/other`],
    [
      "lists plain http to another machine",
      () =>
        Response.json({
          ...DOCUMENT,
          application_type: "web",
          redirect_uris: ["http://client.example.com/callback"],
        }),
      "http://client.example.com/callback",
    ],
    [
      "lists the scheme of a handler of the system",
      () => Response.json({ ...DOCUMENT, redirect_uris: ["search:x", CALLBACK] }),
      CALLBACK,
    ],
    [
      "lists something else that a program with a callback opens",
      () => Response.json({ ...DOCUMENT, redirect_uris: ["cursor://anysphere.cursor-deeplink/mcp/install"] }),
      "cursor://anysphere.cursor-deeplink/mcp/install",
    ],
    ["has a secret", () => Response.json({ ...DOCUMENT, client_secret: "x" }), CALLBACK],
    ["redirects", () => Response.redirect("https://evil.example.com/oauth.json"), CALLBACK],
    ["is no JSON", () => new Response("<html>"), CALLBACK],
  ])("is refused if it %s", async (_, answer, redirectUri) => {
    const { authorize } = await serverWith(answer);
    const response = await authorize(CLIENT, redirectUri);
    expect([response.status, location(response)]).toEqual([400, null]);
  });

  it("is not fetched for an address that makes the server fetch many", async () => {
    const { authorize, fetched } = await serverWith((url) =>
      Response.json({ ...DOCUMENT, client_id: url, redirect_uris: [CALLBACK] }),
    );
    const statuses: number[] = [];
    for (let at = 0; at < 32; at += 1) statuses.push((await authorize(`${CLIENT}?${at}`)).status);
    expect(fetched).toHaveLength(30);
    expect(statuses.slice(30)).toEqual([400, 400]);
  });
});
