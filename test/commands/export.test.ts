import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { openInstance } from "../../src/app/instance.ts";
import { newLink } from "../../src/auth/links.ts";
import { exportAll, type ExportOptions } from "../../src/commands/export.ts";
import { importAll, type ImportOptions } from "../../src/commands/import.ts";
import { describeError, type Io } from "../../src/commands/io.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { getTriggers } from "../../tools/triggers/get-triggers.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { linkWriter } from "../../src/store/links.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { addUser, callAs, signedInUser } from "../support/users.ts";
import { SET_BY_HAND } from "../support/run-records.ts";

const HELLO = { steps: [{ id: "said", type: "set", values: { text: "Good morning" } }] };
const TEXT =
  "# The greeting.\nsteps:\n  - id: said # once\n    type: set\n    values: { text: Good morning }\n";
const DAILY = { ...HELLO, schedule: { cron: "0 6 * * *", timezone: "Europe/Berlin" } };

async function runInProcess(stateDir: string, work: (io: Io) => Promise<void>) {
  let [out, err, code] = ["", "", 0];
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    terminal: false,
    errTerminal: false,
    env: { MILLRACE_STATE_DIR: stateDir },
    onExit: () => {},
  };
  await work(io).catch((error: unknown) => {
    const described = describeError(error);
    err += described.message;
    code = described.exitCode;
  });
  return { code, out, err };
}

const exporting = (stateDir: string, file: string, options: ExportOptions = {}) =>
  runInProcess(stateDir, (io) => exportAll(io, file, options));
const importing = (stateDir: string, file: string, options: ImportOptions = { yes: true }, answer?: string) =>
  runInProcess(stateDir, (io) => importAll(io, { ask: () => Promise.resolve(answer) }, file, options));

const linesOf = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { kind: string });

const workflowLineOf = (file: string) => linesOf(file).find(({ kind }) => kind === "workflow");

const write = (file: string, lines: readonly object[]): string => {
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
};

const intent = { operation: "test", actor: OPERATOR_ACTOR, requestId: "req_1" };

/** The backtest that a version passed, which no file has. */
const PASSED = {
  id: null,
  rule: { last: 100, allow: [] },
  runs: { total: 0, equal: 0, different: 0, failing: 0, not_comparable: 0 },
  allowed: [],
  accepted: [],
};

/** Publishes a version in the same way as the operation does. */
async function publish(tx: Writers, id: string, paused = false): Promise<void> {
  const current = (await tx.workflows.find(id))!;
  const { version } = current;
  await tx.workflows.publish(current, { version, status: "published" });
  await tx.workflows.addPublication({ id, version, backtest: PASSED }, OPERATOR_ACTOR.principal);
  const schedule = current.definition?.["schedule"] as typeof DAILY.schedule | undefined;
  if (schedule === undefined) {
    await tx.schedules.remove(id);
    return;
  }
  await tx.schedules.save({
    workflowId: id,
    version,
    ...schedule,
    overlap: "skip",
    paused,
    nextAt: iso(0),
    lastAt: null,
    skipped: null,
    actor: { owner: "ann@example.com", keyName: "ci", lineage: "key_1" },
  });
}

const ABSENCE = {
  startsAt: iso(Date.UTC(2026, 11, 1)),
  endsAt: iso(Date.UTC(2027, 0, 7)),
  substitute: "bea@example.com",
  setAt: iso(Date.UTC(2026, 10, 21)),
};

/** An instance with one of everything, and its export. */
async function exported(options: ExportOptions = {}) {
  const instance = await testInstance({ clock: fakeClock() });
  const { user, cookie } = await signedInUser(instance, { role: "admin", passwordHash: "c2NyeXB0-a-hash" });
  await addUser(instance, { email: "bea@example.com", role: "viewer", status: "deactivated" });
  const key = await instance.key({ name: "ci", scopes: ["run"] });
  const { token, record } = newLink("reset", user.id, instance.clock);
  await instance.store.transaction((trx) => linkWriter(trx, instance.clock).insert(record));
  await instance.write(intent, async (tx) => {
    await tx.users.setAbsence("ann@example.com", ABSENCE);
    const change = { kind: "created", reason: "A start", actor: OPERATOR_ACTOR } as const;
    const content = { name: "Hello", description: "Says it.", tags: ["demo"], definition: DAILY };
    const first = await tx.workflows.insert(content, change, { id: "hello" });
    await tx.workflows.addVersion(
      first,
      { ...first, description: "Says it well." },
      { ...change, kind: "updated" },
    );
    await publish(tx, "hello");
    await tx.workflows.insert({ ...content, name: "Draft", definition: null }, change, { id: "draft" });
    const state = { values: { last_id: 7 }, updatedAt: iso(0), updatedBy: "run_1", change: SET_BY_HAND };
    expect(await tx.workflowStates.replace("hello", 1, state, "key_1")).toBe(true);
  });
  const file = join(temporaryDirectory(), "all.jsonl");
  expect(await exporting(instance.stateDir, file, options)).toMatchObject({ code: 0, err: "" });
  return { instance, file, key, token, cookie };
}

