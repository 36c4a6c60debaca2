/** The examples whose approvals are decided from mails, with a mail server and a bank on loopback. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { decisionBrowser, digestIn, openDecisions } from "../../support/decisions.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";

/** The definition of an example, with another address of its HTTP host. */
function definitionOf(id: string, url = ""): object {
  const source = readFileSync(new URL(`../../../examples/everyday/${id}.yaml`, import.meta.url), "utf8");
  const {
    id: _id,
    name: _name,
    description: _description,
    tags: _tags,
    ...definition
  } = parse(source.replaceAll(/https:\/\/[a-z]+\.example\.com/g, url)) as Record<string, unknown>;
  return definition;
}

describe("an example that people decide from their mails", () => {
  it("pays once two of three people have approved, each with the link of their own mail", async () => {
    const bank = await mockHttpServer((_request, response) => sendJson(response, { id: "pay_1" }, 201));
    const { ask, link, mail, url, proceed, call } = await openDecisions({
      definition: definitionOf("payment-that-two-people-approve", bank.url),
      config: { http: { allowed_hosts: [new URL(bank.url).host] } },
    });
    const { run } = await ask({});
    const recipients = [];
    for (const index of [0, 1, 2]) recipients.push([(await mail(index)).to].flat()[0]!.text);
    expect(recipients).toEqual(["ann@example.com", "bob@example.com", "cai@example.com"]);
    const decide = async (index: number): Promise<{ status: number; html: string }> => {
      const browser = decisionBrowser(url);
      const { html } = await browser("GET", await link(index));
      const digest = html.includes("plan_digest") ? digestIn(html) : "none";
      return browser("POST", await link(index), { decision: "approve", plan_digest: digest });
    };
    expect((await decide(0)).html).toContain("It still needs the decision of others.");
    await proceed();
    expect(bank.received).toEqual([]);
    // The same link does not count twice.
    expect((await decide(0)).status).toBe(410);
    expect((await decide(2)).html).toContain("The run goes on.");
    await proceed();
    expect(bank.received.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /payments"]);
    expect((await call("GET", `/runs/${run}`)).body).toMatchObject({
      status: "succeeded",
      output: { paid: true, by: ["ann@example.com", "cai@example.com"] },
    });
  });
});
