/** The web interface of the real program in a real browser, with a window per user. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Role } from "../../schemas/user.ts";
import { makeShop } from "../../examples/shop.ts";
import { DAY } from "../../src/core/clock.ts";
import { TEMPLATES } from "../../src/web/workflows/templates.ts";
import { LAUNCH_OPTIONS, type MonitoredPage, monitorPage } from "./browser.ts";
import { type BrowserApi, browserApi } from "./browser-api.ts";
import { eventually } from "./eventually.ts";
import { patiently } from "./patience.ts";
import type { ApiResponse } from "./http.ts";
import { temporaryDirectory } from "./instance.ts";
import { type Program, runCommand, startProgram } from "./process.ts";
import { smtpPeer } from "./mock-smtp-server.ts";

/** A time-out that is long enough for a busy machine. */
export const WAIT_TIMEOUT_MS = patiently(20_000);

export const PASSWORD = "violet otter counts 48 spoons";

/** A server with the sample database and executors. */
export interface Site {
  url: string;
  stateDir: string;
  program: Program;
  /** The link with which the first admin account is created. */
  setupLink: string;
  /** The path of the first link in a mail that decides an approval; for a site with `mail`. */
  decisionLink(): Promise<string>;
  /** The link in a mail, by the mail's index. */
  linkFromMail(number: number): Promise<string>;
}

/** @param mail whether to start a mail server on loopback */
export async function openSite({
  mail = false,
  workers = 1,
  stateDir = newStateDirectory(),
  env = {},
}: {
  mail?: boolean;
  workers?: number;
  stateDir?: string;
  env?: Record<string, string>;
} = {}): Promise<Site> {
  const smtp = mail ? await smtpPeer() : undefined;
  if (smtp !== undefined) writeConfig(stateDir, smtp.port);
  const program = await startProgram("serve", stateDir, {
    args: ["--workers", String(workers)],
    env: { MAIL_PASSWORD: "for loopback only", ...env },
  });
  const { out: setupLink } = await runCommand(["users", "setup-link"], { MILLRACE_STATE_DIR: stateDir });
  return {
    url: program.url,
    stateDir,
    program,
    setupLink: setupLink.trim(),
    decisionLink: () =>
      eventually(
        () =>
          smtp!.received
            .map((raw) => /\/decide\/[0-9A-Za-z]{32}/.exec(raw.replaceAll("=\r\n", ""))?.[0])
            .find((path) => path !== undefined),
        "a mail with a link that decides",
        WAIT_TIMEOUT_MS,
      ),
    async linkFromMail(number) {
      const raw = await eventually(() => smtp!.received[number - 1], `mail ${number}`, WAIT_TIMEOUT_MS);
      return /http:\S+\/ui\/link#\w{32}/.exec(raw.replaceAll("=\r\n", ""))![0];
    },
  };
}

/** A state directory with the sample database and its configuration. */
export function newStateDirectory(): string {
  const stateDir = temporaryDirectory();
  mkdirSync(join(stateDir, "samples"));
  makeShop(join(stateDir, "samples", "shop.db"));
  writeConfig(stateDir);
  return stateDir;
}

function writeConfig(stateDir: string, smtpPort?: number): void {
  const config = {
    databases: [{ name: "shop", type: "sqlite", dataset: "samples/shop.db" }],
    defaults: { database: "shop" },
    ...(smtpPort !== undefined && {
      mail: { allowed_domains: ["example.com"] },
      authentication: {
        basic: {
          smtp_user: "mill@example.com",
          smtp_password_var: "MAIL_PASSWORD",
          smtp_server: "127.0.0.1",
          smtp_port: smtpPort,
        },
      },
    }),
  };
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify(config));
}

/** A user who is signed in to the API. */
export interface Person {
  email: string;
  api: BrowserApi;
}

/** Creates the first admin over the API. */
export async function createFirstAdmin({ url, setupLink }: Site, email = "ann@example.com"): Promise<Person> {
  const api = browserApi(url);
  const token = setupLink.split("#")[1];
  expectSuccess(await api.request("POST", "/session/setup", { token, email, password: PASSWORD }));
  return { email, api };
}

/** Invites a user over the API, who accepts at once; for a site without mail. */
export async function addPerson({ url }: Site, admin: Person, email: string, role: Role): Promise<Person> {
  const { link } = expectSuccess(await admin.api.request("POST", "/users", { email, role })).body as {
    link: string;
  };
  const api = browserApi(url);
  const token = link.split("#")[1];
  expectSuccess(await api.request("POST", "/session/password", { token, password: PASSWORD }));
  return { email, api };
}

