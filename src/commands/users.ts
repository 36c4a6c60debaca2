/** `millrace users`: people, for operators without a browser and admins who have locked themselves out. */
import { MAX_PAGE } from "../../schemas/page.ts";
import { Email, Role, type User } from "../../schemas/user.ts";
import { inviteUser } from "../../tools/users/invite-user.ts";
import { listUsers } from "../../tools/users/list-users.ts";
import { renewInvitation } from "../../tools/users/renew-invitation.ts";
import { resetUserPassword } from "../../tools/users/reset-user-password.ts";
import { updateUser } from "../../tools/users/update-user.ts";
import { LINK_LIFETIME_MS } from "../auth/links.ts";
import type { UserReader, UserRecord } from "../core/account-ports.ts";
import { DAY, MINUTE } from "../core/clock.ts";
import { nearMatch } from "../core/near-match.ts";
import { alignColumns, formatTimestamp } from "./columns.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { withOperator, type Operator } from "./operator.ts";

/** Among so many a near match is looked for. */
const LOOKED_THROUGH = 1_000;

/** By hand: who asks for a link here may be here because no mail arrives. */
const here = <T>(io: Io, work: (operator: Operator) => Promise<T>, requiresStateFor?: string): Promise<T> =>
  withOperator(io, { disableMail: true, requiresStateFor }, work);

/** Lists everybody, by address. */
export async function showUsers(io: Io, { json }: { json?: boolean }): Promise<void> {
  const users = await here(
    io,
    async ({ call }) => {
      const all: User[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: User[]; next_cursor: string | null } = await call(listUsers, {
          limit: MAX_PAGE,
          ...(cursor !== null && { cursor }),
        });
        all.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return all;
    },
    "list users of",
  );
  if (json) return io.out(`${JSON.stringify(users, null, 2)}\n`);
  if (users.length === 0) return io.out(`${NOBODY}\n`);
  const { bold, dim } = paint(io);
  const rows = users.map((user) => [
    user.email,
    user.role,
    user.status,
    user.verified ? "yes" : "no",
    formatTimestamp(user.last_login_at),
    formatTimestamp(user.created_at),
  ]);
  const head = ["E-MAIL", "ROLE", "STATUS", "CONFIRMED", "LAST SIGN-IN", "CREATED"];
  const line = alignColumns([head, ...rows]);
  io.out(`${bold(line(head))}\n`);
  for (const row of rows) io.out(`${row[2] === "active" ? line(row) : dim(line(row))}\n`);
}

/** Makes somebody, and prints the link with which they choose a password. */
export async function inviteOne(io: Io, address: string, options: { role: string }): Promise<void> {
  const email = checkEmail(address);
  const role = checkRole(options.role);
  await here(io, async ({ call, setup, instance: { read } }) => {
    const known = await read.users.findByEmail(email);
    if (known !== undefined)
      throw new CommandError(`${email} is ${known.status} already. ${NEXT[known.status](email)}`);
    if (role !== "admin" && !(await read.users.exists()))
      throw new CommandError(
        "The first user is an admin, or nobody could invite others. Say --role admin, or open the link that millrace " +
          "serve and millrace start print.",
      );
    const { link } = await call<{ link: string }>(inviteUser, { email, role });
    tellLink(
      io,
      setup,
      link,
      `${email} takes the invitation up with it, within ${LINK_LIFETIME_MS.invitation / DAY} days.`,
    );
    await warnOfProvider(io, read.users);
  });
}

/** Prints a link with which somebody chooses a new password, or their first. */
export async function resetOne(io: Io, address: string): Promise<void> {
  await here(io, async ({ call, setup, instance: { read } }) => {
    const { id, email, status } = await findUser(read.users, address);
    if (status === "deactivated") throw new CommandError(`${email} is deactivated. ${NEXT[status](email)}`);
    const invited = status === "invited";
    const { link } = await call<{ link: string }>(invited ? renewInvitation : resetUserPassword, {
      user_id: id,
    });
    const until = invited
      ? `takes the invitation up with it, within ${LINK_LIFETIME_MS.invitation / DAY} days.`
      : `chooses a new password with it, within ${LINK_LIFETIME_MS.reset / MINUTE} minutes.`;
    tellLink(io, setup, link, `${email} ${until} Earlier links are dead.`);
    await warnOfProvider(io, read.users);
  });
}

