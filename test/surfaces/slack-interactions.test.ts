import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/core/clock.ts";
import { openDecisions, PAYMENT } from "../support/decisions.ts";
import { eventually, untilPassing } from "../support/eventually.ts";
import { interact, slackPeer } from "../support/slack-peer.ts";
import { addUser, signedInUser } from "../support/users.ts";
import { apiClient } from "../support/http.ts";

const MEMBERS = {
  U111: "cfo@example.com",
  U222: "eve@example.com",
  U333: { team_id: "T9", profile: { email: "cfo@example.com" } },
  U444: { deleted: true, profile: { email: "cfo@example.com" } },
};

/** A pending approval that was posted to a channel. */
async function posted(fields: object = {}, chat: object = {}) {
  const slack = await slackPeer(MEMBERS);
  const [ask, ...rest] = PAYMENT.steps;
  const opened = await openDecisions({
    definition: {
      ...PAYMENT,
      steps: [{ ...ask, decide_by_link: false, chat: ["finance"], ...fields }, ...rest],
    },
    config: {
      chats: [{ ...slack.chat, ...chat }],
      http: { allowed_hosts: [new URL(slack.origin).host] },
    },
    env: slack.env,
  });
  await addUser(opened.instance, { email: "cfo@example.com", role: "editor" });
  await addUser(opened.instance, { email: "eve@example.com", role: "editor" });
  const ids = await opened.ask();
  const status = async (): Promise<string> =>
    (await opened.call("GET", `/approvals/${ids.approval}`)).body.status as string;
  return { ...opened, ...ids, slack, status };
}

