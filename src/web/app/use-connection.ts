import { createContext, useContext, useSyncExternalStore } from "react";
import type { Connection, ConnectionState } from "./connection.ts";

const ConnectionContext = createContext<Connection | undefined>(undefined);

export const ConnectionProvider = ConnectionContext;

/** @returns the connection, and its state, which renders the component again when it changes */
export function useConnection(): { connection: Connection; state: ConnectionState } {
  const connection = useContext(ConnectionContext);
  if (connection === undefined) throw new Error("useConnection must be used inside of ConnectionProvider");
  return { connection, state: useSyncExternalStore(connection.subscribe, connection.getState) };
}