/** Calls the API and returns the body of a successful response. */
export async function requestApi<T = { id: string }>(
  { api }: Person,
  ...request: Parameters<BrowserApi["request"]>
): Promise<T> {
  return expectSuccess(await api.request(...request)).body as T;
}

function expectSuccess(answer: ApiResponse): ApiResponse {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

/** It is closed at the end of the test. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch(LAUNCH_OPTIONS);
  onTestFinished(() => browser.close());
  return browser;
}

export interface BrowserWindow extends MonitoredPage {
  /** The refused requests: `403 GET /users`. */
  errorResponses: string[];
  /** Goes to a page of the interface and waits until it has loaded. */
  visit(path: string): Promise<void>;
}

/** Opens a separate window, which is signed in when a user is given. */
export async function openWindow(
  browser: Browser,
  { url }: Pick<Site, "url">,
  person?: Person,
  options: BrowserContextOptions = {},
): Promise<BrowserWindow> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    locale: "en-GB",
    ...options,
  });
  context.setDefaultTimeout(WAIT_TIMEOUT_MS);
  const cookie = person?.api.cookie?.split("=");
  if (cookie !== undefined) await context.addCookies([{ name: cookie[0]!, value: cookie[1]!, url }]);
  const page = await context.newPage();
  const errorResponses: string[] = [];
  page.on("response", (response) => {
    if (response.status() < 400) return;
    errorResponses.push(
      `${response.status()} ${response.request().method()} ${new URL(response.url()).pathname}`,
    );
  });
  return {
    ...monitorPage(page, isFine),
    errorResponses,
    async visit(path) {
      await page.goto(`${url}/ui${path}`);
      await waitUntilLoaded(page);
    },
  };
}

/** Ignores the 401 of a visitor who is not signed in, and requests that are cancelled when a page is left. */
const isFine = (text: string, url: string): boolean =>
  (/status of 401/.test(text) && new URL(url).pathname.endsWith("/session")) || text === "net::ERR_ABORTED";

/** Waits until a page has its heading and nothing on it still loads. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page
    .locator('[aria-busy="true"], .mantine-Loader-root, .mantine-Skeleton-root')
    .first()
    .waitFor({ state: "detached" });
}

/** Signs in with the form on the page. */
export async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

export const heading = (page: Page, name: string | RegExp): Locator =>
  page.getByRole("heading", { level: 1, name });

