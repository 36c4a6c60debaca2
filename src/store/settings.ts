/** Settings that all processes of an instance share. */
import { randomBytes } from "node:crypto";
import { iso } from "../core/clock.ts";
import type { Store } from "./store.ts";

const DEFAULT_LIMITS = "default_limits";

const find = async (read: Store["read"], name: string): Promise<string | undefined> =>
  (await read.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst())?.value;

/** Returns the key that signs this instance's cursors, the URLs of its events, or its deliveries, or seals its second factors. The first call of any process creates it. */
export async function getOrCreateKey(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  name: "cursor_key" | "event_key" | "subscription_key" | "factor_key",
): Promise<Buffer> {
  let key = await find(read, name);
  if (key === undefined) {
    await transaction((trx) =>
      trx
        .insertInto("settings")
        .values({ name, value: randomBytes(32).toString("base64") })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
    key = await find(read, name);
  }
  return Buffer.from(key!, "base64");
}

/** When the state was last restored from a backup, in milliseconds since 1970; 0 for never. */
export const getRestoredAt = async ({ read }: Pick<Store, "read">): Promise<number> =>
  Date.parse((await find(read, "restored_at")) ?? iso(0));

/** The address of the last started web server, such as `http://127.0.0.1:3000`; undefined for none. */
export const getWebAddress = ({ read }: Pick<Store, "read">): Promise<string | undefined> =>
  find(read, "web_address");

/** Saves the web server's address for commands that print links; an unchanged address is not written. */
export async function saveWebAddress(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  value: string,
): Promise<void> {
  if ((await find(read, "web_address")) === value) return;
  await transaction((trx) =>
    trx
      .insertInto("settings")
      .values({ name: "web_address", value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
      .execute(),
  );
}

/** Whether the database was created by a release with default limits per key; copies and backups keep that. */
export const hasDefaultLimits = async (read: Store["read"]): Promise<boolean> =>
  (await find(read, DEFAULT_LIMITS)) !== undefined;

/** Records in a new database that limits per key have defaults. */
export async function enableDefaultLimits(trx: Store["read"]): Promise<void> {
  await trx.insertInto("settings").values({ name: DEFAULT_LIMITS, value: "on" }).execute();
}
