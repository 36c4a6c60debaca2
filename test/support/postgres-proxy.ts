/**
 * A proxy in front of a PostgreSQL server that reads the messages of the protocol, so that a test can break a connection at an exact
 * statement, or behave like a network that drops all packets. TLS is off.
 *
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What happens to a statement. */
export type Action =
  | "pass"
  /** The connection is reset, and the server does not see the statement. */
  | "cut"
  /** The server executes the statement. The connection is reset instead of forwarding the answer. */
  | "cutAnswer"
  /** From now on nothing is forwarded in either direction, and nothing is closed. */
  | "blackHole"
  /** The server executes the statement. The client gets this answer and later ones after this promise has resolved. */
  | { holdAnswerUntil: Promise<unknown> };

interface Query {
  sql: string;
  /** In the text format; empty for a simple query. */
  parameters: readonly (string | null)[];
}

export interface Statement extends Query {
  /** The number of the statement among those of all connections, from 1. */
  index: number;
  connection: ProxiedConnection;
  /** The earlier statements of its transaction, from BEGIN on; empty outside of one. */
  transaction: readonly Query[];
}

interface ProxiedConnection {
  /** The number of the connection, from 1. */
  id: number;
  /** Resets both sides. */
  reset(): void;
  /** Forwards nothing from now on, and closes nothing. */
  blackHole(): void;
}

export interface PostgresProxy {
  port: number;
  /** Asks this function about each statement from now on, instead of the one before. */
  onStatement(handler: (statement: Statement) => Action): void;
  /**
   * Applies an action to the first statement that matches, and lets all others pass.
   * @returns that statement; for `cutAnswer`, after the server has executed it
   */
  disturb(action: Action, matches: (statement: Statement) => boolean): Promise<Statement>;
  /** The connections that forward, the oldest first. */
  connections(): ProxiedConnection[];
  /** The number of connections so far. */
  connectionCount(): number;
  /** The number of statements so far. */
  statementCount(): number;
  /** Resets all connections that forward. New ones are accepted. */
  resetAll(): void;
  /** Forwards nothing for all connections that exist, and closes nothing. New ones work. */
  vanish(): void;
  /** Ends the server's side of connections that forward nothing, as its TCP keepalive does. */
  expireBlackHoles(): void;
}

/** Codes of the messages without a type that come instead of, or before, the start-up message. */
const ENCRYPTION_REQUESTS: ReadonlySet<number> = new Set([80_877_103, 80_877_104]);
const CANCEL_REQUEST = 80_877_102;

const pass = (): Action => "pass";

/** It is closed at the end of the test. */
export async function postgresProxy(target: number): Promise<PostgresProxy> {
  const sockets = new Set<Socket>();
  const open = new Set<ProxiedConnection>();
  const silent = new Set<Socket>();
  /** Called when the server has answered the statement whose answer is cut. */
  const answersCut = new Map<ProxiedConnection, () => void>();
  let handler: (statement: Statement) => Action = pass;
  let connections = 0;
  let statements = 0;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // "close" follows.
    socket.on("error", () => undefined);
    return socket.setNoDelay(true);
  };

  const server = createServer((client) => {
    connections += 1;
    const upstream = track(connect(target, "127.0.0.1"));
    const connection = proxyConnection(track(client), upstream, {
      id: connections,
      decide(query) {
        statements += 1;
        return handler({ ...query, index: statements });
      },
      onAnswerCut: () => answersCut.get(connection)?.(),
      onClosed: () => open.delete(connection),
      onSilent() {
        open.delete(connection);
        silent.add(upstream);
      },
    });
    open.add(connection);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.resetAndDestroy();
    server.close();
  });

  return {
    port: (server.address() as AddressInfo).port,
    onStatement(next) {
      handler = next;
    },
    disturb(action, matches) {
      return new Promise((resolve) => {
        handler = (statement) => {
          if (!matches(statement)) return "pass";
          handler = pass;
          if (action === "cutAnswer") answersCut.set(statement.connection, () => resolve(statement));
          else resolve(statement);
          return action;
        };
      });
    },
    connections: () => [...open],
    connectionCount: () => connections,
    statementCount: () => statements,
    resetAll() {
      for (const connection of open) connection.reset();
    },
    vanish() {
      for (const connection of open) connection.blackHole();
    },
    expireBlackHoles() {
      for (const upstream of silent) upstream.destroy();
      silent.clear();
    },
  };
}