/** Takes somebody's way in away, or gives it back. */
export async function setStatus(io: Io, address: string, status: "active" | "deactivated"): Promise<void> {
  await here(io, async ({ call, instance: { read } }) => {
    const before = await findUser(read.users, address);
    const { email } = before;
    if (before.status === "invited" && status === "active")
      throw new CommandError(`${email} becomes active by taking the invitation up. ${NEXT.invited(email)}`);
    if (before.status === status) return io.out(`${email} is ${status} already.\n`);
    const after = await call<User>(updateUser, { user_id: before.id, status });
    io.out(`${email} ${SAID[after.status](email)}\n`);
  });
}

/** Changes what somebody may do, from their next request on. */
export async function setRole(io: Io, address: string, wanted: string): Promise<void> {
  const role = checkRole(wanted);
  await here(io, async ({ call, instance: { read } }) => {
    const before = await findUser(read.users, address);
    await call(updateUser, { user_id: before.id, role });
    io.out(
      before.role === role ? `${before.email} is ${role} already.\n` : `${before.email} is ${role} now.\n`,
    );
  });
}

const NOBODY =
  "There are no users yet. Open the link that millrace serve and millrace start print, or make the first admin here: " +
  "millrace users invite <email> --role admin";

/** What can be done next with somebody who is there already. */
const NEXT = {
  active: (email: string) => `To change the role: millrace users role ${email} <role>`,
  invited: (email: string) => `To make another link: millrace users reset ${email}`,
  deactivated: (email: string) => `To let them in again: millrace users activate ${email}`,
} as const;

const SAID = {
  active: () => "can sign in again.",
  invited: (email: string) => `is invited again. ${NEXT.invited(email)}`,
  deactivated: () => "can't sign in any more; sessions have ended, and keys are dead.",
} as const;

/** The link alone on standard output, so that it can be piped; what to know about it only to a person. */
function tellLink(io: Io, { settings }: Operator["setup"], link: string, about: string): void {
  io.out(`${link}\n`);
  if (io.terminal) io.err(`${paint(io).dim(`${about} It works once.`)}\n`);
  if (io.errTerminal && settings.baseUrl === undefined)
    io.err(
      `The link begins with ${new URL(link).origin}. Where people reach the server by another address, set ` +
        "MILLRACE_BASE_URL and ask for a new one.\n",
    );
}

/** Which mode `serve` runs in is not known here, but that people have come in by a provider is. */
async function warnOfProvider(io: Io, users: UserReader): Promise<void> {
  if (!(await users.existsFromProvider())) return;
  io.err(
    "People here come in by an identity provider. This link counts with --auth-mode built-in only; with cognito and oidc " +
      "the provider lets people in, and their groups and MILLRACE_ADMIN_EMAILS say what they may do.\n",
  );
}

async function findUser(users: UserReader, address: string): Promise<UserRecord> {
  const email = address.trim().toLowerCase();
  const found = await users.findByEmail(email);
  if (found !== undefined) return found;
  const { items } = await users.page({ filter: {}, after: null, limit: LOOKED_THROUGH });
  if (items.length === 0) throw new CommandError(NOBODY);
  const near = nearPerson(
    email,
    items.map((user) => user.email),
  );
  throw new CommandError(
    `There is no user ${email.slice(0, 254)}.${near === undefined ? " See millrace users list." : ` Did you mean ${near}?`}`,
  );
}

const nameOf = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf("@")));

/** By what stands before the @: all of a company's addresses are alike behind it. */
function nearPerson(email: string, known: readonly string[]): string | undefined {
  const colleagues = known.filter((address) => address.endsWith(email.slice(nameOf(email).length)));
  const pool = colleagues.length > 0 ? colleagues : known;
  const near = nearMatch(nameOf(email) || email, pool.map(nameOf));
  return pool.find((address) => nameOf(address) === near);
}

const usage = (message: string): CommandError => new CommandError(message, EXIT.usage);

function checkEmail(address: string): string {
  const parsed = Email.safeParse(address);
  if (parsed.success) return parsed.data;
  throw usage(`${address.slice(0, 254)} is not an e-mail address. Write one such as ann@example.com.`);
}

function checkRole(role: string): Role {
  const parsed = Role.safeParse(role);
  if (parsed.success) return parsed.data;
  const near = nearMatch(role, Role.options);
  throw usage(
    `The role ${role.slice(0, 100)} is not known; roles are ${Role.options.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
  );
}
