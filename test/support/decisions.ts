/** A server, an executor and a mail server, with approvals that are decided from mails. */
import { type ParsedMail, simpleParser } from "mailparser";
import { eventually } from "./eventually.ts";
import { apiClient } from "./http.ts";
import { testInstance } from "./instance.ts";
import { smtpPeer } from "./mock-smtp-server.ts";

/** A configuration with a mail server on loopback. */
export const mailConfig = (port: number, more: object = {}) => ({
  authentication: {
    basic: {
      smtp_user: "mill@example.com",
      smtp_password_var: "MAIL_PASSWORD",
      smtp_server: "127.0.0.1",
      smtp_port: port,
    },
  },
  mail: { allowed_domains: ["example.com"] },
  ...more,
});

export const MAIL_ENV = { MAIL_PASSWORD: "for loopback only" };

export const PAYMENT = {
  inputs: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  steps: [
    {
      id: "ask",
      type: "approval",
      message: "Pay ${{ inputs.amount }} to <Acme> & Co?",
      assignees: ["cfo@example.com"],
      evidence: {
        amount: "${{ inputs.amount }}",
        invoices: [
          { number: "A-1", total: 1200 },
          { number: "A-2", total: 50 },
        ],
      },
      decide_by_link: true,
      timeout: "2d",
    },
    {
      id: "pay",
      type: "set",
      if: "steps.ask.approved",
      values: { paid: "${{ inputs.amount }}", by: "${{ steps.ask.by }}" },
    },
  ],
  output: "${{ steps.ask }}",
};

/** Opens everything, and saves a workflow. @param options those of the instance, such as a clock */
export async function openDecisions({
  definition = PAYMENT,
  config = {},
  env = {},
  ...options
}: Parameters<typeof testInstance>[0] & {
  definition?: object;
  config?: object;
  env?: Record<string, string>;
} = {}) {
  const smtp = await smtpPeer();
  const instance = await testInstance(options);
  const setup = { config: mailConfig(smtp.port, config), env: { ...MAIL_ENV, ...env } };
  const { url } = await instance.rest(setup);
  const executor = await instance.executor(setup);
  const { value: key } = await instance.key();
  const call = apiClient(url, key);
  await call("POST", "/workflows", { name: "Payment", definition });
  const proceed = async (): Promise<void> => {
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
  };
  const parsed = async (index: number): Promise<ParsedMail> =>
    simpleParser(await eventually(() => smtp.received[index], `mail ${index}`));
  return {
    instance,
    smtp,
    url,
    call,
    proceed,
    executor,
    mail: parsed,
    /** The path of the link in a mail. */
    async link(index = 0): Promise<string> {
      const path = /https?:\/\/[^/\s]+(\/decide\/[0-9A-Za-z]{32})\b/.exec((await parsed(index)).text!)?.[1];
      if (path === undefined) throw new Error(`mail ${index} has no link`);
      return path;
    },
    /** Starts a run of the workflow, up to its approval. */
    async ask(inputs: object = { amount: 1250 }): Promise<{ run: string; approval: string }> {
      const { body } = await call("POST", "/workflows/payment/runs", { inputs });
      await proceed();
      const { body: found } = await call("GET", `/approvals?run_id=${body.id}`);
      return { run: body.id, approval: found[0]?.id };
    },
    browser: decisionBrowser(url),
  };
}

/** A browser without a session: it opens pages and sends forms. */
export const decisionBrowser =
  (url: string, userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0") =>
  async (method: string, path: string, fields?: Record<string, string>) => {
    const response = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: { "User-Agent": userAgent },
      ...(fields !== undefined && { body: new URLSearchParams(fields) }),
    });
    return { status: response.status, headers: response.headers, html: await response.text() };
  };

/** The digest of the plan in the form of a page. */
export const digestIn = (html: string): string => /name="plan_digest" value="([^"]+)"/.exec(html)![1]!;
