import { describe, expect, test } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createMailer } from "../../src/connections/mail/index.ts";
import type { Mail } from "../../src/core/connections.ts";
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
    for (const name of ["invoice\u202Efdp.exe", "a\u200B.csv", "a\u009B.csv", "a\uFE0F.csv"])
      await expect(attach({ name })).rejects.toThrow("hidden characters");
    await expect(attach({ name: "../a.csv" })).rejects.toThrow("must be the name of a file");
    await expect(attach({ content_type: "text/csv\r\nX: y" })).rejects.toThrow("must be a media type");
    await expect(attach({ path: "/etc/passwd" })).rejects.toThrow("path");
    await expect(attach({ content: [1] })).rejects.toThrow("string");
  });
});

/** What an email step gives to the mailer. */
async function mailOf(fields: object): Promise<Mail> {
  const sent: Mail[] = [];
  const mailer = {
    ...world().connections.mailer,
    send: async (mail: Mail) => {
      sent.push(mail);
      return { message_id: "<1@example.com>", accepted: [...mail.to] };
    },
  };
  await runStep(emailStep, { ...MAIL, ...fields }, { connections: { mailer } });
  return sent[0]!;
}

const ROWS = [
  { name: "Ada", total: 12.5, note: "=1+1" },
  { name: "Bob <b>", total: 3, note: null },
];

describe("the bodies of an email step", () => {
  test("are the text alone without format and tables", async () => {
    expect(await mailOf({})).toMatchObject({ text: "A text." });
    expect((await mailOf({})).html).toBeUndefined();
  });

  test("are made of Markdown, with equal content, and without anything that loads or hides", async () => {
    const text = [
      "# Hello & <you>",
      "A **bold** and *soft* `a<b` [site](https://example.com/x?a=1&b=2).",
      "- one\n- two\n  1. deep",
      "> quoted",
      "| a | b |\n|---|--:|\n| x | 1 |",
      "```\ncode <x>\n```",
      '<img src="https://evil.test/p.png"><script>alert(1)</script>',
      "![picture](https://evil.test/p.png) [bad](javascript:alert(1)) <b onclick=x>inline</b>",
    ].join("\n\n");
    const mail = await mailOf({ text, format: "markdown" });
    expect(mail.text).toContain("Hello & <you>\n=============");
    expect(mail.text).toContain("A bold and soft a<b site (https://example.com/x?a=1&b=2).");
    expect(mail.text).toContain("- one\n- two\n  1. deep");
    expect(mail.text).toContain("> quoted");
    expect(mail.html).toContain("<strong>bold</strong>");
    expect(mail.html).toContain('<a class="text" href="https://example.com/x?a=1&amp;b=2"');
    expect(mail.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(mail.html).not.toMatch(/<img|<script|<b |href="javascript| src="/);
    for (const part of ["bad", "javascript:alert(1)", "evil.test/p.png", "code"])
      for (const body of [mail.text, mail.html!]) expect(body).toContain(part);
  });

  test("have tables where their names stand, aligned in the text, with a note of what is left out", async () => {
    const tables = { orders: { rows: ROWS, title: "Orders", columns: ["name", "total"], max_rows: 1 } };
    const { text, html } = await mailOf({ text: "Before\n\n[[orders]]\n\nAfter", tables });
    expect(text).toBe(
      "Before\n\nOrders\n\nname  total\n----  -----\nAda    12.5\n\nLeft out: 1 of 2 rows.\n\nAfter\n",
    );
    expect(html).toContain("<caption");
    expect(html).toContain("Left out: 1 of 2 rows.");
    const last = await mailOf({ text: "Before", tables: { orders: { rows: ROWS } } });
    expect(last.html).toContain("Bob &lt;b&gt;");
    expect(last.text.trimEnd().endsWith("Bob <b>      3")).toBe(true);
    const wide = [Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`c${index}`, index]))];
    expect((await mailOf({ tables: { wide: { rows: wide } } })).text).toContain(
      "Left out: 5 of 25 columns (c20, c21",
    );
    expect((await mailOf({ tables: { none: { rows: [] } } })).text).toContain("No rows.");
  });

  test("are refused with html of one's own, and the checker knows places without a table", async () => {
    const made = { ...MAIL, format: "markdown", html: "<p>", text: "[[orders]]" };
    expect((await checkStep(emailStep, made, world())).issues).toMatchObject([
      { path: ["html"], code: "not_allowed" },
      { path: ["text"], code: "not_found", severity: "warning" },
    ]);
    await expect(mailOf({ format: "markdown", html: "<p>" })).rejects.toThrow("html");
    await expect(mailOf({ format: "markdown", text: ">".repeat(19_000) })).rejects.toThrow(
      "nested too deeply",
    );
    await expect(mailOf({ format: "markdown", text: "x".repeat(20_001) })).rejects.toThrow("at most 20000");
  });
});

