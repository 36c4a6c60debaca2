import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  addPerson,
  chooseFromUserMenu,
  createFirstAdmin,
  heading,
  openBrowser,
  openSeededSite,
  openSite,
  openWindow,
  type Person,
  requestApi,
  selectOption,
  takeScreenshot,
  waitUntilLoaded,
} from "../../support/web.ts";

const DEFINITION = { steps: [{ id: "hello", type: "set", values: { text: "Good morning" } }] };

/** Creates a workflow and runs it once. @returns its id */
async function addWorkflow(person: Person, name: string, project?: string): Promise<string> {
  const { id } = await requestApi(person, "POST", "/workflows", { name, definition: DEFINITION, project });
  await requestApi(person, "POST", `/workflows/${id}/runs`, { inputs: {}, wait: 30 });
  return id;
}

/** An instance with two projects, and a workflow with a finished run in each. */
async function openSiteWithProjects() {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const ben = await addPerson(site, ann, "ben@example.com", "viewer");
  await requestApi(ann, "POST", "/projects", { name: "Finance" });
  await addWorkflow(ann, "Morning report");
  const finance = await addWorkflow(ann, "Month end", "finance");
  return { site, ann, ben, finance };
}

const switcher = (page: Page) => page.getByRole("button", { name: /^Project: / });

async function chooseProject(page: Page, name: string): Promise<void> {
  await switcher(page).click();
  await page.getByRole("menuitem", { name, exact: true }).click();
  await page.getByRole("button", { name: `Project: ${name}`, exact: true }).waitFor();
}

const workflowLink = (page: Page, name: string) =>
  page.getByRole("main").getByRole("link", { name, exact: true }).filter({ visible: true });

/** The texts and accessible names of a page, without code. */
const labelsOf = (page: Page): Promise<string[]> =>
  page.locator("body").evaluate((body) => {
    const all = [...(body as unknown as Labelled).querySelectorAll("*")].filter(
      (one) => one.checkVisibility() && one.closest("pre, code") === null,
    );
    const names = ["aria-label", "title", "placeholder", "alt"];
    const attributes = all.flatMap((one) => names.map((name) => one.getAttribute(name) ?? ""));
    const texts = all.flatMap(({ childNodes }) =>
      [...childNodes].map(({ nodeType, textContent }) => (nodeType === 3 ? (textContent ?? "") : "")),
    );
    return attributes.concat(texts);
  });

interface Labelled {
  querySelectorAll(selector: string): Iterable<{
    checkVisibility(): boolean;
    closest(selector: string): unknown;
    getAttribute(name: string): string | null;
    childNodes: Iterable<{ nodeType: number; textContent: string | null }>;
  }>;
}

describe("a fresh installation", () => {
  it("shows no project on any page, to nobody", async () => {
    const { site, ann, vera, pages } = await openSeededSite();
    const browser = await openBrowser();
    const found: string[] = [];
    for (const person of [ann, vera]) {
      const { page, visit } = await openWindow(browser, site, person);
      for (const path of Object.values(pages)) {
        // The page where the second project is made. Only the user menu of an admin leads to it.
        if (path.startsWith("/projects")) continue;
        await visit(path);
        const labels = await labelsOf(page);
        expect(labels).toContain("Workflows");
        // The operation by which the admin of this site has required reviews.
        const others = labels.filter((label) => !/^(?:Details: )?Update project\b/.test(label));
        found.push(...others.filter((label) => /project/i.test(label)).map((label) => `${path}: ${label}`));
        expect(new URL(page.url()).searchParams.has("project")).toBe(false);
      }
    }
    expect(found).toEqual([]);
  });
});