describe("an approval in Slack", () => {
  it("is posted with the evidence and the plan, and escapes what Slack would read", async () => {
    const { slack, approval } = await posted();
    const [message] = slack.messages;
    expect(message).toMatchObject({ channel: "C1", text: "Approval needed: payment" });
    const text = JSON.stringify(message!.blocks);
    for (const part of ["Pay 1250 to &lt;Acme&gt; &amp; Co?", "A-1", "pay (set)"])
      expect(text).toContain(part);
    const buttons = message!.blocks.at(-1)!.elements!;
    expect(buttons.map(({ action_id: id }) => id)).toEqual([
      "millrace_approve",
      "millrace_decline",
      "millrace_open",
    ]);
    expect(buttons[2]!.url).toContain(`/ui/approvals/${approval}`);
  });

  it("is decided by the member whose account may decide, and the message shows the outcome", async () => {
    const { slack, url, proceed, run, approval, call, instance } = await posted();
    expect(await interact(url, slack.press("U111", "approve"))).toBe(200);
    await proceed();
    expect((await call("GET", `/runs/${run}`)).body).toMatchObject({
      status: "succeeded",
      output: { approved: true, by: "cfo@example.com" },
    });
    const update = await eventually(() => slack.updates[0], "the update");
    expect(update).toMatchObject({ channel: "C1", text: "Approved by cfo@example.com: payment" });
    expect(JSON.stringify(update.blocks)).not.toContain("millrace_approve");
    expect((await call("GET", `/approvals/${approval}`)).body.decided_via).toBe("slack");
    const { cookie } = await signedInUser(instance, { email: "boss@example.com", role: "admin" });
    const { body } = await apiClient(url)("GET", `/audit-log?search=${approval}`, undefined, {
      Cookie: cookie,
    });
    expect((body.items ?? body)[0]).toMatchObject({
      operation: "decide_approval",
      owner: "cfo@example.com",
      key_name: "Slack",
      details: { via: "slack", slack_team: "T1", slack_member: "U111" },
    });
  });

  it("is decided by nobody else in the channel, who learns why alone", async () => {
    const { slack, url, status } = await posted();
    for (const member of ["U222", "U333", "U444"])
      expect(await interact(url, slack.press(member, "approve"))).toBe(200);
    await untilPassing(() => expect(slack.whispers).toHaveLength(3));
    expect(slack.whispers.find((text) => text.includes("is assigned to cfo@example.com"))).toBeDefined();
    expect(slack.whispers.filter((text) => text.startsWith("You can't decide this"))).toHaveLength(2);
    expect(await status()).toBe("pending");
  });

  it("is not decided by a member of another company, also where the interaction comes from their workspace", async () => {
    const { slack, url, status } = await posted();
    const team = { id: "T9", domain: "other" };
    const press = slack.press("U333", "approve", slack.messages[0], {
      team,
      user: { id: "U333", team_id: "T9" },
    });
    expect(await interact(url, press)).toBe(200);
    await untilPassing(() => expect(slack.whispers).toHaveLength(1));
    expect(slack.whispers[0]).toContain("your member is no account that may decide here");
    expect(await status()).toBe("pending");
  });

  it("takes the address of a member from the configuration first, and asks Slack once for others", async () => {
    const { slack, url, status } = await posted({}, { people: { U777: "cfo@example.com" } });
    for (let times = 0; times < 3; times += 1) await interact(url, slack.press("U222", "approve"));
    await untilPassing(() => expect(slack.whispers).toHaveLength(3));
    expect(slack.lookUps).toEqual(["U222"]);
    await interact(url, slack.press("U777", "decline"));
    await untilPassing(async () => expect(await status()).toBe("declined"));
    expect(slack.lookUps).toEqual(["U222"]);
  });

  it("refuses what is not signed by the app, too old, changed or without a signature", async () => {
    const { slack, url, status } = await posted();
    const body = slack.press("U111", "approve");
    expect(await interact(url, body, { secret: "another" })).toBe(401);
    expect(await interact(url, body, { at: Date.now() - 6 * MINUTE })).toBe(401);
    expect(await interact(url, body, { at: Date.now() + 6 * MINUTE })).toBe(401);
    expect(await interact(url, body, { headers: { "X-Slack-Signature": "v0=00" } })).toBe(401);
    const unsigned = await fetch(`${url}/interactions/slack`, { method: "POST", body });
    expect(unsigned.status).toBe(401);
    expect((await fetch(`${url}/interactions/slack`)).status).toBe(405);
    expect(await status()).toBe("pending");
  });

  it("is not read of a network that has sent too many", async () => {
    const { slack, url } = await posted();
    const send = async (body: string): Promise<number> =>
      (await fetch(`${url}/interactions/slack`, { method: "POST", body })).status;
    const tooLarge = "x".repeat(257 * 1024);
    expect(await send(tooLarge)).toBe(413);
    for (let batch = 0; batch < 24; batch += 1)
      await Promise.all(Array.from({ length: 25 }, () => send("forged")));
    expect(await send(tooLarge)).toBe(429);
    expect(await interact(url, slack.press("U111", "approve"))).toBe(429);
  });

  it("is decided once by an interaction that is replayed, and only on the plan of the message", async () => {
    const { slack, url, status } = await posted();
    const other = slack.press("U111", "approve", slack.messages[0], {
      actions: [{ action_id: "millrace_approve", value: "apr_none another" }],
    });
    expect(await interact(url, other)).toBe(200);
    const [button] = slack.messages[0]!.blocks.at(-1)!.elements!;
    const stale = slack.press("U111", "approve", slack.messages[0], {
      actions: [{ action_id: "millrace_approve", value: `${button!.value!.split(" ")[0]} stale` }],
    });
    expect(await interact(url, stale)).toBe(200);
    await untilPassing(() => expect(slack.whispers).toHaveLength(2));
    expect(await status()).toBe("pending");
    const body = slack.press("U111", "decline");
    expect(await Promise.all([1, 2, 3].map(() => interact(url, body)))).toEqual([200, 200, 200]);
    await untilPassing(() => expect(slack.whispers).toHaveLength(4));
    expect(await status()).toBe("declined");
  });

  it("shows the outcome when it is cancelled or decided elsewhere", async () => {
    const { slack, call, run, proceed } = await posted();
    await call("POST", `/runs/${run}/cancel`);
    await proceed();
    expect((await eventually(() => slack.updates[0], "the update")).text).toBe("Cancelled: payment");
  });

  it("offers no approval where a form must be filled in", async () => {
    const form = { type: "object", properties: { budget: { type: "number" } }, required: ["budget"] };
    const { slack } = await posted({ form });
    expect(slack.messages[0]!.blocks.at(-1)!.elements!.map(({ action_id: id }) => id)).toEqual([
      "millrace_decline",
      "millrace_open",
    ]);
  });
});
