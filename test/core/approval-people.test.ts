import { describe, expect, it } from "vitest";
import type { AssignedRole } from "../../schemas/approval-rules.ts";
import type { Role, UserRole, UserStatus } from "../../schemas/user.ts";
import {
  absenteesFor,
  approvalRecipients,
  type PeopleReaders,
  peopleWithRole,
  roleOfPerson,
} from "../../src/core/approval-people.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";

const NOW = "2026-11-21T08:00:00.000Z";
const mail = (name: string) => `${name}@example.com`;

interface Person {
  role: UserRole;
  status?: UserStatus;
  /** The role in the project finance. */
  finance?: Role;
  /** Who stands in for the person now. */
  substitute?: string;
}

const PEOPLE: Readonly<Record<string, Person>> = {
  ann: { role: "admin" },
  ben: { role: "editor" },
  cai: { role: "member", finance: "editor" },
  dan: { role: "editor", status: "deactivated", finance: "admin" },
  eva: { role: "viewer", finance: "admin" },
  fay: { role: "viewer", finance: "viewer" },
};

interface Setting {
  people?: Readonly<Record<string, Person>>;
  isSingle?: boolean;
  /** People in a page of the list of users. */
  pageSize?: number;
}

function readers({ people = PEOPLE, isSingle = false, pageSize = 2 }: Setting = {}) {
  const pages: unknown[] = [];
  const all = Object.entries(people).map(([name, { role, status = "active" }]) => ({
    email: mail(name),
    role,
    status,
  }));
  const read = {
    users: {
      findByEmail: async (email: string) => all.find((user) => user.email === email),
      absencesAt: async (now: string) =>
        now === NOW
          ? Object.entries(people).flatMap(([name, { substitute }]) =>
              substitute === undefined ? [] : [{ email: mail(name), substitute: mail(substitute) }],
            )
          : [],
      async page({ filter, after }: Parameters<PeopleReaders["users"]["page"]>[0]) {
        pages.push(filter);
        const found = all.filter(
          ({ role, status }) =>
            status === filter.status && (filter.role === undefined || role === filter.role),
        );
        const start = after === null ? 0 : Number(after[1]);
        const end = start + pageSize;
        return { items: found.slice(start, end), next: end < found.length ? ["", String(end)] : null };
      },
    },
    projects: {
      isSingle: async () => isSingle,
      membershipsOf: async (email: string) =>
        new Map(
          Object.entries(people).flatMap(([name, { finance }]) =>
            mail(name) === email && finance !== undefined ? [["finance", finance] as const] : [],
          ),
        ),
      // Nobody is a member of the default project, where the role of the account counts.
      members: async (project: string) =>
        project === "default"
          ? [{ email: mail("fay"), role: "admin" }]
          : [
              ...(project === "finance" ? [{ email: mail("ghost"), role: "admin" }] : []),
              ...Object.entries(people).flatMap(([name, { finance }]) =>
                project === "finance" && finance !== undefined ? [{ email: mail(name), role: finance }] : [],
              ),
            ],
    },
  };
  return { read: read as unknown as PeopleReaders, pages };
}

describe("roleOfPerson", () => {
  it.each<[string, string, Role | null]>([
    ["ann", "finance", "admin"],
    ["ben", "default", "editor"],
    ["ben", "finance", null],
    ["cai", "finance", "editor"],
    ["cai", "default", null],
    ["dan", "finance", null],
    ["eva", "default", "viewer"],
    ["nobody", "default", null],
  ])("of %s in the project %s is %s", async (name, project, expected) => {
    expect(await roleOfPerson(readers().read, mail(name), project)).toBe(expected);
  });

  it("is the one role of an installation with one project", async () => {
    expect(await roleOfPerson(readers({ isSingle: true }).read, mail("ben"), "default")).toBe("editor");
  });
});

describe("peopleWithRole", () => {
  it.each<[Role, string, string[]]>([
    ["admin", "default", ["ann"]],
    ["editor", "default", ["ann", "ben"]],
    ["viewer", "default", ["ann", "ben", "eva", "fay"]],
    ["admin", "finance", ["ann", "eva"]],
    ["editor", "finance", ["ann", "cai", "eva"]],
    ["viewer", "finance", ["ann", "cai", "eva", "fay"]],
    ["editor", "hr", ["ann"]],
  ])("with the role %s in the project %s are %j", async (role, project, names) => {
    expect(await peopleWithRole(readers().read, role, project, 50)).toEqual(names.map(mail));
  });

  it("are sorted, and read no further page than the limit needs", async () => {
    const people = Object.fromEntries(
      ["zoe", "ann", "yan", "ben"].map((name) => [name, { role: "editor" as const }]),
    );
    const { read, pages } = readers({ people });
    expect(await peopleWithRole(read, "editor", "default", 2)).toEqual([mail("ann"), mail("zoe")]);
    expect(pages).toEqual([{ status: "active" }]);
    expect(await peopleWithRole(read, "editor", "default", 3)).toHaveLength(4);
  });
});

