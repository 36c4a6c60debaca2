/** Opens the state directory with its repositories, for every process and command. */
import type { Logger } from "pino";
import type { ApiKeyStore } from "../core/account-ports.ts";
import type { ChangeFeed } from "../core/change-feed.ts";
import { type Clock, SECOND } from "../core/clock.ts";
import { cursorCodec } from "../core/cursors.ts";
import { type TriggerTokens, triggerTokens } from "../core/trigger-tokens.ts";
import { type EventTokens, eventTokens } from "../core/event-tokens.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import type { CursorCodec, Readers, UnitOfWork } from "../core/ports.ts";
import { apiKeyReader, apiKeyStore } from "../store/api-keys.ts";
import { auditReader } from "../store/audit.ts";
import { workflowChangeReader } from "../store/workflow-changes.ts";
import { sqliteChangeFeed } from "../store/change-feed.ts";
import { openStore, type Store } from "../store/database.ts";
import { engineReaders } from "../store/engine-transaction.ts";
import { identityReader } from "../store/identities.ts";
import { linkReader } from "../store/links.ts";
import { sessionReader } from "../store/sessions.ts";
import { projectReader } from "../store/projects.ts";
import { reviewReader } from "../store/reviews.ts";
import { getOrCreateKey, hasDefaultLimits } from "../store/settings.ts";
import { openStateDirectory } from "../store/state-directory.ts";
import { unitOfWork } from "../store/unit-of-work.ts";
import { userReader } from "../store/users.ts";
import { workflowReader } from "../store/workflows.ts";

/** An open state directory with its repositories. */
export interface Instance {
  store: Store;
  keys: ApiKeyStore;
  read: Readers;
  cursors: CursorCodec;
  eventTokens: EventTokens;
  triggerTokens: TriggerTokens;
  write: UnitOfWork;
  log: Logger;
  meter: Meter;
  changes: ChangeFeed;
  /** Whether the limits per key have defaults: not in an installation that is older than these. */
  hasDefaultLimits: boolean;
  close(): Promise<void>;
}

/**
 * Opens the state directory.
 * @param opened the state directory; tests pass one on a network file system
 * @throws AppError storage_unavailable, busy
 */
export async function openInstance(
  stateDir: string,
  clock: Clock,
  log: Logger,
  opened = openStateDirectory(stateDir),
  meter = noMeter,
): Promise<Instance> {
  const store = await openStore(opened, clock, meter);
  await using opening = new AsyncDisposableStack();
  opening.defer(() => store.close());
  const { directory, journalMode, upgrade } = store;
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
  const changes = sqliteChangeFeed(store);
  opening.defer(() => changes.close());
  const eventKey = await getOrCreateKey(store, "event_key");
  const instance: Omit<Instance, "close"> = {
    store,
    changes,
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
    },
    cursors: cursorCodec(await getOrCreateKey(store, "cursor_key")),
    eventTokens: eventTokens(eventKey),
    triggerTokens: triggerTokens(eventKey),
    write: unitOfWork(store, clock),
    hasDefaultLimits: await hasDefaultLimits(store.read),
    log,
    meter,
  };
  const open = opening.move();
  return { ...instance, close: () => open.disposeAsync() };
}

const LOCAL_LEASE_MS = 10 * SECOND;
/** Longer, because on a network file system a heartbeat may have to wait for its lock. */
const NETWORK_LEASE_MS = 60 * SECOND;
/** How long an executor may miss its heartbeats before its jobs are reclaimed, in milliseconds. */
export const leaseDurationMs = ({ store }: Pick<Instance, "store">): number =>
  store.directory.local ? LOCAL_LEASE_MS : NETWORK_LEASE_MS;
