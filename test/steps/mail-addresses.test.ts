/** One rule for mail addresses: what one place accepts, every place accepts. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { chatConfig } from "../../schemas/chat-config.ts";
import { Config } from "../../schemas/config.ts";
import { NewEmail } from "../../schemas/user.ts";
import { identityOf } from "../../src/auth/oidc.ts";
import { createAccountMailer } from "../../src/connections/mail/account-mailer.ts";
import { createMailer } from "../../src/connections/mail/index.ts";
import { valueIssues } from "../../src/core/json-schema/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { flatAssignees } from "../../src/steps/approval-fields.ts";
import { whoDecidesIssues } from "../../src/steps/approval-issues.ts";
import { emailStep } from "../../src/steps/email.ts";
import { recipientIssues } from "../../src/steps/recipient-issues.ts";
import { callOf } from "../support/call-context.ts";
import { checkStep } from "../support/step-check.ts";

/** The domains in another form than most of the addresses. */
const allowed = ["EXAMPLE.com", "bücher.example", "xn--e1afmkfd.xn--p1ai", "例子.广告"];

const basic = { smtp_user: "m@example.com", smtp_password_var: "P", smtp_server: "127.0.0.1", smtp_port: 1 };
const config = Config.parse({ authentication: { basic }, mail: { allowed_domains: allowed } });
const secrets = fixedSecrets({ P: "p" });
const mailer = createMailer(config, secrets);
const connections = { mailer };

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
const isRefused = (message: string): boolean => message.includes("must be a mail address");
const people = (address: string) =>
  chatConfig(z.string(), () => z.string()).safeParse({
    name: "c",
    type: "slack",
    channel: "C1",
    bot_token_var: "B",
    signing_secret_var: "S",
    people: { U024BE7LH: address },
  }).success;

/** Whether each place accepts an address. */
const PLACES: Readonly<Record<string, (address: string) => boolean | Promise<boolean>>> = {
  "the check of an email step": async (to) =>
    (await checkStep(emailStep, { to, cc: [to], subject: "s", text: "t" }, { connections })).issues.length ===
    0,
  "must_succeed.mail": (address) =>
    recipientIssues("mail", { mail: [address] } as never, mailer).length === 0,
  // Nothing listens there, so an accepted mail fails later.
  "the mailer": async (to) =>
    !isRefused(
      await messageOf(mailer.send({ to: [to], subject: "s", text: "t", idempotencyKey: "k" }, callOf())),
    ),
  "account mails": async (to) =>
    !isRefused(
      await messageOf(createAccountMailer(config, secrets).send({ to, subject: "s", text: "t", html: "h" })),
    ),
  "assignees in a definition": async (assignee) =>
    (
      await whoDecidesIssues(
        { id: "a", type: "approval", assignees: [assignee] },
        { connections: connections as never, hasConnections: true },
      )
    ).length === 0,
  "assignees of a run": (assignee) => {
    try {
      return flatAssignees([assignee]).length === 1;
    } catch {
      return false;
    }
  },
  "an input with format: email": (address) =>
    valueIssues({ type: "string", format: "email" }, address).length === 0,
  "users, members and substitutes": (address) => NewEmail.safeParse(address).success,
  "the address of an identity provider": (email) =>
    identityOf("https://id.example.com", "1", [{ email, email_verified: true }], {
      groupsClaim: "groups",
      trustEmails: false,
    }).email !== null,
  "the sender in the configuration": (from) => Config.safeParse({ mail: { from } }).success,
  "the members of a chat": people,
};

const VALID = [
  "ada@example.com",
  "r&d@example.com",
  "a/b@example.com",
  "o'neill+x@example.com",
  "ada@bücher.example",
  "ada@xn--bcher-kva.example",
  "ada@пример.рф",
  "ada@XN--E1AFMKFD.XN--P1AI",
  "дарья@пример.рф",
  "用户@例子.广告",
];
const INVALID = [
  "ada",
  "ada@example",
  "Ada <ada@example.com>",
  "ada@example.com, bob@example.com",
  "ada@example.com\r\nBcc: eve@example.com",
  '"ada lovelace"@example.com',
  // Libraries sent to another domain than the last one: github.com/nodemailer/nodemailer/issues/1766, wneessen/go-mail/issues/495.
  '"eve@evil.test x"@example.com',
  '"eve@evil.test> ORCPT=eve@evil.test"@example.com',
  "eve@evil.test @example.com",
  "a@[x@evil.test]",
  "a..b@example.com",
  "ada@[192.0.2.1]",
];
/** Earlier releases accepted it, so that a user may have it, who signs in by an identity provider. */
const TOO_LONG = `${"a".repeat(65)}@example.com`;
const PROVIDER = "the address of an identity provider";

describe.each(Object.entries(PLACES))("%s", (_place, accepts) => {
  it.each(VALID)("accepts %s", async (address) => {
    expect(await accepts(address)).toBe(true);
  });

  it.each(INVALID)("refuses %j", async (address) => {
    expect(await accepts(address)).toBe(false);
  });
});

describe("an address with too long a name of its mailbox", () => {
  it.each(Object.entries(PLACES).filter(([place]) => place !== PROVIDER))(
    "is refused by %s",
    async (_place, accepts) => {
      expect(await accepts(TOO_LONG)).toBe(false);
    },
  );

  it("signs in if an earlier release accepted it", async () => {
    expect(await PLACES[PROVIDER]!(TOO_LONG)).toBe(true);
  });
});

describe("an address that is refused", () => {
  it("is answered with the part that is wrong and a fix, by a check and by an input", async () => {
    const to = "Ada <ada@example.com>";
    const expected = {
      code: "wrong_format",
      message: "must be a mail address such as ada@example.com, but it has angle brackets",
      did_you_mean: "ada@example.com",
      fix: "Write ada@example.com.",
    };
    const { issues } = await checkStep(emailStep, { to, subject: "s", text: "t" }, { connections });
    expect(issues).toEqual([{ path: ["to"], ...expected }]);
    expect(valueIssues({ type: "string", format: "email" }, to)).toMatchObject([expected]);
  });

  it("is reported once among assignees, also where its @ has another width", async () => {
    for (const assignee of ["ada@example", "ada\uFF20example.com"])
      expect(
        await whoDecidesIssues(
          { id: "a", type: "approval", assignees: [assignee] },
          { connections: connections as never, hasConnections: true },
        ),
      ).toMatchObject([{ path: ["assignees", 0], code: "wrong_format" }]);
  });

  it("is named by its ASCII form where its domain is not allowed", async () => {
    const { issues } = await checkStep(
      emailStep,
      { to: "ada@straße.example", subject: "s", text: "t" },
      { connections },
    );
    expect(issues).toMatchObject([
      {
        code: "mail_refused",
        message: "must be an address in an allowed domain, got the domain xn--strae-oqa.example",
      },
    ]);
  });
});

describe("flatAssignees", () => {
  it("takes forms of one address for one person", () => {
    expect(flatAssignees(["Ada@bücher.example", "ada@XN--bcher-kva.example", "Admin"])).toEqual([
      "Ada@bücher.example",
      "admin",
    ]);
  });
});
