import { expect, it } from "vitest";
import { type CookieClient, cookieClient } from "../support/cookie-client.ts";
import { testInstance } from "../support/instance.ts";
import { mockAlb } from "../support/mock-alb.ts";
import { connectedClient, listTools, oauthSite } from "../support/oauth.ts";
import { signInAtProvider, testOidcProvider } from "../support/oidc-provider.ts";

it("connects an application for a person who signed in at an OpenID Connect provider", async () => {
  const ann = { email: "ann@example.com", email_verified: true, groups: ["millrace-editor"] };
  const peer = await testOidcProvider({ accounts: { ann } });
  const instance = await testInstance();
  const urls = await oauthSite(instance, { authMode: "oidc", env: peer.env });
  const browser = cookieClient();
  await browser.fetch(await signInAtProvider(browser, `${urls.web}/login`, "ann"));
  const { tokens } = await connectedClient(browser, urls);
  expect([tokens.scope, (await listTools(`${urls.mcp}/mcp`, tokens.access_token)).status]).toEqual([
    "read write publish run",
    200,
  ]);
});

it("connects an application for a person who signed in at the load balancer", async () => {
  const balancer = await mockAlb();
  const instance = await testInstance();
  const urls = await oauthSite(instance, { authMode: "cognito", env: balancer.env });
  const plain = cookieClient();
  const identity = balancer.headers({ "cognito:groups": ["millrace-viewer"] });
  // The load balancer adds the identity to the pages and their requests, and not to the paths of applications.
  const browser: CookieClient = {
    cookies: plain.cookies,
    fetch: (url, form, headers) =>
      plain.fetch(url, form, {
        ...headers,
        ...(!new URL(url).pathname.startsWith("/oauth/") && identity),
      }),
  };
  const { tokens } = await connectedClient(browser, urls);
  const { status, text } = await listTools(`${urls.mcp}/mcp`, tokens.access_token);
  expect([tokens.scope, status, text.includes("create_workflow")]).toEqual(["read", 200, false]);
});
