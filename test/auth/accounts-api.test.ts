import { describe, expect, it } from "vitest";
import { accountsApi } from "../../src/auth/accounts-api.ts";
import { digestOf, isKeyValue } from "../../src/auth/key-format.ts";
import { HOUR } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { AccountMail } from "../../src/core/mail-port.ts";
import { fakeClock } from "../support/clock.ts";

const SENDER = {
  caller: { owner: "ann@example.com", keyName: "browser", lineage: "usr_1" },
  project: "default",
};

/** @param held why a mail must wait, by address */
function setUp({
  usable: configured = true,
  failure,
  held = {},
}: { usable?: boolean; failure?: Error; held?: Readonly<Record<string, string>> } = {}) {
  const counted: unknown[] = [];

  const sent: AccountMail[] = [];
  const reported: unknown[] = [];
  const api = accountsApi({
    mode: "built-in",
    mailer: {
      configured,
      async send(mail) {
        if (failure !== undefined) throw failure;
        sent.push(mail);
      },
    },
    async countMails(sender, addresses) {
      counted.push([sender, addresses]);
      const message = held[addresses[0]!];
      return message === undefined ? undefined : { message, until: 0 };
    },
    baseUrl: () => "https://millrace.example.com/",
    clock: fakeClock(),
    idleMs: 24 * HOUR,
    report: (error) => reported.push(error),
  });
  return { api, sent, reported, counted };
}

const LINK = "https://millrace.example.com/ui/link#abc";

describe("the links, keys and mails of accounts", () => {
  it("sends a link by mail", async () => {
    const { api, sent } = setUp();
    expect(api.mailEnabled).toBe(true);
    expect(await api.sendLink("invitation", "ada@example.com", "abc", "ann@example.com", SENDER)).toEqual({
      sent: true,
      link: LINK,
    });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ to: "ada@example.com", text: expect.stringContaining(LINK) });
    expect(sent[0]!.subject).toContain("on millrace.example.com");
  });

  it("returns the link without sending it if no mail is configured", async () => {
    const { api, sent, reported } = setUp({ usable: false });
    expect(api.mailEnabled).toBe(false);
    expect(await api.sendLink("reset", "ada@example.com", "abc", "ann@example.com", SENDER)).toEqual({
      sent: false,
      link: LINK,
    });
    expect([sent, reported]).toEqual([[], []]);
  });

  it("returns the link and reports the error if it could not be sent", async () => {
    const failure = new AppError("connection_failed", "The mail server is down.");
    const { api, reported } = setUp({ failure });
    expect(await api.sendLink("invitation", "ada@example.com", "abc", "ann@example.com", SENDER)).toEqual({
      sent: false,
      link: LINK,
    });
    expect(reported).toEqual([failure]);
  });

  it("creates keys and links whose records do not contain the value", () => {
    const { api } = setUp();
    const key = api.newKey({
      name: "ci",
      owner: "ann@example.com",
      scopes: ["run"],
      projects: ["default"],
      limits: null,
      expiresAt: null,
    });
    expect(isKeyValue(key.value)).toBe(true);
    expect(key.record).toMatchObject({
      owner: "ann@example.com",
      scopes: ["read", "run"],
      digest: digestOf(key.value),
      lineage: key.record.id,
    });
    expect(JSON.stringify(key.record)).not.toContain(key.value);
    expect(api.newKey({ ...key.record }, "key_old").record.lineage).toBe("key_old");
    const { token, record } = api.newLink("reset", "usr_1");
    expect(record).toMatchObject({ kind: "reset", userId: "usr_1", digest: digestOf(token) });
  });

  it("sends a notice to each address, also when one mail fails, and none if no mail is configured", async () => {
    const notice = {
      subject: "Approval needed",
      text: ["Ann asks for your approval."],
      details: "amount: 7",
      button: "Open",
      url: "https://millrace.example.com/ui/approvals",
    };
    const { api, sent } = setUp();
    await api.notify(["ada@example.com", "bob@example.com"], notice, SENDER);
    expect(sent).toMatchObject([
      { to: "ada@example.com", subject: "Approval needed", text: expect.stringContaining("amount: 7") },
      { to: "bob@example.com", subject: "Approval needed" },
    ]);
    const failure = new Error("The mail server is down.");
    const failing = setUp({ failure });
    await failing.api.notify(["ada@example.com", "bob@example.com"], notice, SENDER);
    expect(failing.reported).toEqual([failure, failure]);
    const without = setUp({ usable: false, failure });
    await without.api.notify(["ada@example.com"], notice, SENDER);
    expect(without.reported).toEqual([]);
  });

  it("counts mails for who causes them, and sends none that would exceed a limit", async () => {
    const { api, sent, reported, counted } = setUp({ held: { "bob@example.com": "Too many mails." } });
    expect(await api.sendLink("invitation", "bob@example.com", "abc", "ann@example.com", SENDER)).toEqual({
      sent: false,
      link: LINK,
    });
    const notice = { subject: "Review", text: [], details: "", button: "Open", url: LINK };
    await api.notify(["bob@example.com", "ada@example.com"], notice, SENDER);
    expect(sent.map(({ to }) => to)).toEqual(["ada@example.com"]);
    expect(reported).toMatchObject([
      { code: "rate_limited", message: "Too many mails." },
      { code: "rate_limited", message: "Too many mails." },
    ]);
    expect(counted).toEqual([
      [SENDER, ["bob@example.com"]],
      [SENDER, ["bob@example.com"]],
      [SENDER, ["ada@example.com"]],
    ]);
    // Nobody has signed in who asks for a new password: those mails are throttled by account and address.
    expect(await api.sendLink("reset", "bob@example.com", "abc", "somebody", null)).toMatchObject({
      sent: true,
    });
  });

  it("returns the address of a page", async () => {
    expect(await setUp().api.pageUrl("/approvals")).toBe("https://millrace.example.com/ui/approvals");
  });

  it("ends sessions that were not used for the idle time", () => {
    expect(setUp().api.idleSince()).toBe("2026-11-20T08:00:00.000Z");
  });
});
