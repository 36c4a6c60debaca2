import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { maskKeys } from "../../src/commands/log-redaction.ts";
import { newLinkToken } from "../../src/auth/links.ts";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import { approvalLinkWriter } from "../../src/store/approval-delivery.ts";
import { userWriter } from "../../src/store/users.ts";
import {
  decisionBrowser,
  digestIn,
  MAIL_ENV,
  mailConfig,
  openDecisions,
  PAYMENT,
} from "../support/decisions.ts";
import { apiClient } from "../support/http.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import { addUser, signedInUser } from "../support/users.ts";

describe("the mail that asks for a decision", () => {
  it("has the evidence, the plan and the link, as HTML and as text, with everything escaped", async () => {
    const { ask, mail, link } = await openDecisions();
    const { approval, run } = await ask();
    const { subject, text, html, to } = await mail(0);
    expect(subject).toBe("Approval needed: payment");
    expect([to].flat().map((one) => one?.text)).toEqual(["cfo@example.com"]);
    for (const part of [text!, html as string]) {
      for (const expected of [
        "1250",
        "A-1",
        "1200",
        "pay (set)",
        approval,
        run,
        await link(),
        "2d".slice(0, 0),
      ])
        expect(part).toContain(expected);
    }
    expect(text).toContain("Pay 1250 to <Acme> & Co?");
    expect(html).toContain("Pay 1250 to &lt;Acme&gt; &amp; Co?");
    expect(html).not.toMatch(/<img|src=|url\(|@import|<script/);
  });

  it("takes no header from the name of the workflow, the message or the evidence", async () => {
    const lines = "Pay?\r\nBcc: eve@example.com\r\nSubject: Nothing\r\n\r\n<b>mine</b>";
    const [ask, ...rest] = PAYMENT.steps;
    const fields = { message: lines, evidence: { [`amount\r\nCc: eve@example.com`]: lines } };
    const {
      ask: start,
      smtp,
      mail,
      call,
    } = await openDecisions({
      definition: { ...PAYMENT, steps: [{ ...ask, ...fields }, ...rest] },
    });
    // The title of a mail is the id of the workflow, which is made of its name; the name itself must be one line.
    const named = await call("POST", "/workflows", {
      name: "Payment\r\nBcc: eve@example.com",
      definition: PAYMENT,
    });
    expect(named.status).toBe(400);
    await start();
    const { headerLines, subject, bcc, cc, to } = await mail(0);
    expect(smtp.received).toHaveLength(1);
    expect(subject).toBe("Approval needed: payment");
    expect([to].flat().map((one) => one?.text)).toEqual(["cfo@example.com"]);
    expect([bcc, cc]).toEqual([undefined, undefined]);
    expect(headerLines.filter(({ line }) => line.includes("eve@"))).toEqual([]);
    expect(headerLines.filter(({ key }) => key === "subject")).toHaveLength(1);
  });
});

describe("the page of a link", () => {
  it("shows the evidence and decides with a POST, without an account", async () => {
    const { ask, link, browser, proceed, call } = await openDecisions();
    const { run, approval } = await ask();
    const page = await browser("GET", await link());
    expect(page.status).toBe(200);
    expect(page.html).toContain("Pay 1250 to &lt;Acme&gt; &amp; Co?");
    expect(page.html).toContain("A-2");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.html).not.toMatch(/<script|style="|javascript:/);
    const fields = { decision: "approve", plan_digest: digestIn(page.html), comment: "Right." };
    const done = await browser("POST", await link(), fields);
    expect(done.status).toBe(200);
    expect(done.html).toContain("Approved");
    await proceed();
    const { body: found } = await call("GET", `/runs/${run}`);
    expect(found).toMatchObject({
      status: "succeeded",
      output: { approved: true, by: "cfo@example.com", comment: "Right." },
    });
    expect((await call("GET", `/approvals/${approval}`)).body).toMatchObject({
      status: "approved",
      decided_via: "link",
    });
  });
});

/** A pending approval with its link and the form of its page. */
async function asked(options: Parameters<typeof openDecisions>[0] = {}) {
  const opened = await openDecisions(options);
  const ids = await opened.ask();
  const path = await opened.link();
  const page = await opened.browser("GET", path);
  const form = { decision: "approve", plan_digest: digestIn(page.html) };
  const status = async (): Promise<string> =>
    (await opened.call("GET", `/approvals/${ids.approval}`)).body.status as string;
  return { ...opened, ...ids, path, form, status };
}

describe("a link that decides", () => {
  it("decides nothing when programs open it, with GET, HEAD or another method", async () => {
    const { browser, path, status } = await asked();
    for (let times = 0; times < 3; times += 1) expect((await browser("GET", path)).status).toBe(200);
    const head = await browser("HEAD", path);
    expect(head.status).toBe(200);
    expect(head.headers.get("cache-control")).toBe("no-store");
    expect((await browser("GET", `${path}?decision=approve`)).html).toContain("Decline");
    for (const method of ["PUT", "DELETE", "PATCH"]) expect((await browser(method, path)).status).toBe(405);
    expect(await status()).toBe("pending");
  });

  it("works once, also when it is used twice at one moment", async () => {
    const { browser, path, form, proceed, run, call } = await asked();
    const answers = await Promise.all(
      [form, { ...form, decision: "decline" }, form, form].map((fields) => browser("POST", path, fields)),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    await proceed();
    expect((await call("GET", `/runs/${run}`)).body.status).toBe("succeeded");
    const again = await browser("POST", path, form);
    expect(again.status).toBe(409);
    expect(again.html).toContain("by cfo@example.com");
    expect((await browser("GET", path)).html).not.toContain("<form");
  });

  it("can't be guessed, and tells nothing about tokens that do not exist", async () => {
    const { browser, path } = await asked();
    const guesses = ["0".repeat(32), path.slice("/decide/".length, -1) + "!", "x", "a".repeat(5_000)];
    const pages = [];
    for (const guess of guesses)
      pages.push(await browser("POST", `/decide/${guess}`, { decision: "approve" }));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([410]));
    expect(new Set(pages.map(({ html }) => html.replaceAll(/nonce="[^"]*"/g, ""))).size).toBe(1);
  });

  it("limits guesses by address, while links that exist go on working", async () => {
    const { browser, path } = await asked();
    const answers: number[] = [];
    for (let guess = 0; guess < 40; guess += 1)
      answers.push((await browser("GET", `/decide/${String(guess).padStart(32, "0")}`)).status);
    expect(answers.at(-1)).toBe(429);
    expect(answers.filter((status) => status === 410)).toHaveLength(30);
    for (let times = 0; times < 40; times += 1) expect((await browser("GET", path)).status).toBe(200);
    for (let times = 0; times < 50; times += 1) await browser("GET", path);
    expect((await browser("GET", path)).status).toBe(429);
    // Before its form is read, which is too large.
    expect((await browser("POST", path, { comment: "x".repeat(70_000) })).status).toBe(429);
  });

  it("ends with the approval: expired, cancelled, or decided elsewhere", async () => {
    const clock = fakeClock();
    const expiring = await asked({ clock });
    clock.advance(2 * DAY + MINUTE);
    const late = await expiring.browser("POST", expiring.path, expiring.form);
    expect(late.status).toBe(409);
    expect(late.html).toContain("expired");

    const cancelled = await asked();
    await cancelled.call("POST", `/runs/${cancelled.run}/cancel`);
    expect((await cancelled.browser("POST", cancelled.path, cancelled.form)).html).toContain(
      "its run was stopped",
    );

    const elsewhere = await asked();
    const { cookie } = await signedInUser(elsewhere.instance, { email: "boss@example.com", role: "admin" });
    const call = apiClient(elsewhere.url);
    const decided = await call(
      "POST",
      `/approvals/${elsewhere.approval}`,
      { decision: "decline", override: true },
      { Cookie: cookie },
    );
    expect(decided.status).toBe(200);
    const answer = await elsewhere.browser("POST", elsewhere.path, elsewhere.form);
    expect(answer).toMatchObject({
      status: 409,
      html: expect.stringContaining("declined by boss@example.com"),
    });
  });

  it("decides only on the plan that the mail shows", async () => {
    const { browser, path, form, status } = await asked();
    expect((await browser("POST", path, { ...form, plan_digest: "another" })).status).toBe(409);
    expect(await status()).toBe("pending");
  });

  it("decides nothing once what can run is something else, such as a mail to other domains", async () => {
    const send = {
      id: "send",
      type: "email",
      to: "ada@example.com",
      subject: "Paid",
      text: "Paid.",
      if: "steps.ask.approved",
    };
    const { instance, smtp, path, form, status } = await asked({
      definition: { ...PAYMENT, steps: [...PAYMENT.steps, send] },
    });
    const config = mailConfig(smtp.port, { mail: { allowed_domains: ["example.com", "example.org"] } });
    const { url } = await instance.rest({ config, env: MAIL_ENV });
    const browser = decisionBrowser(url);
    const page = await browser("GET", path);
    expect(page).toMatchObject({ status: 409, html: expect.stringContaining("The plan has changed") });
    expect((await browser("POST", path, form)).status).toBe(409);
    expect(await status()).toBe("pending");
  });

  it("is for one approval: the token of another one decides that other one", async () => {
    const { browser, path, form, ask, link, status, call } = await asked();
    const other = await ask({ amount: 7 });
    const page = await browser("GET", await link(1));
    expect(page.html).toContain("Pay 7 to");
    await browser("POST", await link(1), { ...form, approval_id: "apr_x", plan_digest: digestIn(page.html) });
    expect(await status()).toBe("pending");
    expect((await call("GET", `/approvals/${other.approval}`)).body.status).toBe("approved");
    expect((await browser("GET", path)).status).toBe(200);
  });

  it("is dead once its recipient is deactivated, or may no longer decide in the project", async () => {
    const { browser, path, form, status, instance } = await asked();
    const user = await addUser(instance, { email: "cfo@example.com", role: "viewer" });
    expect((await browser("GET", path)).status).toBe(410);
    await instance.store.transaction((trx) => userWriter(trx).update(user.id, { role: "editor" }));
    expect((await browser("GET", path)).status).toBe(200);
    await instance.store.transaction((trx) => userWriter(trx).update(user.id, { status: "deactivated" }));
    expect((await browser("POST", path, form)).status).toBe(410);
    expect(await status()).toBe("pending");
  });

  it("does not let those decide who started the run", async () => {
    const opened = await openDecisions();
    const user = await addUser(opened.instance, { email: "cfo@example.com", role: "editor" });
    const { value } = await opened.instance.key({ owner: user.email });
    const call = apiClient(opened.url, value);
    const { body: run } = await call("POST", "/workflows/payment/runs", { inputs: { amount: 3 } });
    await opened.proceed();
    // They get no mail; the link is as one that got to them in another way.
    expect(opened.smtp.received).toEqual([]);
    const { body: found } = await opened.call("GET", `/approvals?run_id=${run.id}`);
    const { token, digest } = newLinkToken();
    await opened.instance.store.transaction((trx) =>
      approvalLinkWriter(trx).insert({
        digest,
        approvalId: found[0].id,
        recipient: "cfo@example.com",
        planDigest: found[0].plan.digest,
        createdAt: iso(Date.now()),
      }),
    );
    const path = `/decide/${token}`;
    const page = await opened.browser("GET", path);
    expect(page.status).toBe(403);
    expect(page.html).toContain(`You started the run ${run.id}`);
    expect((await opened.browser("POST", path, { decision: "approve", plan_digest: "x" })).status).toBe(403);
  });

  it("shows in the audit log who got it, from where it was opened and used, and that another browser opened it", async () => {
    const { browser, url, path, form, approval, instance } = await asked();
    const forwarded = decisionBrowser(
      url,
      "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
    );
    await forwarded("GET", path);
    await browser("GET", path);
    await forwarded("POST", path, form);
    const { cookie } = await signedInUser(instance, { email: "boss@example.com", role: "admin" });
    const { body } = await apiClient(url)("GET", `/audit-log?search=${approval}`, undefined, {
      Cookie: cookie,
    });
    const found = (
      (body.items ?? body) as {
        operation: string;
        owner: string;
        key_name: string;
        details: object;
        client: string;
      }[]
    )
      .filter(({ operation }) => /decision_link|decide/.test(operation))
      .map(({ operation, owner, key_name: key, details }) => [operation, owner, key, details])
      .toReversed();
    const details = { link_sent_to: "cfo@example.com", address: "127.0.0.1" };
    expect(found).toEqual([
      ["open_decision_link", "cfo@example.com", "decision link", { ...details, opened_by: 1 }],
      ["open_decision_link.again", "cfo@example.com", "decision link", { ...details, opened_by: 2 }],
      [
        "decide_approval",
        "cfo@example.com",
        "decision link",
        { ...details, decision: "approve", status: "approved", via: "link", opened_by: 2 },
      ],
    ]);
  });

  it("stores no token, and logs none", async () => {
    const lines: string[] = [];
    const log = pino({ hooks: { streamWrite: maskKeys } }, { write: (line) => void lines.push(line) });
    const { path, browser, form, instance } = await asked({ log });
    await browser("POST", path, form);
    await browser("POST", path, form);
    const token = path.slice("/decide/".length);
    expect(lines.join("")).not.toContain(token);
    expect(readFileSync(join(instance.stateDir, "millrace.db")).includes(token)).toBe(false);
    expect(readFileSync(join(instance.stateDir, "millrace.db-wal")).includes(token)).toBe(false);
  });

  it("is sent only where the workflow allows it", async () => {
    const [ask, ...rest] = PAYMENT.steps;
    const { ask: start, mail } = await openDecisions({
      definition: { ...PAYMENT, steps: [{ ...ask, decide_by_link: false }, ...rest] },
    });
    const { approval } = await start();
    const { text } = await mail(0);
    expect(text).not.toContain("/decide/");
    expect(text).toContain(`/ui/approvals/${approval}`);
  });

  it("asks for the fields of a form, and says what is wrong with them", async () => {
    const form = {
      type: "object",
      properties: { budget: { type: "number", minimum: 1 }, reason: { type: "string", enum: ["a", "b"] } },
      required: ["budget"],
    };
    const [ask, ...rest] = PAYMENT.steps;
    const {
      browser,
      path,
      form: sent,
      proceed,
      run,
      call,
    } = await asked({
      definition: { ...PAYMENT, steps: [{ ...ask, form }, ...rest] },
    });
    const wrong = await browser("POST", path, { ...sent, form_budget: "0.5" });
    expect(wrong.html).toContain("form.budget");
    expect(wrong.html).toContain("Nothing was decided.");
    expect((await browser("POST", path, { ...sent, form_budget: "5", form_reason: "b" })).html).toContain(
      "Approved",
    );
    await proceed();
    expect((await call("GET", `/runs/${run}`)).body.output.form).toEqual({ budget: 5, reason: "b" });
  });

  it("refuses a form that another site sends", async () => {
    const { url, path, form, status } = await asked();
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "Sec-Fetch-Site": "cross-site" },
      body: new URLSearchParams(form),
    });
    expect(response.status).toBe(403);
    expect(await status()).toBe("pending");
  });
});

/** The approval of a run that Ann starts, who has an account, with an approver of her choice. */
async function askedByAnn(approver: string, step: object = {}, options: { clock?: FakeClock } = {}) {
  const [ask, ...rest] = PAYMENT.steps;
  const opened = await openDecisions({
    ...options,
    definition: {
      inputs: { type: "object", properties: { amount: { type: "number" }, approver: { type: "string" } } },
      steps: [{ ...ask, assignees: ["${{ inputs.approver }}"], ...step }, ...rest],
      output: PAYMENT.output,
    },
  });
  await addUser(opened.instance, { email: "ann@example.com", role: "editor" });
  const { value } = await opened.instance.key({ owner: "ann@example.com" });
  const asAnn = apiClient(opened.url, value);
  const inputs = { amount: 3, approver };
  const { body: run } = await asAnn("POST", "/workflows/payment/runs", { inputs });
  await opened.proceed();
  const approvalOf = async (id: string) =>
    (await opened.call("GET", `/approvals?run_id=${id}`)).body[0] as { id: string; plan: { digest: string } };
  const approval = await approvalOf(run.id);
  return {
    ...opened,
    asAnn,
    approval,
    approvalOf,
    run: run.id as string,
    texts: async () =>
      Promise.all(opened.smtp.received.map(async (_raw, index) => (await opened.mail(index)).text!)),
    /** A link that got to somebody in another way, such as with an older release. */
    async linkFor(recipient: string, to = approval): Promise<string> {
      const { token, digest } = newLinkToken();
      const link = { digest, approvalId: to.id, recipient, planDigest: to.plan.digest };
      await opened.instance.store.transaction((trx) =>
        approvalLinkWriter(trx).insert({ ...link, createdAt: iso(opened.instance.clock.now()) }),
      );
      return `/decide/${token}`;
    },
  };
}

describe("a link for somebody without an account", () => {
  it("decides nothing where an input has named the address, and the mail leads to signing in", async () => {
    const { browser, texts, approval, linkFor, call } = await askedByAnn("other@example.com");
    const [text, ...more] = await texts();
    expect(more).toEqual([]);
    expect(text).not.toContain("/decide/");
    expect(text).toContain(`/ui/approvals/${approval.id}`);
    expect(text).toContain("sign in");
    const path = await linkFor("other@example.com");
    expect((await browser("GET", path)).status).toBe(410);
    const form = { decision: "approve", plan_digest: approval.plan.digest };
    expect((await browser("POST", path, form)).status).toBe(410);
    expect((await call("GET", `/approvals/${approval.id}`)).body.status).toBe("pending");
  });

  it("decides nothing where an expression of an escalation has named it", async () => {
    const clock = fakeClock();
    const { texts, proceed } = await askedByAnn(
      "other@example.com",
      { assignees: ["cfo@example.com"], escalate: { after: "1h", to: ["${{ inputs.approver }}"] } },
      { clock },
    );
    clock.advance(2 * HOUR);
    await proceed();
    await proceed();
    const sent = await texts();
    expect(sent).toHaveLength(2);
    expect(sent.map((text) => text.includes("/decide/"))).toEqual([true, false]);
  });

  it("decides where the definition names it, and where an input names somebody who has an account", async () => {
    const named = await askedByAnn("other@example.com", {
      assignees: ["${{ inputs.approver }}", "Other@Example.com"],
    });
    expect((await named.texts()).map((text) => text.includes("/decide/"))).toEqual([true]);
    expect((await named.browser("GET", await named.link())).status).toBe(200);

    const member = await askedByAnn("nobody@example.com");
    await addUser(member.instance, { email: "ben@example.com", role: "editor" });
    const inputs = { amount: 3, approver: "ben@example.com" };
    await member.asAnn("POST", "/workflows/payment/runs", { inputs });
    await member.proceed();
    expect((await member.browser("GET", await member.link(1))).status).toBe(200);
  });

  it("decides nothing on a definition that the run brought along", async () => {
    const { asAnn, proceed, texts, approvalOf, linkFor, browser } = await askedByAnn("other@example.com");
    const step = { ...PAYMENT.steps[0], message: "Go?", evidence: {}, assignees: ["other@example.com"] };
    const { body } = await asAnn("POST", "/runs", { step });
    await proceed();
    expect((await texts()).map((text) => text.includes("/decide/"))).toEqual([false, false]);
    const path = await linkFor("other@example.com", await approvalOf(body.id));
    expect((await browser("GET", path)).status).toBe(410);
  });

  it("is not for who started the run under a tag of the own address, also where the definition names it", async () => {
    const { smtp, browser, linkFor } = await askedByAnn("x@example.com", {
      assignees: ["ANN+2@example.com"],
    });
    expect(smtp.received).toEqual([]);
    const page = await browser("GET", await linkFor("ann+2@example.com"));
    expect(page).toMatchObject({ status: 403, html: expect.stringContaining("You started the run") });
  });
});