const empty = (): string => join(temporaryDirectory(), "state");

describe("millrace export and import", () => {
  it("imports the texts of definitions, and refuses one that says something else", async () => {
    const { stateDir, ...instance } = await testInstance();
    await instance.write(intent, (tx) =>
      tx.workflows.insert(
        { name: "Hello", description: "", tags: [], definition: HELLO, definition_text: TEXT },
        { kind: "created", reason: null, actor: OPERATOR_ACTOR },
      ),
    );
    const file = join(temporaryDirectory(), "all.jsonl");
    await exporting(stateDir, file);
    const target = empty();
    expect(await importing(target, file)).toMatchObject({ code: 0, err: "" });
    expect((await importing(target, file)).out).toContain("1 and 0 already exist here");
    const { read } = await testInstance({ stateDir: target });
    expect(await read.workflows.versionText("hello", 1)).toBe(TEXT);
    const forged = linesOf(file).map((line) =>
      line.kind === "version"
        ? Object.assign(line, { definition_text: TEXT.replace("morning", "evening") })
        : line,
    );
    const { err } = await importing(empty(), write(file, forged));
    expect(err).toContain("definition_text must say the definition, or be left out");
  });

  it("imports users, workflows with their history, and schedules, and audits the import", async () => {
    const { file } = await exported();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const stateDir = empty();
    const { code, out, err } = await importing(stateDir, file);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("+ ann@example.com, admin, invited\n");
    expect(out).toContain("+ bea@example.com, viewer, deactivated\n");
    expect(out).toContain("1 schedule will run here from now on");
    expect(out).toContain("  ci of operator (read, run)\n");
    expect(out).toMatch(/Imported\.\n$/);

    const { read } = await testInstance({ stateDir });
    const [before, after] = [linesOf(file), await read.workflows.find("hello")];
    const { schedule: _, kind: __, state: ___, ...workflow } = before.find(({ id }) => id === "hello")!;
    expect(after).toMatchObject({ ...workflow, name: "Hello", description: "Says it well." });
    expect(await read.workflows.findVersion("hello", 1)).toMatchObject({
      reason: "A start",
      description: "Says it.",
    });
    expect(await read.workflowStates.find("hello")).toMatchObject({
      values: { last_id: 7 },
      updatedBy: "operator",
    });
    expect(await read.schedules.find("hello")).toMatchObject({
      paused: false,
      version: 2,
      nextAt: expect.stringMatching(/T0[45]:00:00\.000Z$/),
    });
    expect(
      (
        await read.workflows.page({
          filter: { search: "well" },
          sort: "name",
          after: null,
          limit: 9,
          withDefinition: false,
        })
      ).items,
    ).toHaveLength(1);
    expect(await read.users.findByEmail("ann@example.com")).toMatchObject({
      passwordHash: null,
      status: "invited",
    });
    expect(await read.users.absenceOf("ann@example.com", ABSENCE.startsAt)).toMatchObject(ABSENCE);
    const audit = await read.audit.page({ filter: {}, before: null, limit: 9 });
    expect(audit.map(({ operation, target }) => `${operation} ${target}`).toSorted()).toEqual([
      "import_user.role_admin ann@example.com",
      "import_user.role_viewer bea@example.com",
      "import_workflow draft",
      "import_workflow hello",
    ]);
  });

  it("writes no secrets, with any options", async () => {
    const { instance, file, key, token, cookie } = await exported({ withRuns: true, withAudit: true });
    const text = readFileSync(file, "utf8");
    const rows = async (table: "api_keys" | "sessions" | "account_links") =>
      instance.store.read.selectFrom(table).select("digest").execute();
    const digests = (await Promise.all([rows("api_keys"), rows("sessions"), rows("account_links")])).flat();
    expect(digests).toHaveLength(3);
    const settings = await instance.store.read
      .selectFrom("settings")
      .select("value")
      .where("name", "=", "cursor_key")
      .execute();
    expect(settings).toHaveLength(1);
    const secrets = [
      key.value,
      key.value.slice(-4),
      token,
      cookie.split("=")[1]!,
      "c2NyeXB0-a-hash",
      ...settings.map(({ value }) => value),
      ...digests.flatMap(({ digest }) => [
        digest.toString("hex"),
        digest.toString("base64"),
        digest.toString("base64url"),
      ]),
    ];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('"kind":"audit_entry"');
  });

  it("exports the same file again after an import into an empty instance", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 20 }).filter((one) => !one.includes("\0"));
    const definition = fc.oneof(
      fc.constant(null),
      fc.constant(HELLO),
      fc.constant(DAILY),
      fc
        .dictionary(text, fc.jsonValue({ maxDepth: 3 }))
        .map((one) => JSON.parse(JSON.stringify(one)) as Record<string, unknown>),
    );
    const step = fc.record({
      what: fc.constantFrom("update", "publish", "archive"),
      description: text,
      tags: fc.uniqueArray(
        text.filter((one) => one.trim() !== ""),
        { maxLength: 3 },
      ),
      reason: fc.option(text),
      definition,
    });
    const history = fc.record({
      name: text.map((one) => `W${one}`),
      definition,
      steps: fc.array(step, { maxLength: 6 }),
    });
    const people = fc.uniqueArray(
      fc.record({
        email: fc.stringMatching(/^[a-z]{1,8}@example\.com$/),
        role: fc.constantFrom("viewer", "editor", "admin"),
        status: fc.constantFrom("invited", "deactivated"),
      }),
      { selector: ({ email }) => email, maxLength: 4 },
    );
    const root = temporaryDirectory();
    await fc.assert(
      fc.asyncProperty(fc.array(history, { maxLength: 4 }), people, async (histories, users) => {
        const directory = mkdtempSync(join(root, "run-"));
        const [from, to] = [join(directory, "from"), join(directory, "to")];
        const clock = fakeClock();
        const instance = await openInstance({ stateDir: from }, clock, pino({ level: "silent" }));
        for (const user of users) await addUser({ ...instance, clock } as never, user);
        for (const { name, definition: first, steps } of histories)
          await instance.write(intent, async (tx) => {
            const made = { kind: "created", reason: null, actor: OPERATOR_ACTOR } as const;
            let now = await tx.workflows.insert({ name, description: "", tags: [], definition: first }, made);
            for (const { what, reason, ...fields } of steps) {
              clock.advance(1_000);
              if (
                what === "publish" &&
                (now.definition === HELLO || now.definition === DAILY) &&
                now.status !== "archived"
              ) {
                await publish(tx, now.id, reason !== null);
                now = { ...(await tx.workflows.find(now.id))!, definition: now.definition };
              } else if (what === "archive") {
                await tx.schedules.remove(now.id);
                now = await tx.workflows.addVersion(
                  now,
                  { ...now, status: "archived" },
                  { kind: "archived", reason, actor: OPERATOR_ACTOR },
                );
              } else
                now = await tx.workflows.addVersion(
                  now,
                  { ...now, ...fields },
                  { kind: "updated", reason, actor: OPERATOR_ACTOR },
                );
            }
          });
        await instance.close();
        const [first, second] = [join(directory, "1.jsonl"), join(directory, "2.jsonl")];
        expect((await exporting(from, first)).err).toBe("");
        expect((await importing(to, first)).err).toBe("");
        expect((await exporting(to, second)).err).toBe("");
        expect(readFileSync(second, "utf8")).toBe(readFileSync(first, "utf8"));
        // A second import changes nothing.
        expect((await importing(to, second)).out).toContain("0 new workflows, 0 new users");
      }),
      { numRuns: 8 },
    );
  });

  it("imports subscriptions paused, with new signing secrets, and a second time not at all", async () => {
    const instance = await testInstance({ clock: fakeClock() });
    const { principal } = await signedInUser(instance, { role: "admin" });
    const call = callAs(instance, principal);
    const events = ["run.failed" as const];
    const url = "https://example.com/hooks/millrace";
    const { secret, ...alerts } = await call(createSubscription, {
      name: "Alerts",
      url,
      events,
      tags: ["finance"],
    });
    const file = join(temporaryDirectory(), "all.jsonl");
    expect((await exporting(instance.stateDir, file)).out).toContain("1 subscription (without its secret)");
    expect(readFileSync(file, "utf8")).not.toContain(secret!.slice("whsec_".length));

    const stateDir = empty();
    const { out, err } = await importing(stateDir, file);
    expect(err).toBe("");
    expect(out).toContain("1 subscription will be paused");
    expect(out).toContain(`  Alerts (${alerts.id})\n`);
    const target = await testInstance({ stateDir });
    const { read } = target;
    expect(await read.subscriptions.find(alerts.id)).toMatchObject({
      name: "Alerts",
      url,
      events,
      tags: ["finance"],
      workflows: null,
      createdBy: principal.owner,
      createdAt: alerts.created_at,
      pausedAt: expect.any(String),
      pauseReason: expect.stringContaining("Imported"),
    });
    const { engine } = target.services;
    expect(engine.signingSecret({ id: alerts.id, generation: 1 })).not.toBe(secret);
    expect((await importing(stateDir, file)).out).not.toContain("Imported.");
    expect(await read.subscriptions.count({})).toBe(1);
    const audit = await read.audit.page({ filter: { target: alerts.id }, before: null, limit: 9 });
    expect(audit.map(({ operation }) => operation)).toEqual(["import_subscription"]);
  });

  it.each([
    [{ url: null }, /either url or url_secret must be null, and not both/],
    [{ url_secret: "chat" }, /either url or url_secret must be null, and not both/],
    [{ format: "slack" }, /url must be null, because the format is slack/],
    [{ pause_reason: "Holidays" }, /paused_at and pause_reason must both be null, or neither/],
    [{ project: "finance" }, /the project finance is neither here nor in the lines before/],
    [{ events: ["run.lost"] }, /events\[0\] must be one of/],
  ])("refuses a subscription with %j, and imports nothing", async (change, issue) => {
    const instance = await testInstance({ clock: fakeClock() });
    const { principal } = await signedInUser(instance, { role: "admin" });
    await callAs(instance, principal)(createSubscription, {
      name: "Alerts",
      url: "https://example.com/hooks/millrace",
      events: ["run.failed"],
    });
    const file = join(temporaryDirectory(), "all.jsonl");
    await exporting(instance.stateDir, file);
    const lines = linesOf(file).map((line) =>
      line.kind === "subscription" ? Object.assign(line, change) : line,
    );
    const stateDir = empty();
    const { code, err } = await importing(stateDir, write(file, lines));
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(issue) });
    const { read } = await testInstance({ stateDir });
    expect(await read.subscriptions.count({})).toBe(0);
    expect(await read.users.findByEmail(principal.owner)).toBeUndefined();
  });

  it("imports triggers with new URLs, for who published them", async () => {
    const instance = await testInstance({ clock: fakeClock() });
    const { principal } = await signedInUser(instance, { role: "admin" });
    const call = callAs(instance, principal);
    const triggers = [
      { id: "push", type: "webhook" },
      { id: "release", type: "webhook" },
    ];
    const { id } = await call(createWorkflow, { name: "Hooked", definition: { ...HELLO, triggers } });
    await call(publishWorkflow, { workflow_id: id });
    const before = await instance.read.triggers.ofWorkflow(id);
    const file = join(temporaryDirectory(), "all.jsonl");
    await exporting(instance.stateDir, file);
    const text = readFileSync(file, "utf8");
    for (const { url } of (await call(getTriggers, { workflow_id: id })).items)
      expect(text).not.toContain(url!.split("/").at(-1));

    const stateDir = empty();
    expect(await importing(stateDir, file)).toMatchObject({ code: 0, err: "" });
    const { read } = await testInstance({ stateDir });
    const after = await read.triggers.ofWorkflow(id);
    expect(after.map(({ name, version, actor }) => [name, version, actor.owner])).toEqual([
      ["push", 1, principal.owner],
      ["release", 1, principal.owner],
    ]);
    for (const trigger of after) expect(before.map((one) => one.id)).not.toContain(trigger.id);
    const again = join(temporaryDirectory(), "again.jsonl");
    await exporting(stateDir, again);
    expect(workflowLineOf(again)).toEqual(workflowLineOf(file));
  });

  it("never changes existing data: refuses conflicts, or skips them with --keep", async () => {
    const { instance, file } = await exported();
    const target = await testInstance();
    await addUser(target, { email: "ann@example.com", role: "viewer" });
    await target.write(intent, (tx) =>
      tx.workflows.insert(
        { name: "Ours", description: "", tags: [], definition: null },
        { kind: "created", reason: null, actor: OPERATOR_ACTOR },
        { id: "hello" },
      ),
    );
    const refused = await importing(target.stateDir, file);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("another history: hello.") });
    expect(await target.read.workflows.find("draft")).toBeUndefined();
    const imported = await importing(target.stateDir, file, { yes: true, keep: true });
    expect(imported).toMatchObject({ code: 0, err: "" });
    expect(imported.out).toContain("= workflow hello: skipped, exists here");
    expect(imported.out).toContain(
      "= ann@example.com: skipped, exists here (viewer here, admin in the file)",
    );
    expect(await target.read.workflows.find("hello")).toMatchObject({ name: "Ours" });
    expect(await target.read.users.findByEmail("ann@example.com")).toMatchObject({ role: "viewer" });
    expect(await target.read.workflows.find("draft")).toMatchObject({ name: "Draft" });
    expect((await importing(instance.stateDir, file)).out).toContain(
      "0 new workflows, 0 new users; 2 and 2 already exist here",
    );
  });

  it("asks first, changes nothing with --dry-run, and can import schedules paused", async () => {
    const { file } = await exported();
    const stateDir = empty();
    expect(await importing(stateDir, file, {})).toMatchObject({
      code: 2,
      err: expect.stringContaining("Use --yes."),
    });
    expect(await importing(stateDir, file, {}, "no")).toMatchObject({ code: 1 });
    expect(await importing(stateDir, file, { dryRun: true })).toMatchObject({
      code: 0,
      out: expect.stringContaining("2 new workflows, 2 new users"),
    });
    expect(await importing(stateDir, file, { pauseSchedules: true }, "y")).toMatchObject({ code: 0 });
    const { read } = await testInstance({ stateDir });
    expect(await read.schedules.find("hello")).toMatchObject({ paused: true });
  });

  it.each([
    [
      "a line that is not JSON",
      (l: object[]) => [...l.slice(0, 1), "{", ...l.slice(1)],
      /:2: the line is not valid JSON/,
    ],
    [
      "an unknown kind",
      (l: object[]) => [l[0]!, { kind: "usre" }, ...l.slice(1)],
      /:2: kind must be one of .*did you mean user\?/,
    ],
    [
      "an unknown field",
      (l: object[]) => [l[0]!, { ...l[1], password: "x" }, ...l.slice(2)],
      /:2: password /,
    ],
    ["a wrong value", (l: object[]) => [l[0]!, { ...l[1], role: "king" }, ...l.slice(2)], /:2: role /],
    [
      "an invalid time",
      (l: object[]) => [l[0]!, { ...l[1], created_at: "yesterday" }, ...l.slice(2)],
      /:2: created_at /,
    ],
    [
      "a duplicate user",
      (l: object[]) => [l[0]!, l[1]!, ...l.slice(1)],
      /:3: the user ann@example\.com is already in line 2/,
    ],
    [
      "a missing version",
      (l: object[]) =>
        l.filter(
          (one) =>
            (one as { version?: number; kind: string }).kind !== "version" ||
            (one as { version?: number }).version !== 2,
        ),
      /version is 2, but 1 versions follow/,
    ],
    [
      "a version without its workflow",
      (l: object[]) => l.filter((one) => (one as { id?: string }).id !== "hello"),
      /must follow the line of its workflow hello/,
    ],
    [
      "versions out of order",
      (l: object[]) =>
        l.map((one) =>
          (one as { version?: number; kind: string }).kind === "version" ? { ...one, version: 7 } : one,
        ),
      /version must be 1, got 7/,
    ],
    [
      "a live version that does not exist",
      (l: object[]) =>
        l.map((one) => ((one as { id?: string }).id === "hello" ? { ...one, published_version: 9 } : one)),
      /published_version must be at most version \(2\), got 9/,
    ],
    [
      "a status that does not fit",
      (l: object[]) =>
        l.map((one) => ((one as { id?: string }).id === "hello" ? { ...one, status: "draft" } : one)),
      /status draft does not fit published_version 2/,
    ],
    [
      "an invalid live definition",
      (l: object[]) =>
        l.map((one) =>
          (one as { version?: number; kind: string }).kind === "version"
            ? { ...one, definition: { steps: [{ id: "a", type: "sett" }] } }
            : one,
        ),
      /definition\.steps\[0\]\.type/,
    ],
    ["no end", (l: object[]) => l.slice(0, -1), /the end line is missing: the file was truncated/],
    [
      "an end line with another count",
      (l: object[]) => [...l.slice(0, 1), ...l.slice(2)],
      /lines is \d+, but \d+ lines precede the end/,
    ],
    ["something behind the end", (l: object[]) => [...l, l[1]!], /this line is after the end/],
    [
      "a newer format",
      (l: object[]) => [{ ...l[0], format: 2 }, ...l.slice(1)],
      /the file has format 2 \(release /,
    ],
    ["another file", () => [{ name: "x" }], /was not written by millrace export/],
    ["nothing", () => [], /is empty/],
  ])("refuses a file with %s, names the line, and imports nothing", async (_, change, expected) => {
    const { file } = await cachedExport();
    const lines = change(linesOf(file)).map((line) =>
      typeof line === "string" ? line : JSON.stringify(line),
    );
    const bad = join(temporaryDirectory(), "bad.jsonl");
    writeFileSync(bad, lines.map((line) => `${line}\n`).join(""));
    const stateDir = empty();
    const { code, out, err } = await importing(stateDir, bad);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(expected);
    const { read } = await testInstance({ stateDir });
    expect([await read.users.exists(), await read.workflows.revision()]).toEqual([false, 0]);
  });

  it("uses the singular for one", async () => {
    const instance = await testInstance();
    await addUser(instance, { email: "ann@example.com" });
    const file = join(temporaryDirectory(), "one.jsonl");
    expect((await exporting(instance.stateDir, file)).out).toBe(`1 user written to ${file}\n`);
    expect((await importing(empty(), file)).out).toContain("0 new workflows, 1 new user;");
  });

  it("does not import records of the other instance, and says so", async () => {
    const { file } = await exported({ withAudit: true });
    expect(linesOf(file).filter(({ kind }) => kind === "audit_entry").length).toBeGreaterThan(0);
    expect((await importing(empty(), file)).out).toContain(
      "records of runs or of the audit log will not be imported",
    );
  });

  it("exports finished runs with their inputs and outputs on request", async () => {
    const instance = await testInstance();
    await instance.write(intent, async (tx) => {
      const change = { kind: "created", reason: null, actor: OPERATOR_ACTOR } as const;
      const definition = { ...HELLO, output: "${{ steps.said.text }}" };
      await tx.workflows.insert({ name: "Hello", description: "", tags: [], definition }, change, {
        id: "hello",
      });
      await publish(tx, "hello");
    });
    const { queue } = await instance.executor();
    const { runWorkflow } = await import("../../tools/runs/run-workflow.ts");
    const { keyPrincipal } = await import("../support/users.ts");
    const done = callAs(instance, keyPrincipal())(runWorkflow, { workflow_id: "hello" });
    queue.wake();
    await done;
    await queue.waitUntilIdle();
    const directory = temporaryDirectory();
    const [plain, whole] = [join(directory, "plain"), join(directory, "whole")];
    await exporting(instance.stateDir, plain);
    expect(linesOf(plain).some(({ kind }) => kind === "run")).toBe(false);
    await exporting(instance.stateDir, whole, { withRuns: true });
    expect(linesOf(whole)).toContainEqual(
      expect.objectContaining({ kind: "run", status: "succeeded", output: "Good morning" }),
    );
    expect(linesOf(whole)).toContainEqual(
      expect.objectContaining({ kind: "run_step", step_id: "said", output: { text: "Good morning" } }),
    );
  });

  it("overwrites no file, and leaves no incomplete file", async () => {
    const { instance, file } = await cachedExport();
    expect(await exporting(instance, file)).toMatchObject({
      code: 2,
      err: expect.stringContaining("already exists"),
    });
    const nowhere = join(temporaryDirectory(), "none", "x.jsonl");
    expect(await exporting(instance, nowhere)).toMatchObject({ code: 2 });
    expect(existsSync(`${nowhere}.part`)).toBe(false);
    expect(await importing(instance, nowhere)).toMatchObject({
      code: 2,
      err: `${nowhere} is not a file. Name a file written by millrace export.`,
    });
    const binary = write(join(temporaryDirectory(), "b"), []);
    writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x00]));
    expect(await importing(instance, binary)).toMatchObject({
      code: 1,
      err: expect.stringContaining("not UTF-8"),
    });
  });
});

/** An export that is shared by all tests that only read it. */
async function cachedExport() {
  const { instance, file } = await exported();
  return { instance: instance.stateDir, file };
}
