/** `millrace users`: users on the command line, also for admins who can no longer sign in. */
import { canonicalAddress, mailAddressIssue } from "../../schemas/mail-address.ts";
import { MAX_PAGE } from "../../schemas/page.ts";
import { NewEmail, Role, type User, UserRole } from "../../schemas/user.ts";
import { inviteUser } from "../../tools/users/invite-user.ts";
import { listUsers } from "../../tools/users/list-users.ts";
import { renewInvitation } from "../../tools/users/renew-invitation.ts";
import { resetUserPassword } from "../../tools/users/reset-user-password.ts";
import { updateUser } from "../../tools/users/update-user.ts";
import { createSetupLink } from "../app/setup-link.ts";
import { LINK_LIFETIME_MS } from "../auth/links.ts";
import type { UserReader, UserRecord } from "../core/account-ports.ts";
import { DAY, HOUR, MINUTE } from "../core/clock.ts";
import { nearMatch } from "../core/near-match.ts";
import { alignColumns, formatTimestamp } from "./columns.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { withOperator, type Operator } from "./operator.ts";

/** Maximum number of users that are searched for a similar address. */
const NEAR_MATCH_USERS = 1_000;

/** Runs without mail: an operator may ask for a link here because mails do not arrive. */
const withoutMail = <T>(
  io: Io,
  work: (operator: Operator) => Promise<T>,
  requiresStateFor?: string,
): Promise<T> => withOperator(io, { disableMail: true, requiresStateFor }, work);