describe("the project switcher", () => {
  it("filters every list, is part of the address, and is remembered in the browser", async () => {
    const { site, ann } = await openSiteWithProjects();
    const { page, visit, problems, errorResponses } = await openWindow(await openBrowser(), site, ann);
    await visit("/runs");
    await workflowLink(page, "Morning report").waitFor();
    await workflowLink(page, "Month end").waitFor();
    await takeScreenshot(page, "projects-runs-all");

    await chooseProject(page, "Finance");
    await workflowLink(page, "Morning report").waitFor({ state: "detached" });
    await workflowLink(page, "Month end").waitFor();
    expect(new URL(page.url()).searchParams.get("project")).toBe("finance");

    // Links within the interface keep it.
    await page.getByRole("link", { name: "Workflows", exact: true }).click();
    await page.waitForURL(/\/workflows\?project=finance$/);
    await page.getByText("1 workflow", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Month end" }).waitFor();
    await takeScreenshot(page, "projects-workflows");

    // The back button returns to the project that was chosen before.
    await chooseProject(page, "All projects");
    await page.getByText("2 workflows", { exact: true }).waitFor();
    await page.goBack();
    await page.getByText("1 workflow", { exact: true }).waitFor();
    await page.goForward();
    await page.getByText("2 workflows", { exact: true }).waitFor();
    await chooseProject(page, "Finance");

    // It is remembered, and an address without a project gets it.
    for (const path of ["/", "/approvals", "/audit"]) {
      await visit(path);
      await page.waitForURL((url) => url.searchParams.get("project") === "finance");
    }
    await page.getByRole("main").getByText("finance", { exact: true }).filter({ visible: true }).waitFor();
    expect(await page.getByText("Morning report").count()).toBe(0);

    // A link with another project wins.
    await visit("/workflows?project=default");
    await page.getByRole("link", { name: "Morning report" }).waitFor();
    await page.getByRole("button", { name: "Project: Default", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Month end" }).count()).toBe(0);
    expect(errorResponses).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("proposes the chosen project for a new workflow, and only projects in which the user can write", async () => {
    const { site, ann, ben } = await openSiteWithProjects();
    await requestApi(ann, "PUT", "/projects/finance/members/ben@example.com", { role: "editor" });
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ben);
    await visit("/workflows/new");
    const project = page
      .getByRole("combobox", { name: "Project" })
      .or(page.getByLabel("Project", { exact: true }));
    expect(await project.first().inputValue()).toBe("Finance");
    await project.first().click();
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["Finance"]);
    await page.keyboard.press("Escape");
    await page.getByLabel("Name").fill("Closing");
    await page.getByRole("button", { name: "Create and edit" }).click();
    await page.waitForURL(/\/workflows\/finance\.closing\/edit$/);

    // A viewer of the default project gets no actions there, although they are an editor elsewhere.
    await visit("/workflows/finance.closing");
    await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
    await visit("/workflows/morning-report");
    expect(await page.getByRole("link", { name: "Edit", exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("is usable with a keyboard, and fits a phone in both colour schemes, as do the pages of projects", async () => {
    const { site, ann, finance } = await openSiteWithProjects();
    await requestApi(ann, "PUT", "/projects/finance/members/ben@example.com", { role: "editor" });
    await requestApi(ann, "PUT", "/projects/finance/grants/database/shop", { access: "read-only" });
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
    await visit("/runs");
    await switcher(page).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "All projects" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator('[role="menuitem"]:focus').waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("project") === "finance");
    const found: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        for (const path of ["/projects", "/projects/finance", "/runs?project=*", `/workflows/${finance}`]) {
          await visit(path);
          await switcher(page).waitFor();
          await takeScreenshot(page, `${path.replaceAll(/\W+/g, "-")}-${width}-${colorScheme}`);
          const { violations } = await new AxeBuilder({ page }).analyze();
          found.push(
            ...violations.map(({ id, nodes }) => `${path} ${width} ${colorScheme} ${id}: ${nodes[0]!.html}`),
          );
          const isTooWide = await page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth",
          );
          if (isTooWide === true) found.push(`${path} ${width}: wider than the window`);
        }
      }
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("is not shown to a user of one project", async () => {
    const { site, ben } = await openSiteWithProjects();
    const { page, visit } = await openWindow(await openBrowser(), site, ben);
    await visit("/workflows?project=finance");
    await waitUntilLoaded(page);
    await page.getByRole("link", { name: "Morning report" }).waitFor();
    expect(await switcher(page).count()).toBe(0);
  });
});

describe("the pages of projects", () => {
  it("lead an admin from one project to a second one with members, limits, and its end", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "viewer");
    const { page, visit, problems, errorResponses } = await openWindow(await openBrowser(), site, ann);
    await visit("/");
    await chooseFromUserMenu(page, "Projects");
    await heading(page, "Projects").waitFor();
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Finance");
    await page.getByRole("button", { name: "Create project" }).click();
    await heading(page, "Finance").waitFor();
    // From now on the header has a switcher.
    await switcher(page).waitFor();

    const members = page.getByRole("region", { name: "Members" });
    await members.getByLabel("E-mail address").fill("ben@example.com");
    await members.getByRole("button", { name: "Add member" }).click();
    const role = members.getByRole("combobox", { name: "Role of ben@example.com" });
    await role.waitFor();
    expect(await role.inputValue()).toBe("editor");
    await selectOption(page, role, "admin");
    await page.getByText("ben@example.com has the role admin.").waitFor();
    // An address without an account is answered like any other.
    await members.getByLabel("E-mail address").fill("nobody@example.com");
    await members.getByRole("button", { name: "Add member" }).click();
    await page.getByText("nobody@example.com has the role editor.").waitFor();

    const limits = page.getByRole("region", { name: "Connections and limits" });
    await limits.getByLabel("Runs per hour").fill("50");
    await selectOption(page, limits.getByRole("combobox", { name: "Public hosts" }), "None");
    await limits.getByRole("button", { name: "Save connections and limits" }).click();
    await page.getByText("Saved the project “Finance”.").first().waitFor();
    expect(await requestApi(ann, "GET", "/projects/finance")).toMatchObject({
      limits: { runs_per_hour: 50 },
      http_public: "none",
    });
    await takeScreenshot(page, "project");

    // A project with a workflow is kept, and the answer says why.
    await addWorkflow(ann, "Month end", "finance");
    await page.getByRole("button", { name: "Delete project…" }).click();
    await page.getByRole("button", { name: "Delete project", exact: true }).click();
    await page.getByText(/has 1 workflow \(archived ones included\) and 1 run/).waitFor();
    expect(errorResponses).toEqual(["409 DELETE /projects/finance"]);
    expect(problems.filter((problem) => !/status of 409/.test(problem))).toEqual([]);

    // An admin of the project manages its members, not what it may use of the instance.
    const bens = await openWindow(await openBrowser(), site, ben);
    await bens.visit("/projects/finance");
    await bens.page.getByText("Only admins of the instance can change this.").first().waitFor();
    expect(await bens.page.getByLabel("Runs per hour").isDisabled()).toBe(true);
    expect(await bens.page.getByRole("button", { name: "Delete project…" }).count()).toBe(0);
    await bens.page.getByRole("button", { name: "Remove nobody@example.com" }).click();
    await bens.page.getByRole("button", { name: "Remove", exact: true }).click();
    await bens.page.getByText("nobody@example.com has no role in “Finance” any more.").waitFor();
    expect(bens.problems).toEqual([]);
  });
});

describe("what a project may use", () => {
  it("is granted and revoked by an admin of the instance, and seen by its members", async () => {
    const { site, ann, ben } = await openSiteWithProjects();
    await requestApi(ann, "PUT", "/projects/finance/members/ben@example.com", { role: "editor" });
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
    await visit("/projects/finance");
    const grants = page.getByRole("region", { name: "Grants" });
    await grants.getByText("Nothing is granted yet.").waitFor();
    // A name that the configuration doesn't have is refused at the field.
    await grants.getByLabel("Name").fill("shopp");
    await grants.getByRole("button", { name: "Grant", exact: true }).click();
    await grants.getByText(/Is not the name of a database/).waitFor();
    await grants.getByLabel("Name").fill("");
    await grants.getByLabel("Name").click();
    await page.getByRole("option", { name: "shop", exact: true }).click();
    await grants.getByLabel("Read-only").check();
    await grants.getByRole("button", { name: "Grant", exact: true }).click();
    await grants.getByText("shop · read-only").waitFor();
    expect(await requestApi(ben, "GET", "/projects/finance/grants")).toMatchObject([
      { kind: "database", name: "shop", access: "read-only" },
    ]);
    await takeScreenshot(page, "project-grants");

    const bens = await openWindow(await openBrowser(), site, ben);
    await bens.visit("/projects/finance");
    await bens.page.getByText("shop · read-only").waitFor();
    expect(await bens.page.getByRole("button", { name: /^(Grant|Revoke.*|Save.*|Remove.*)$/ }).count()).toBe(
      0,
    );

    await grants.getByRole("button", { name: "Revoke the database shop" }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await grants.getByText("Nothing is granted yet.").waitFor();
    expect(problems.filter((problem) => !/status of 400/.test(problem))).toEqual([]);
    expect(bens.problems).toEqual([]);
  });
});

describe("a workflow", () => {
  it("is offered to other projects, taken back, and moved", async () => {
    const { site, ann, finance } = await openSiteWithProjects();
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
    const chooseAction = async (item: string) => {
      await page.getByRole("button", { name: "More actions for Month end" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await visit(`/workflows/${finance}`);
    await chooseAction("Offer to projects…");
    await page.getByRole("radio", { name: "Named projects" }).check();
    await page.getByRole("combobox", { name: "IDs of projects" }).fill("default");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Save offer" }).click();
    await page.getByText("Offered to the project Default").waitFor();
    await takeScreenshot(page, "workflow-offered");
    await chooseAction("Offer to projects…");
    await page.getByRole("radio", { name: "No other project" }).check();
    await page.getByRole("button", { name: "Save offer" }).click();
    await page.getByText("Offered to the project Default").waitFor({ state: "detached" });

    await chooseAction("Move to another project…");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await page.getByText("Moved “Month end” to the project “Default”.").waitFor();
    expect(
      (await requestApi<{ project?: string }>(ann, "GET", `/workflows/${finance}`)).project,
    ).toBeUndefined();
    expect(problems).toEqual([]);
  });
});

describe("the page People", () => {
  it("offers the role member once there are several projects", async () => {
    const { site, ann, ben } = await openSiteWithProjects();
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
    await visit("/people");
    await page.getByText(/A member has no role here/).waitFor();
    await selectOption(page, page.getByRole("combobox", { name: "Role of ben@example.com" }), "member");
    await page.getByText("Updated ben@example.com: member, active.").waitFor();
    expect(problems).toEqual([]);

    // A member of no project learns whom to ask, and sees nothing.
    const bens = await openWindow(await openBrowser(), site, ben);
    await bens.visit("/workflows");
    await takeScreenshot(bens.page, "member-of-nothing");
    expect(await bens.page.getByText("Morning report").count()).toBe(0);
  });
});