interface ConnectionOptions {
  id: number;
  /** Called with each statement, before the server sees it. */
  decide(statement: Omit<Statement, "index">): Action;
  /** Called when it was reset because of a `cutAnswer`. */
  onAnswerCut(): void;
  /** Called when it was closed, unless it is silent. */
  onClosed(): void;
  onSilent(): void;
}

function proxyConnection(
  client: Socket,
  upstream: Socket,
  { id, decide, onAnswerCut, onClosed, onSilent }: ConnectionOptions,
): ProxiedConnection {
  let state: "forwarding" | "silent" | "closed" = "forwarding";
  const isForwarding = (): boolean => state === "forwarding";
  const statements = statementReader();
  /** What happens to the answers that the server owes, each of which ends with ReadyForQuery. */
  const awaited: Action[] = [];
  /** The messages of the extended protocol since the last Sync or Flush, and what happens to their answer. */
  let batch: Buffer[] = [];
  let batchAction: Action = "pass";
  /** Whether the connection is reset after an answer, so that the server gets no later statement. */
  let endsWithAnswer = false;
  let hasStarted = false;
  /** Whether the server answers with one byte next: whether it accepts an encryption. */
  let awaitsByte = false;
  /** Answers reach the client in order, also where one is held back. */
  let delivery: Promise<unknown> = Promise.resolve();

  const connection: ProxiedConnection = {
    id,
    reset() {
      if (state === "closed") return;
      state = "closed";
      client.resetAndDestroy();
      upstream.resetAndDestroy();
      onClosed();
    },
    blackHole() {
      if (!isForwarding()) return;
      state = "silent";
      onSilent();
    },
  };

  const toServer = (...messages: Buffer[]): void => {
    if (isForwarding()) upstream.write(Buffer.concat(messages));
  };
  const toClient = (message: Buffer): void => {
    delivery = delivery.then(() => isForwarding() && client.write(message));
  };

  /** Returns what happens to the statements: the first action other than "pass". */
  function actionFor(queries: readonly Query[]): Action {
    let found: Action = "pass";
    for (const query of queries) {
      const action = decide({ ...query, connection, transaction: statements.transaction() });
      statements.executed(query);
      if (found === "pass") found = action;
    }
    if (found === "cut") connection.reset();
    if (found === "blackHole") connection.blackHole();
    return found;
  }

  /** Records that the server owes an answer up to ReadyForQuery. */
  function awaitAnswer(action: Action): void {
    awaited.push(action);
    endsWithAnswer = action === "cutAnswer";
  }

  function onStartMessage(message: Buffer): void {
    const code = message.readInt32BE(4);
    if (ENCRYPTION_REQUESTS.has(code)) awaitsByte = true;
    else hasStarted = true;
    // The end of the authentication is a ReadyForQuery too.
    if (hasStarted && code !== CANCEL_REQUEST) awaited.push("pass");
    toServer(message);
  }

  function onClientMessage(message: Buffer): void {
    if (!isForwarding() || endsWithAnswer) return;
    if (!hasStarted) return onStartMessage(message);
    const type = String.fromCharCode(message[0]!);
    if (type === "Q") {
      awaitAnswer(actionFor([{ sql: stringAt(message, 5).text, parameters: [] }]));
      return toServer(message);
    }
    if (!"PBDECHS".includes(type)) return toServer(message);
    statements.read(type, message);
    batch.push(message);
    if (type !== "S" && type !== "H") return undefined;
    const action = actionFor(statements.takeExecuted());
    if (batchAction === "pass") batchAction = action;
    if (type === "S") {
      awaitAnswer(batchAction);
      batchAction = "pass";
    }
    toServer(...batch);
    batch = [];
  }

  function onServerMessage(message: Buffer): void {
    if (!isForwarding()) return;
    if (awaitsByte) {
      awaitsByte = false;
      return toClient(message);
    }
    const isReady = message[0] === "Z".charCodeAt(0);
    // After a Flush, answers come before the Sync.
    const action = awaited[0] ?? batchAction;
    if (action === "cutAnswer") {
      if (!isReady) return;
      connection.reset();
      return onAnswerCut();
    }
    if (typeof action === "object") {
      const { holdAnswerUntil } = action;
      delivery = delivery.then(() => holdAnswerUntil);
    }
    if (isReady) awaited.shift();
    toClient(message);
  }

  client.on(
    "data",
    splitMessages(onClientMessage, () => (hasStarted ? "typed" : "untyped")),
  );
  upstream.on(
    "data",
    splitMessages(onServerMessage, () => (awaitsByte ? "byte" : "typed")),
  );
  const closeClient = (): void => {
    if (!isForwarding()) return;
    state = "closed";
    client.destroySoon();
    onClosed();
  };
  // A connection that forwards nothing also hides from each side that the other one has closed it.
  client.once("close", () => {
    if (!isForwarding()) return;
    state = "closed";
    upstream.destroySoon();
    onClosed();
  });
  upstream.once("close", () => {
    void delivery.then(closeClient);
  });
  return connection;
}

