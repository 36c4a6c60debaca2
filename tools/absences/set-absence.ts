import { z } from "zod";
import { Absence } from "../../schemas/absence.ts";
import type { Issue } from "../../schemas/problem.ts";
import { text } from "../../schemas/text.ts";
import { Email } from "../../schemas/user.ts";
import type { Access } from "../../src/core/access.ts";
import { roleOfPerson } from "../../src/core/approval-people.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { samePerson } from "../../src/core/mailbox.ts";
import type { Writers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool } from "../../src/core/tool.ts";
import { AbsentPerson, absentPerson } from "./absent-person.ts";
import { serializeAbsence } from "./serialize-absence.ts";

/** Maximum length of an absence, and how far ahead it may end, in milliseconds. */
const MAX_MS = 400 * DAY;

const Time = text(40, 1)
  .refine((time) => TIME.test(time) && !Number.isNaN(Date.parse(time)), {
    message: "must be a time such as 2026-12-20T08:00:00Z",
    params: { code: "wrong_format" },
  })
  .meta({ description: "A time in ISO 8601 with its offset.", example: "2026-12-20T08:00:00Z" });
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

export const setAbsence = defineTool({
  name: "set_absence",
  title: "Set your absence",
  description:
    "Says when you are away, in place of what was set before; a signed-in admin can say it for another person. Meanwhile the substitute can decide the approvals that are assigned to " +
    "you as well, and gets their mail. Nobody's own work: what you may not decide, your substitute may not decide for you.",
  route: "PUT /absence",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "update",
  errors: ["missing_scope"],
  input: z.strictObject({
    from: Time.optional().meta({ description: "When it begins. Default: now." }),
    until: Time.meta({ description: "When you are back, at most 400 days ahead." }),
    substitute: Email.meta({ description: "The address of an active user." }),
    person: AbsentPerson,
  }),
  output: Absence,
  async run({ from, until, substitute, person }, ctx) {
    const now = ctx.now();
    const [startsAt, endsAt] = [iso(from === undefined ? now : Date.parse(from)), iso(Date.parse(until))];
    const issues = timeIssues(startsAt, endsAt, now);
    if (issues.length > 0) throw invalidInput(issues);
    return ctx.write(async (tx) => {
      const owner = await absentPerson(tx, ctx.actor.principal, person);
      const wanted = { email: owner, startsAt, endsAt, substitute };
      const found = await substituteIssues(tx, ctx.actor.principal.access, wanted, iso(now));
      if (found.length > 0) throw invalidInput(found);
      await tx.users.setAbsence(owner, { startsAt, endsAt, substitute, setAt: iso(now) });
      await tx.recordAudit(owner, undefined, { details: { from: startsAt, until: endsAt, substitute } });
      return serializeAbsence(tx.users, owner, now);
    });
  },
});

function timeIssues(startsAt: string, endsAt: string, now: number): Issue[] {
  if (endsAt <= startsAt || endsAt <= iso(now))
    return [
      {
        path: "until",
        code: "too_small",
        message: `must be later than ${endsAt <= startsAt ? "from" : "now"}, got ${endsAt}`,
        fix: "Send the time when you are back.",
      },
    ];
  if (Date.parse(endsAt) - now <= MAX_MS) return [];
  return [
    {
      path: "until",
      code: "too_large",
      message: "must be at most 400 days ahead",
      fix: "Send an earlier time.",
    },
  ];
}

const substituteIssue = (message: string, fix: string): Issue[] => [
  { path: "substitute", code: "not_allowed", message, fix },
];

interface Wanted {
  email: string;
  startsAt: string;
  endsAt: string;
  substitute: string;
}

/** The substitute must be an active user, and nobody may end up as their own substitute. */
async function substituteIssues(
  tx: Pick<Writers, "users" | "projects">,
  access: Access,
  { email, startsAt, endsAt, substitute }: Wanted,
  now: string,
): Promise<Issue[]> {
  if (samePerson(substitute, email))
    return substituteIssue("is the person who is away", "Choose another person.");
  if (!(await isColleague(tx, access, substitute)))
    return substituteIssue(
      "is not the address of an active user who works in one of your projects",
      "Choose somebody who can sign in, or invite them.",
    );
  const absences = (await tx.users.absencesAfter(now)).filter(
    (other) => other.startsAt < endsAt && other.endsAt > startsAt,
  );
  const seen = new Set([email]);
  for (let next = substitute; ;) {
    const absence = absences.find((other) => other.email === next);
    if (absence === undefined || seen.has(next)) return [];
    if (absence.substitute === email)
      return substituteIssue(
        `is away from ${absence.startsAt} until ${absence.endsAt}, and in the end ${email} would be their own substitute`,
        "Choose somebody who is there.",
      );
    seen.add(next);
    next = absence.substitute;
  }
}

/** Whether an address is that of an active user with a role in a project of the caller, so that nothing is revealed about others. */
async function isColleague(
  tx: Pick<Writers, "users" | "projects">,
  { everywhere, projects }: Access,
  email: string,
): Promise<boolean> {
  if (everywhere !== null) return (await tx.users.findByEmail(email))?.status === "active";
  const read = { users: tx.users, projects: unscoped(tx.projects) };
  for (const project of projects.keys()) if ((await roleOfPerson(read, email, project)) !== null) return true;
  return false;
}