/** Lists all users, sorted by e-mail address. */
export async function listAllUsers(io: Io, { json }: { json?: boolean }): Promise<void> {
  const users = await withoutMail(
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
  if (users.length === 0) return io.out(`${NO_USERS}\n`);
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

/** Prints a link to create the first admin account with. */
export async function printSetupLink(io: Io): Promise<void> {
  await withoutMail(
    io,
    async (operator) => {
      const { setup, instance, baseUrl } = operator;
      const link = await createSetupLink(instance, setup.clock, baseUrl);
      if (link === undefined)
        throw new CommandError(
          "The first admin already exists. To add another user: millrace users invite <email> --role admin",
        );
      const lifetime = `${LINK_LIFETIME_MS.setup / HOUR} hours`;
      printLink(
        io,
        operator,
        link,
        `The first admin account is created with it, within ${lifetime}. Earlier setup links no longer work.`,
      );
    },
    "create a setup link for",
  );
}

/** Creates a user and prints the link to choose a password with. */
export async function inviteUserByEmail(io: Io, address: string, options: { role: string }): Promise<void> {
  const email = checkEmail(address);
  const role = checkRole(options.role);
  await withoutMail(io, async (operator) => {
    const {
      call,
      instance: { read },
    } = operator;
    const existing = await read.users.findByEmail(email);
    if (existing !== undefined)
      throw new CommandError(`${email} is already ${existing.status}. ${NEXT_STEP[existing.status](email)}`);
    if (role !== "admin" && !(await read.users.exists()))
      throw new CommandError(
        "The first user must be an admin, because only admins can invite others. Use --role admin, or create the first " +
          "admin in a browser: millrace users setup-link prints a link.",
      );
    const { link } = await call<{ link: string }>(inviteUser, { email, role });
    printLink(
      io,
      operator,
      link,
      `${email} can accept the invitation with it for ${LINK_LIFETIME_MS.invitation / DAY} days.`,
    );
    await warnAboutProvider(io, read.users);
  });
}

/** Prints a link to choose a new password with; for an invited user, a new invitation. */
export async function resetPassword(io: Io, address: string): Promise<void> {
  await withoutMail(io, async (operator) => {
    const {
      call,
      instance: { read },
    } = operator;
    const { id, email, status } = await findUser(read.users, address);
    if (status === "deactivated")
      throw new CommandError(`${email} is deactivated. ${NEXT_STEP[status](email)}`);
    const invited = status === "invited";
    const { link } = await call<{ link: string }>(invited ? renewInvitation : resetUserPassword, {
      user_id: id,
    });
    const use = invited
      ? `can accept the invitation with it for ${LINK_LIFETIME_MS.invitation / DAY} days.`
      : `can choose a new password with it for ${LINK_LIFETIME_MS.reset / MINUTE} minutes.`;
    printLink(io, operator, link, `${email} ${use} Earlier links no longer work.`);
    await warnAboutProvider(io, read.users);
  });
}

/** Deactivates or activates a user. */
export async function setStatus(io: Io, address: string, status: "active" | "deactivated"): Promise<void> {
  await withoutMail(io, async ({ call, instance: { read } }) => {
    const before = await findUser(read.users, address);
    const { email } = before;
    if (before.status === "invited" && status === "active")
      throw new CommandError(
        `${email} becomes active by accepting the invitation. ${NEXT_STEP.invited(email)}`,
      );
    if (before.status === status) return io.out(`${email} is already ${status}.\n`);
    const after = await call<User>(updateUser, { user_id: before.id, status });
    io.out(`${email} ${STATUS_CHANGED[after.status](email)}\n`);
  });
}

/** Changes the role of a user; it applies from the next request. */
export async function setRole(io: Io, address: string, wanted: string): Promise<void> {
  const role = checkRole(wanted);
  await withoutMail(io, async ({ call, instance: { read } }) => {
    const before = await findUser(read.users, address);
    await call(updateUser, { user_id: before.id, role });
    io.out(
      before.role === role
        ? `${before.email} already has the role ${role}.\n`
        : `${before.email} now has the role ${role}.\n`,
    );
  });
}

const NO_USERS =
  "There are no users yet. To create the first admin in a browser: millrace users setup-link. Here: " +
  "millrace users invite <email> --role admin";

/** What an operator can do next with an existing user. */
const NEXT_STEP = {
  active: (email: string) => `To change the role: millrace users role ${email} <role>`,
  invited: (email: string) => `To get a new link: millrace users reset ${email}`,
  deactivated: (email: string) => `To activate the user again: millrace users activate ${email}`,
} as const;

const STATUS_CHANGED = {
  active: () => "can sign in again.",
  invited: (email: string) => `is invited again. ${NEXT_STEP.invited(email)}`,
  deactivated: () => "can no longer sign in. All sessions have ended, and all keys are refused.",
} as const;

/** Prints only the link to standard output, so that it can be piped; a person at the terminal also sees how it is used. */
function printLink(
  io: Io,
  { setup: { settings }, baseUrl }: Pick<Operator, "setup" | "baseUrl">,
  link: string,
  use: string,
): void {
  io.out(`${link}\n`);
  if (io.terminal) io.err(`${paint(io).dim(`${use} It works once.`)}\n`);
  if (io.errTerminal && settings.baseUrl === undefined)
    io.err(
      `The link begins with ${baseUrl}. If people reach the server by another address, set ` +
        "MILLRACE_BASE_URL and create a new link.\n",
    );
}

/** This process does not know the mode of `serve`, but it knows whether anybody has signed in through a provider. */
async function warnAboutProvider(io: Io, users: UserReader): Promise<void> {
  if (!(await users.existsFromProvider())) return;
  io.err(
    "Users of this instance sign in through an identity provider. This link works only with --auth-mode built-in. With " +
      "cognito and oidc, people sign in at the provider, and their groups and MILLRACE_ADMIN_EMAILS decide their roles.\n",
  );
}

async function findUser(users: UserReader, address: string): Promise<UserRecord> {
  const email = canonicalAddress(address.trim());
  const found = await users.findByEmail(email);
  if (found !== undefined) return found;
  const { items } = await users.page({ filter: {}, after: null, limit: NEAR_MATCH_USERS });
  if (items.length === 0) throw new CommandError(NO_USERS);
  const near = similarAddress(
    email,
    items.map((user) => user.email),
  );
  throw new CommandError(
    `There is no user ${email.slice(0, 254)}.${near === undefined ? " List all users with: millrace users list" : ` Did you mean ${near}?`}`,
  );
}

const localPart = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf("@")));

/** Compares the part before the @, because all addresses of a company have the same domain. */
function similarAddress(email: string, known: readonly string[]): string | undefined {
  const colleagues = known.filter((address) => address.endsWith(email.slice(localPart(email).length)));
  const pool = colleagues.length > 0 ? colleagues : known;
  const near = nearMatch(localPart(email) || email, pool.map(localPart));
  return pool.find((address) => localPart(address) === near);
}

const usageError = (message: string): CommandError => new CommandError(message, EXIT.usage);

function checkEmail(address: string): string {
  const parsed = NewEmail.safeParse(address);
  if (parsed.success) return parsed.data;
  const { fix } = mailAddressIssue(address.trim())!;
  throw usageError(
    `Expected an e-mail address such as ann@example.com, got ${address.slice(0, 254)}. ${fix}`,
  );
}

/** `member` is not suggested: it exists only with a second project. */
function checkRole(role: string): UserRole {
  const parsed = UserRole.safeParse(role);
  if (parsed.success) return parsed.data;
  const near = nearMatch(role, Role.options);
  throw usageError(
    `The role must be one of ${Role.options.join(", ")}, got ${role.slice(0, 100)}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
  );
}
