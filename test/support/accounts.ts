/** Users and sessions for tests. As a separate process it tries to create the first admin. */
import { argv, exit } from "node:process";
import type { UserRecord } from "../../src/core/account-ports.ts";
import type { SecondFactorRecord } from "../../src/core/factor-ports.ts";
import type { SessionRecord } from "../../src/core/session-ports.ts";
import { iso, systemClock } from "../../src/core/clock.ts";
import type { AppError } from "../../src/core/errors.ts";
import { openStore } from "../../src/store/database.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { userWriter } from "../../src/store/users.ts";

const START = iso(Date.parse("2026-11-21T08:00:00Z"));

/** An active editor with this name, unless `fields` says otherwise. */
export const testUser = (name: string, fields: Partial<UserRecord> = {}): UserRecord => ({
  id: `usr_${name}`,
  email: `${name}@example.com`,
  role: "editor",
  status: "active",
  passwordHash: null,
  roleSource: null,
  verifiedAt: null,
  createdAt: START,
  createdBy: "operator",
  lastLoginAt: null,
  hasSecondFactor: false,
  ...fields,
});

/** A digest of 32 bytes, as tokens have. */
export const testDigest = (name: string): Buffer => Buffer.alloc(32, name);

/** A session that begins now and is valid for a month. */
export const testSession = (
  id: string,
  userId: string,
  fields: Partial<SessionRecord> = {},
): SessionRecord & { digest: Buffer } => ({
  id,
  digest: testDigest(id),
  userId,
  createdAt: START,
  lastSeenAt: START,
  expiresAt: "2026-12-21T08:00:00.000Z",
  client: "Firefox 145 on Linux",
  address: "192.0.2.7",
  external: false,
  endedAt: null,
  confirmedAt: null,
  ...fields,
});

/** An authenticator app of the user "ann". */
export const testFactor = (id: string, fields: Partial<SecondFactorRecord> = {}): SecondFactorRecord => ({
  id,
  userId: "usr_ann",
  kind: "totp",
  name: "Phone",
  createdAt: START,
  lastUsedAt: null,
  counter: 0,
  sealedSecret: Buffer.from("sealed"),
  passkey: null,
  ...fields,
});

if (import.meta.main) {
  const [, , stateDir, name, local] = argv;
  const directory = { ...openStateDirectory(stateDir!), local: local === "local" };
  const store = await openStore(directory, systemClock);
  process.once("message", () => {
    void store
      .transaction((trx) => userWriter(trx).insertFirst(testUser(name!, { role: "admin" })))
      .then(
        () => "created",
        (error: AppError) => error.code,
      )
      .then((message) => process.send!(message, () => exit()));
  });
  process.send!("ready");
}
