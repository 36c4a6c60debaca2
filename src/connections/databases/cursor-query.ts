/**
 * Queries of PostgreSQL's extended protocol: one that fetches rows in batches and stops at the limit, and one that only
 * describes a statement. (pg's own query fetches all rows; postgresql.org/docs/current/protocol-flow.html)
 */
import type { Connection, Submittable } from "pg";

export interface PgField {
  name: string;
  dataTypeID: number;
  /** Such as the precision of a numeric; -1 without one. */
  dataTypeModifier: number;
}

const BATCH = 100;

interface Handlers extends Submittable {
  handleRowDescription(message: { fields: PgField[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handlePortalSuspended(connection: Connection): void;
  handleCommandComplete(message: { text: string }, connection: Connection): void;
  handleEmptyQuery(connection: Connection): void;
  handleCopyInResponse(connection: Connection): void;
  handleCopyData(): void;
  handleError(error: Error, connection: Connection): void;
  handleReadyForQuery(): void;
}

export interface FetchResult {
  fields: PgField[];
  /** The command tag of the server, such as "INSERT 0 5"; undefined if rows were left. */
  command: string | undefined;
}

const nothing = (): void => undefined;

interface Submits {
  query(submittable: Submittable): unknown;
}

/**
 * Runs a statement.
 * @param values the parameters as text, in the format of the server
 * @param onFields called with the columns of the result; it throws to refuse them
 * @param onRow called with each row as text; returns false to stop
 * @throws the server's or the connection's error
 */
export function fetchRows(
  client: Submits,
  text: string,
  values: readonly (string | null)[],
  onFields: (fields: PgField[]) => void,
  onRow: (row: (string | null)[]) => boolean,
): Promise<FetchResult> {
  return submitted<FetchResult>(client, (settle) => {
    let fields: PgField[] = [];
    let command: string | undefined;
    let enough = false;
    let refused: Error | undefined;
    const more = (connection: Connection): void => {
      if (enough) return connection.sync();
      connection.execute({ portal: "", rows: String(BATCH) }, true);
      return connection.flush();
    };
    return {
      submit(connection) {
        connection.parse({ name: "", text, types: [] }, true);
        connection.bind({ portal: "", statement: "", binary: "", values: [...values] as string[] }, true);
        connection.describe({ type: "P", name: "" }, true);
        more(connection);
      },
      handleRowDescription(message) {
        fields = message.fields;
        try {
          onFields(fields);
        } catch (error) {
          refused = error as Error;
          enough = true;
        }
      },
      handleDataRow: (message) => {
        enough ||= !onRow(message.fields);
      },
      handlePortalSuspended: more,
      handleCommandComplete(message, connection) {
        command = message.text;
        connection.sync();
      },
      handleEmptyQuery: (connection) => connection.sync(),
      handleCopyInResponse: (connection) =>
        (connection as unknown as { sendCopyFail(why: string): void }).sendCopyFail(
          "COPY is not supported here",
        ),
      handleCopyData: nothing,
      handleError(error, connection) {
        connection.sync();
        settle(error);
      },
      handleReadyForQuery: () =>
        refused === undefined ? settle(undefined, { fields, command }) : settle(refused),
    };
  });
}

export interface StatementDescription {
  fields: PgField[];
  /** The ids of the types that the server gives the parameters. */
  parameterTypes: number[];
}

/** Parses a statement and returns the columns of its result and the types of its parameters, without running it. */
export function describeStatement(client: Submits, text: string): Promise<StatementDescription> {
  return submitted<StatementDescription>(client, (settle) => {
    let fields: PgField[] = [];
    let parameterTypes: number[] = [];
    const onParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }): void => {
      parameterTypes = dataTypeIDs;
    };
    return {
      submit(connection) {
        // The client does not pass this message on.
        connection.once("parameterDescription", onParameters);
        connection.parse({ name: "", text, types: [] }, true);
        connection.describe({ type: "S", name: "" }, true);
        connection.sync();
      },
      handleRowDescription: (message) => void (fields = message.fields),
      handleDataRow: nothing,
      handlePortalSuspended: nothing,
      handleCommandComplete: nothing,
      handleEmptyQuery: nothing,
      handleCopyInResponse: nothing,
      handleCopyData: nothing,
      handleError(error, connection) {
        connection.removeListener("parameterDescription", onParameters);
        settle(error);
      },
      handleReadyForQuery: () => settle(undefined, { fields, parameterTypes }),
    };
  });
}

function submitted<T>(
  client: Submits,
  make: (settle: (error: Error | undefined, value?: T) => void) => Handlers,
): Promise<T> {
  return new Promise((resolve, reject) => {
    client.query(make((error, value) => (error === undefined ? resolve(value!) : reject(error))));
  });
}