describe("absenteesFor", () => {
  it("are those whom the person stands in for now, with their roles in the project", async () => {
    const people = { ...PEOPLE, ben: { ...PEOPLE["ben"]!, substitute: "ann" } };
    const { read } = readers({ people });
    expect(await absenteesFor(read, mail("ann"), "default", NOW)).toEqual([
      { id: mail("ben"), role: "editor" },
    ]);
    expect(await absenteesFor(read, mail("ann"), "finance", NOW)).toEqual([{ id: mail("ben"), role: null }]);
    expect(await absenteesFor(read, mail("ann"), "default", "2030-01-01T00:00:00.000Z")).toEqual([]);
    expect(await absenteesFor(read, mail("ben"), "default", NOW)).toEqual([]);
  });
});

const withSubstitutes = (of: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(PEOPLE).map(([name, person]) => [
      name,
      { ...person, ...(of[name] !== undefined && { substitute: of[name] }) },
    ]),
  );
const editor: AssignedRole = "editor";

describe("approvalRecipients", () => {
  type Options = Partial<Parameters<typeof approvalRecipients>[2]> & { ownWorkOf?: readonly string[] };

  /** The recipients, as `email` or `email for email`. */
  async function recipients(
    fields: Partial<ApprovalRecord>,
    { ownWorkOf = [], ...options }: Options = {},
    people: Setting["people"] = PEOPLE,
  ): Promise<string[]> {
    const approval = { assignees: [], events: [], decisions: [], project: "default", ...fields };
    const found = await approvalRecipients(readers({ people }).read, approval, {
      isOwnWork: async (email) => ownWorkOf.map(mail).includes(email),
      now: NOW,
      ...options,
    });
    return found.map(({ email, for: of }) => (of === null ? email : `${email} for ${of}`));
  }
  const decided = (person: string, planDigest = "plan", seat = person) =>
    ({ person: mail(person), seat: mail(seat), planDigest }) as ApprovalRecord["decisions"][number];
  const delegated = (by: string, to: string) =>
    ({ kind: "delegated", by: mail(by), to: [mail(to)] }) as unknown as ApprovalRecord["events"][number];

  it.each<[string, Partial<ApprovalRecord>, Options, string[]]>([
    ["nobody for an approval that everyone can decide", {}, {}, []],
    [
      "the assignees who may decide",
      { assignees: ["ann", "ben", "eva", "dan"].map(mail) },
      {},
      ["ann", "ben"].map(mail),
    ],
    ["somebody without an account", { assignees: [mail("stranger")] }, {}, [mail("stranger")]],
    [
      "the assignees who may decide in the project of the approval",
      { assignees: ["ben", "cai"].map(mail), project: "finance" },
      {},
      [mail("cai")],
    ],
    [
      "nobody for their own work",
      { assignees: ["ann", "ben"].map(mail) },
      { ownWorkOf: ["ben"] },
      [mail("ann")],
    ],
    ["no stranger for their own work", { assignees: [mail("stranger")] }, { ownWorkOf: ["stranger"] }, []],
    ["the people with a role", { assignees: [editor] }, {}, ["ann", "ben"].map(mail)],
    ["each of them once", { assignees: [editor, mail("ben")] }, {}, ["ben", "ann"].map(mail)],
    [
      "only those of them who are meant, by their addresses in any form",
      { assignees: ["ann", "ben"].map(mail) },
      { to: ["Ben@Example.com", "cai@example.com"] },
      [mail("ben")],
    ],
    [
      "only the role that is meant",
      { assignees: [editor, mail("cai")] },
      { to: [editor] },
      ["ann", "ben"].map(mail),
    ],
    ["nobody where none of them is meant", { assignees: [editor, mail("ann")] }, { to: [mail("ben")] }, []],
    [
      "who holds the place of another one",
      { assignees: [mail("ann")], events: [delegated("ann", "ben")] },
      {},
      [`${mail("ben")} for ${mail("ann")}`],
    ],
    [
      "who holds a place, where the one who passed it on is meant",
      { assignees: ["ann", "cai"].map(mail), events: [delegated("ann", "ben")] },
      { to: [mail("ann")] },
      [`${mail("ben")} for ${mail("ann")}`],
    ],
    [
      "who holds a place, where the holder is meant",
      { assignees: ["ann", "cai"].map(mail), events: [delegated("ann", "ben")] },
      { to: [mail("ben")] },
      [`${mail("ben")} for ${mail("ann")}`],
    ],
    [
      "nobody with a role who has passed it on",
      { assignees: [editor], events: [delegated("ben", "ann")] },
      {},
      [`${mail("ann")} for ${mail("ben")}`],
    ],
    [
      "nobody for an own place that was passed on, where the place that the person got is taken",
      {
        assignees: [editor, mail("cai")],
        events: [delegated("ben", "ann"), delegated("cai", "ben")],
        decisions: [decided("fay", "plan", "cai")],
      },
      { planDigest: "plan" },
      [`${mail("ann")} for ${mail("ben")}`],
    ],
    [
      "nobody who has decided for the present plan",
      { assignees: ["ann", "ben"].map(mail), decisions: [decided("ann")] },
      { planDigest: "plan" },
      [mail("ben")],
    ],
    [
      "who has decided for another plan",
      { assignees: [mail("ann")], decisions: [decided("ann", "earlier")] },
      { planDigest: "plan" },
      [mail("ann")],
    ],
    [
      "who has decided, where no plan counts",
      { assignees: [mail("ann")], decisions: [decided("ann")] },
      {},
      [mail("ann")],
    ],
    [
      "nobody whose place is taken by another person, nor that person for an own place",
      { assignees: ["ann", "ben"].map(mail), decisions: [decided("ben", "plan", "ann")] },
      { planDigest: "plan" },
      [],
    ],
    [
      "nobody who has decided with another tag of the address",
      { assignees: [mail("ann")], decisions: [decided("ann+2")] },
      { planDigest: "plan" },
      [],
    ],
  ])("are %s", async (_what, fields, options, expected) => {
    expect(await recipients(fields, options)).toEqual(expected);
  });

  it("include the substitutes of those who are away, after all assignees", async () => {
    const people = withSubstitutes({ ben: "ann" });
    expect(await recipients({ assignees: ["ben"].map(mail) }, {}, people)).toEqual([
      mail("ben"),
      `${mail("ann")} for ${mail("ben")}`,
    ]);
    expect(await recipients({ assignees: ["ben", "ann"].map(mail) }, {}, people)).toEqual(
      ["ben", "ann"].map(mail),
    );
    const atFinance = { assignees: [mail("cai")], project: "finance" };
    expect(await recipients(atFinance, {}, withSubstitutes({ cai: "ben", ben: "eva" }))).toEqual([
      mail("cai"),
      `${mail("eva")} for ${mail("cai")}`,
    ]);
  });

  it("include a substitute for the place that the absent person holds for another one", async () => {
    const fields = { assignees: [mail("cai")], events: [delegated("cai", "ben")] };
    expect(await recipients(fields, {}, withSubstitutes({ ben: "ann" }))).toEqual([
      `${mail("ben")} for ${mail("cai")}`,
      `${mail("ann")} for ${mail("cai")}`,
    ]);
  });

  it("include no substitute of somebody whose own work it is, and none who may not decide", async () => {
    const fields = { assignees: [mail("ben")] };
    expect(await recipients(fields, { ownWorkOf: ["ben"] }, withSubstitutes({ ben: "ann" }))).toEqual([]);
    expect(await recipients(fields, { ownWorkOf: ["ann"] }, withSubstitutes({ ben: "ann" }))).toEqual([
      mail("ben"),
    ]);
    expect(await recipients(fields, {}, withSubstitutes({ ben: "eva" }))).toEqual([mail("ben")]);
    expect(
      await recipients(fields, { now: "2030-01-01T00:00:00.000Z" }, withSubstitutes({ ben: "ann" })),
    ).toEqual([mail("ben")]);
  });

  it("include a substitute only while nobody has decided in that place", async () => {
    const fields = { assignees: [mail("ben")], decisions: [decided("ben")] };
    expect(await recipients(fields, { planDigest: "plan" }, withSubstitutes({ ben: "ann" }))).toEqual([]);
  });

  it("are at most 50 people", async () => {
    const assignees = Array.from({ length: 60 }, (_, index) => mail(`p${index}`));
    expect(await recipients({ assignees })).toEqual(assignees.slice(0, 50));
  });
});