/** Opens the user menu and chooses an entry. */
export async function chooseFromUserMenu(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: /^User menu of / }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Chooses an option of a select. */
export async function selectOption(page: Page, field: Locator, option: string): Promise<void> {
  await field.click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

/** Saves a screenshot to the directory in SCREENSHOTS, if it is set. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env["SCREENSHOTS"];
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

/** An instance with three users of different roles, and content on every page. */
export interface SeededSite {
  site: Site;
  ann: Person;
  ben: Person;
  vera: Person;
  /** The link of an open invitation. */
  invitation: string;
  /** The pages for signed-in users, by route. */
  pages: Readonly<Record<string, string>>;
}

const FRAGILE = {
  steps: [
    { id: "first", type: "set", values: { text: "Done once" } },
    { id: "gate", type: "assert", that: "false", message: "The numbers do not add up." },
  ],
  output: "${{ steps.first.text }}",
};

export async function openSeededSite(): Promise<SeededSite> {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const ben = await addPerson(site, ann, "ben@example.com", "editor");
  const vera = await addPerson(site, ann, "vera@example.com", "viewer");
  const dora = { email: "dora@example.com", role: "editor" };
  const { link: invitation } = await requestApi<{ link: string }>(ann, "POST", "/users", dora);
  const made: Record<string, string> = {};
  for (const { id, name, description, tags, needs, definition } of TEMPLATES) {
    if (needs !== "") continue;
    const body = { name, description, tags, definition };
    made[id] = (await requestApi(ben, "POST", "/workflows", body)).id;
  }
  const fragile = await requestApi(ben, "POST", "/workflows", { name: "Month end", definition: FRAGILE });
  await requestApi(ben, "PATCH", `/workflows/${made["query"]}`, {
    description: "Asks the shop how much each region has sold, and names the best.",
    reason: "Said more clearly.",
  });
  for (const id of ["query", "schedule"]) await requestApi(ben, "POST", `/workflows/${made[id]}/publish`, {});
  await requestApi(ben, "PATCH", `/workflows/${made["query"]}`, { tags: ["sales", "regions"] });
  const run = (id: string) => requestApi(ben, "POST", `/workflows/${id}/runs`, { inputs: {}, wait: 30 });
  const step = { type: "set", values: { greeting: "Good morning" } };
  const single = await requestApi(ben, "POST", "/runs", { step, wait: 30 });
  const runs = await Promise.all([made["query"]!, fragile.id].map(run));
  await requestApi(ben, "POST", `/workflows/${made["approval"]}/runs`, { inputs: {} });
  const approval = await eventually(
    async () => (await requestApi<{ id: string }[]>(ann, "GET", "/approvals"))[0],
    "the approval",
    WAIT_TIMEOUT_MS,
  );
  const setReview = (review: boolean) => requestApi(ann, "PATCH", "/projects/default", { review });
  await setReview(true);
  const { id: reviewed } = await requestApi(ben, "POST", "/workflows", {
    name: "Quarter end",
    definition: FRAGILE,
  });
  const { review } = await requestApi<{ review: { id: string } }>(
    ben,
    "POST",
    `/workflows/${reviewed}/publish`,
    {},
  );
  await setReview(false);
  const soon = new Date(Date.now() + 3 * DAY).toISOString().slice(0, 10);
  await requestApi(ben, "POST", "/api-keys", {
    name: "ci",
    expires_at: soon,
    limits: { workflows: [made["query"]] },
  });
  const key = await requestApi(vera, "POST", "/api-keys", { name: "dashboard", scopes: ["read"] });
  const workflow = `/workflows/${made["query"]}`;
  const backtest = await requestApi(ben, "POST", `${workflow}/backtests`, { wait: 30 });
  const retry = { action: "retry", run_ids: [runs[1]!.id] };
  const { digest } = await requestApi<{ digest: string }>(ben, "POST", "/bulk-actions", retry);
  const bulkAction = await requestApi(ben, "POST", "/bulk-actions", { ...retry, digest, wait: 30 });
  return {
    site,
    ann,
    ben,
    vera,
    invitation,
    pages: {
      "/": "/",
      "/workflows": "/workflows",
      "/workflows/new": "/workflows/new",
      "/workflows/:workflowId": workflow,
      "/workflows/:workflowId/edit": `${workflow}/edit`,
      "/workflows/:workflowId/versions": `${workflow}/versions`,
      "/workflows/:workflowId/backtests/:backtestId": `${workflow}/backtests/${backtest.id}`,
      "/workflows/:workflowId/run": `${workflow}/run`,
      "/runs": "/runs",
      "/runs/statistics": "/runs/statistics",
      "/runs/:runId": `/runs/${runs[0]!.id}?step=revenue`,
      "/runs/:runId/compare": `/runs/${runs[1]!.id}/compare?with=${runs[0]!.id}`,
      "/runs/:runId/retry": `/runs/${runs[1]!.id}/retry`,
      "/runs/:runId/workflow": `/runs/${single.id}/workflow`,
      "/bulk-actions": "/bulk-actions",
      "/interruptions": "/interruptions",
      "/bulk-actions/:bulkActionId": `/bulk-actions/${bulkAction.id}`,
      "/approvals": "/approvals",
      "/approvals/:approvalId": `/approvals/${approval.id}`,
      "/reviews": "/reviews",
      "/reviews/:reviewId": `/reviews/${review.id}`,
      "a workflow that waits for review": `/workflows/${reviewed}`,
      "/keys": "/keys",
      "/keys/:keyId": `/keys/${key.id}`,
      "/keys/:keyId/changes": `/keys/${key.id}/changes`,
      "/people": "/people",
      "/projects": "/projects",
      "/projects/:projectId": "/projects/default",
      "/account": "/account",
      "/connect": "/connect",
      "/audit": "/audit",
      "/notifications": "/notifications",
      "*": "/no/such/page",
      // The same pages in other states.
      "a run that failed": `/runs/${runs[1]!.id}`,
      "a run of a single step": `/runs/${single.id}`,
      "keys of everyone": "/keys?everyone=true",
      "a definition": `${workflow}?view=definition`,
      "a workflow with a schedule": `/workflows/${made["schedule"]}`,
    },
  };
}

/** The addresses that the router knows. */
export const routerPaths = (): string[] =>
  [
    ...readFileSync(new URL("../../src/web/app/router.tsx", import.meta.url), "utf8").matchAll(
      /(?:page\(|path: )"([^"]+)"/g,
    ),
  ].map(([, path]) => path!);

/** The pages for visitors who are not signed in. */
export const SIGNED_OUT_PAGES = ["/setup", "/sign-in", "/forgot", "/link", "/authorize"];
