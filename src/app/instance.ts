/** Opens the state with its repositories, for every process and command. */
import type { Logger } from "pino";
import type { ApiKeyStore } from "../core/account-ports.ts";
import type { ChangeFeed } from "../core/change-feed.ts";
import type { Clock } from "../core/clock.ts";
import { cursorCodec } from "../core/cursors.ts";
import { type TriggerTokens, triggerTokens } from "../core/trigger-tokens.ts";
import { type EventTokens, eventTokens } from "../core/event-tokens.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import { type SigningSecrets, signingSecrets } from "../core/signing-secrets.ts";
import type { CursorCodec, Readers, UnitOfWork } from "../core/ports.ts";
import { describeAddress, type StateDatabase, type StateLocation } from "../core/postgres-address.ts";
import { apiKeyReader, apiKeyStore } from "../store/api-keys.ts";
import { auditReader } from "../store/audit.ts";
import { workflowChangeReader } from "../store/workflow-changes.ts";
import { engineReaders } from "../store/engine-transaction.ts";
import { identityReader } from "../store/identities.ts";
import { linkReader } from "../store/links.ts";
import { sessionReader } from "../store/sessions.ts";
import { projectReader } from "../store/projects.ts";
import { reviewReader } from "../store/reviews.ts";
import type { SqliteStore } from "../store/database.ts";
import { getOrCreateKey, hasDefaultLimits } from "../store/settings.ts";
import { openStateDirectory, type StateDirectory } from "../store/state-directory.ts";
import type { Store } from "../store/store.ts";
import { subscriptionReader } from "../store/subscriptions.ts";
import { unitOfWork } from "../store/unit-of-work.ts";
import { userReader } from "../store/users.ts";
import { workflowReader } from "../store/workflows.ts";

/** An open state with its repositories. */
export interface Instance {
  store: Store;
  keys: ApiKeyStore;
  read: Readers;
  cursors: CursorCodec;
  eventTokens: EventTokens;
  triggerTokens: TriggerTokens;
  signingSecrets: SigningSecrets;
  write: UnitOfWork;
  log: Logger;
  meter: Meter;
  changes: ChangeFeed;
  /** Whether the limits per key have defaults: not in an installation that is older than these. */
  hasDefaultLimits: boolean;
  close(): Promise<void>;
}

/** What tests and processes open the state with besides its place. */
export interface InstanceOptions {
  meter?: Meter | undefined;
  /** The state directory; tests pass one on a network file system. */
  directory?: StateDirectory | undefined;
  /** Opens the store in the state directory; the simulator passes one whose answers it can delay and lose. */
  openStore?: OpenStore | undefined;
}

/** Opens the store in a state directory. @throws AppError storage_unavailable, busy */
export type OpenStore = (directory: StateDirectory, clock: Clock, meter: Meter) => Promise<SqliteStore>;

/**
 * Opens the state: on the PostgreSQL server that the environment names, else in the state directory.
 * @throws AppError storage_unavailable, busy
 */
export async function openInstance(
  location: StateLocation,
  clock: Clock,
  log: Logger,
  { meter = noMeter, directory, openStore }: InstanceOptions = {},
): Promise<Instance> {
  const store =
    location.database === undefined
      ? await openInDirectory(directory ?? openStateDirectory(location.stateDir), {
          clock,
          log,
          meter,
          openStore,
        })
      : await openOnServer(location.database, { clock, log, meter });
  await using opening = new AsyncDisposableStack();
  opening.defer(() => store.close());
  const eventKey = await getOrCreateKey(store, "event_key");
  const instance: Omit<Instance, "close"> = {
    store,
    changes: store.changes,
    keys: apiKeyStore(store, clock),
    read: {
      ...engineReaders(store.read),
      workflows: workflowReader(store.read),
      apiKeys: apiKeyReader(store.read),
      users: userReader(store.read),
      sessions: sessionReader(store.read),
      identities: identityReader(store.read),
      links: linkReader(store.read),
      audit: auditReader(store.read),
      workflowChanges: workflowChangeReader(store.read),
      projects: projectReader(store.read),
      reviews: reviewReader(store.read),
      subscriptions: subscriptionReader(store.read),
    },
    cursors: cursorCodec(await getOrCreateKey(store, "cursor_key")),
    eventTokens: eventTokens(eventKey),
    triggerTokens: triggerTokens(eventKey),
    signingSecrets: signingSecrets(await getOrCreateKey(store, "subscription_key")),
    write: unitOfWork(store, clock),
    hasDefaultLimits: await hasDefaultLimits(store.read),
    log,
    meter,
  };
  const open = opening.move();
  return { ...instance, close: () => open.disposeAsync() };
}

interface OpenOptions {
  clock: Clock;
  log: Logger;
  meter: Meter;
  openStore?: OpenStore | undefined;
}

async function openInDirectory(
  directory: StateDirectory,
  { clock, log, meter, openStore }: OpenOptions,
): Promise<Store> {
  const open: OpenStore = openStore ?? (await import("../store/database.ts")).openStore;
  const store = await open(directory, clock, meter);
  const { journalMode, upgrade } = store;
  log.debug(
    { state_dir: directory.path, file_system: directory.fileSystem, journal_mode: journalMode },
    "state directory opened",
  );
  if (upgrade !== undefined) {
    const { from, to, copy } = upgrade;
    log.info({ from, to, copy }, "database migrated, copy of the old one kept");
  }
  if (!directory.local) {
    log.warn(
      { file_system: directory.fileSystem, journal_mode: journalMode },
      "state directory is on a network or unknown file system, using the slower rollback journal",
    );
  }
  return store;
}

async function openOnServer(database: StateDatabase, { clock, log, meter }: OpenOptions): Promise<Store> {
  const { openPostgresStore } = await import("../store/postgres/store.ts");
  const store = await openPostgresStore({ database, clock, meter });
  log.debug({ database: describeAddress(database.address) }, "database opened");
  if (store.upgrade !== undefined) log.info(store.upgrade, "database migrated");
  return store;
}