/** Keeps the prepared statements, the portals and the transaction of a connection. */
function statementReader() {
  const prepared = new Map<string, string>();
  const portals = new Map<string, Query>();
  let executed: Query[] = [];
  let transaction: Query[] = [];
  const readers: Readonly<Record<string, (message: Buffer) => void>> = {
    P(message) {
      const name = stringAt(message, 5);
      prepared.set(name.text, stringAt(message, name.end).text);
    },
    B(message) {
      const portal = stringAt(message, 5);
      const name = stringAt(message, portal.end);
      portals.set(portal.text, {
        sql: prepared.get(name.text) ?? "",
        parameters: parametersAt(message, name.end),
      });
    },
    E(message) {
      const query = portals.get(stringAt(message, 5).text);
      if (query !== undefined) executed.push(query);
    },
    C(message) {
      const { text } = stringAt(message, 6);
      if (message[5] === "S".charCodeAt(0)) prepared.delete(text);
      else portals.delete(text);
    },
  };
  return {
    /** Reads a message of the extended protocol. */
    read: (type: string, message: Buffer): void => readers[type]?.(message),
    /** Returns the statements that were executed since the last call. */
    takeExecuted(): Query[] {
      const taken = executed;
      executed = [];
      return taken;
    },
    transaction: (): readonly Query[] => [...transaction],
    /** Records a statement that the server is about to execute. */
    executed(query: Query): void {
      if (/^\s*(?:begin|start transaction)\b/i.test(query.sql)) transaction = [query];
      else if (/^\s*(?:commit|end|rollback|abort)\b/i.test(query.sql)) transaction = [];
      else if (transaction.length > 0) transaction.push(query);
    },
  };
}

/** The parameters of a Bind message, which begin with the codes of their formats. */
function parametersAt(message: Buffer, start: number): (string | null)[] {
  const countAt = start + 2 + 2 * message.readInt16BE(start);
  let at = countAt + 2;
  return Array.from({ length: message.readInt16BE(countAt) }, () => {
    const length = message.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(length, 0);
    return length < 0 ? null : message.toString("utf8", from, at);
  });
}

/** A text that ends with a zero byte, and where the next field begins. */
function stringAt(message: Buffer, start: number): { text: string; end: number } {
  const zero = message.indexOf(0, start);
  return { text: message.toString("utf8", start, zero), end: zero + 1 };
}

type Framing = "typed" | "untyped" | "byte";

/** Calls back with each whole message of a stream, in whatever pieces it arrives. */
function splitMessages(
  onMessage: (message: Buffer) => void,
  framing: () => Framing,
): (chunk: Buffer) => void {
  let buffered: Buffer = Buffer.alloc(0);
  return (chunk) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    for (;;) {
      const length = messageLength(buffered, framing());
      if (length === undefined || buffered.length < length) return;
      const message = buffered.subarray(0, length);
      buffered = buffered.subarray(length);
      onMessage(message);
    }
  };
}

/** The length of the first message; undefined while too little of it is there. */
function messageLength(buffered: Buffer, framing: Framing): number | undefined {
  if (framing === "byte") return 1;
  // The length counts itself, but not the type before it.
  const before = framing === "typed" ? 1 : 0;
  return buffered.length < before + 4 ? undefined : before + buffered.readInt32BE(before);
}
