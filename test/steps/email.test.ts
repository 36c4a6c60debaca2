import { describe, expect, test } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createMailer } from "../../src/connections/mail/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { emailStep } from "../../src/steps/email.ts";
import { checkStep, runStep } from "../support/step-check.ts";

const basic = {
  smtp_user: "m@example.com",
  smtp_password_var: "MAIL_PASSWORD",
  smtp_server: "127.0.0.1",
  smtp_port: 1,
};
const config = Config.parse({ authentication: { basic }, mail: { allowed_domains: ["example.com"] } });
const world = (env = { MAIL_PASSWORD: "p" } as Record<string, string>) => ({
  connections: { mailer: createMailer(config, fixedSecrets(env)) },
});
const MAIL = { to: "ada@example.com", subject: "Hello", text: "A text." };

const attach = (attachment: object) =>
  runStep(emailStep, { ...MAIL, attachments: [{ name: "a.csv", content: "x", ...attachment }] }, world());

describe("an email step", () => {
  test("is checked for its recipients and for a usable mail server", async () => {
    expect((await checkStep(emailStep, MAIL, world())).issues).toEqual([]);
    const to = ["ada@example.com", "eve@evil.test", "${{ inputs.to }}", "nobody"];
    expect((await checkStep(emailStep, { ...MAIL, to, cc: "eve@evil.test" }, world())).issues).toMatchObject([
      { path: ["to", 1], code: "mail_refused", allowed: ["example.com"] },
      { path: ["to", 3], code: "wrong_format" },
      { path: ["cc"], code: "mail_refused" },
    ]);
    expect((await checkStep(emailStep, MAIL, world({}))).issues).toMatchObject([
      { code: "unusable", message: expect.stringContaining("MAIL_PASSWORD") },
    ]);
  });

  test("fails with the error of the mailer", async () => {
    await expect(runStep(emailStep, { ...MAIL, to: ["eve@evil.test"] }, world())).rejects.toMatchObject({
      code: "mail_refused",
    });
  });

  test("requires a recipient and a subject", async () => {
    await expect(runStep(emailStep, { ...MAIL, to: [] }, world())).rejects.toThrow("Too small");
    await expect(runStep(emailStep, { ...MAIL, subject: " " }, world())).rejects.toThrow("subject");
  });

  test("refuses attachments whose name or type could not be a header", async () => {
    await expect(attach({ name: "a\r\nBcc: eve@evil.test" })).rejects.toThrow("must be the name of a file");
    await expect(attach({ name: "../a.csv" })).rejects.toThrow("must be the name of a file");
    await expect(attach({ content_type: "text/csv\r\nX: y" })).rejects.toThrow("must be a media type");
    await expect(attach({ path: "/etc/passwd" })).rejects.toThrow("path");
    await expect(attach({ content: [1] })).rejects.toThrow("string");
  });
});
