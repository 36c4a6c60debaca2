import { describe, expect, it } from "vitest";
import { accountMail, type MailKind, noticeMail } from "../../src/auth/mails.ts";

const FACTS = {
  link: "https://millrace.example.com/ui/link#abc",
  by: "ann@example.com",
  instance: "millrace.example.com",
};

describe("a mail about an account", () => {
  it.each<[MailKind, string]>([
    ["invitation", "7 days"],
    ["verification", "24 hours"],
    ["reset", "30 minutes"],
  ])(
    "(%s) names the sender, the site, the lifetime (%s) and the alternative, as text and as HTML",
    (kind, life) => {
      const { subject, text, html } = accountMail(kind, FACTS);
      expect(subject).toContain("millrace.example.com");
      for (const part of [text, html]) {
        expect(part).toContain(FACTS.link);
        expect(part).toContain(FACTS.by);
        expect(part).toContain(`works once, for ${life}.`);
        expect(part).toMatch(/delete this mail/);
      }
      expect(html).toContain(`<a href="${FACTS.link}"`);
      // A blank line or the end must follow the link, because mail programs include adjacent text in it.
      expect(text).toContain(`\n\n${FACTS.link}\n\n`);
    },
  );

  it("escapes HTML in all values", () => {
    const evil = `<img src=x onerror="alert('1')">&amp;`;
    for (const kind of ["invitation", "verification", "reset"] as const) {
      const { html } = accountMail(kind, {
        link: `https://a.test/"><script>`,
        by: evil,
        instance: `</title><b>`,
      });
      expect(html).not.toMatch(/<img|<script|<b>|"><s/);
      expect(html.match(/<\/title>/g)).toHaveLength(1);
      expect(html).toContain("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;");
    }
  });

  it("loads no external resources", () => {
    for (const kind of ["invitation", "verification", "reset"] as const)
      expect(accountMail(kind, FACTS).html).not.toMatch(/src=|url\(|<link|@import|<table/);
  });
});

describe("a mail that asks to open a page", () => {
  it("has its text, its address and its details, as text and as HTML, and escapes all values", () => {
    const url = "https://millrace.example.com/ui/approvals";
    const { subject, text, html } = noticeMail({
      subject: "Approve <b>?",
      text: ["Ann asks.", "Decide today."],
      details: "amount: 7 & more",
      button: "Open <it>",
      url,
    });
    expect(subject).toBe("Approve <b>?");
    expect(text).toBe(`Ann asks.\n\nDecide today.\n\nOpen <it>:\n\n${url}\n\namount: 7 & more\n`);
    for (const part of [
      ">Ann asks.<",
      ">Decide today.<",
      `href="${url}"`,
      ">Open &lt;it&gt;<",
      ">amount: 7 &amp; more<",
    ])
      expect(html).toContain(part);
    expect(html).toContain("<title>Approve &lt;b&gt;?</title>");
    expect(html).not.toMatch(/<b>|<it>/);
  });
});