describe("the attachments of an email step", () => {
  test("are CSV of rows, in which no text is a formula", async () => {
    const rows = [
      ...ROWS,
      { name: '+cmd|" /C calc"!A0', total: -5, note: "-5" },
      { name: "@x", total: 1e21, note: "\t=2" },
      { name: "a,b\r\nc", total: null, note: "＝1" },
    ];
    const { attachments } = await mailOf({ attachments: [{ name: "orders.csv", rows }] });
    expect(attachments).toEqual([
      {
        name: "orders.csv",
        content_type: "text/csv",
        content:
          "\uFEFFname,total,note\r\nAda,12.5,'=1+1\r\nBob <b>,3,\r\n" +
          '"\'+cmd|"" /C calc""!A0",-5,-5\r\n\'@x,1e+21,\'\t\'=2\r\n"a,b\r\nc",,\'＝1\r\n',
      },
    ]);
    const numbers = [{ id: "-9007199254740993" }, { id: "" }, { id: "01067" }];
    const long = await mailOf({ attachments: [{ name: "n.csv", rows: numbers }] });
    expect(long.attachments![0]!.content).toBe('\uFEFFid\r\n-9007199254740993\r\n""\r\n01067\r\n');
    const none = await mailOf({
      attachments: [{ name: "n.csv", rows: [{ a: 1 }], columns: ["__proto__", "a"] }],
    });
    expect(none.attachments![0]!.content).toBe("\uFEFF__proto__,a\r\n,1\r\n");
    const some = await mailOf({ attachments: [{ name: "o.csv", rows: ROWS, columns: ["total"] }] });
    expect(some.attachments![0]!.content).toBe("\uFEFFtotal\r\n12.5\r\n3\r\n");
  });

  test("are CSV with a separator of their own, and exact for a program", async () => {
    const rows = [{ name: "=1+1", note: "a;b" }];
    const contentOf = async (csv: object) =>
      (await mailOf({ attachments: [{ name: "n.csv", rows, csv }] })).attachments![0]!.content;
    expect(await contentOf({ for: "program" })).toBe("name,note\r\n=1+1,a;b\r\n");
    expect(await contentOf({ separator: ";" })).toBe('\uFEFFname;note\r\n\'=1+1;"a;b"\r\n');
    expect(await contentOf({ for: "program", separator: "\t" })).toBe("name\tnote\r\n=1+1\ta;b\r\n");
    await expect(contentOf({ for: "excel" })).rejects.toThrow("Invalid option");
    await expect(contentOf({ delimiter: ";" })).rejects.toThrow("delimiter");
  });

  test("are refused with half a surrogate pair, which UTF-8 can't write, as are tables", async () => {
    for (const csv of [{}, { for: "program" }])
      for (const row of [{ note: "a\ud800" }, { note: 1, "b\udfff": 2 }, { "b\udfff": 2 }])
        await expect(
          mailOf({ attachments: [{ name: "o.csv", rows: [{ note: "a" }, row], csv }] }),
        ).rejects.toMatchObject({
          code: "input_invalid",
          message: expect.stringMatching(/column.* "o\.csv" contains half a surrogate pair/),
        });
    for (const row of ["a\ud800", { "a\ud800": 1 }])
      await expect(mailOf({ tables: { orders: { rows: [row] } } })).rejects.toMatchObject({
        code: "input_invalid",
        message: expect.stringContaining('table "orders" contains half a surrogate pair'),
      });
    const rows = [{ note: "\u{1F600}", nested: { a: "\ud800" } }];
    const { attachments } = await mailOf({ attachments: [{ name: "o.csv", rows, csv: { for: "program" } }] });
    expect(attachments![0]!.content).toBe('note,nested\r\n\u{1F600},"{""a"":""\\ud800""}"\r\n');
  });

  test("are JSON of values, and have one content", async () => {
    const { attachments } = await mailOf({ attachments: [{ name: "o.json", json: { a: [1] } }] });
    expect(attachments).toEqual([
      { name: "o.json", content_type: "application/json", content: '{\n  "a": [\n    1\n  ]\n}\n' },
    ]);
    await expect(mailOf({ attachments: [{ name: "o", json: 1, content: "x" }] })).rejects.toThrow(
      "exactly one",
    );
    await expect(mailOf({ attachments: [{ name: "o" }] })).rejects.toThrow("exactly one");
  });
});
