/** What an instance knows of itself, and all its processes share. */
import { randomBytes } from "node:crypto";
import { iso } from "../core/clock.ts";
import type { Store } from "./database.ts";

const find = async (read: Store["read"], name: string): Promise<string | undefined> =>
  (await read.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst())?.value;

/** The key that signs this instance's cursors; made at the first call, whichever process makes it. */
export async function getOrCreateCursorKey({
  read,
  transaction,
}: Pick<Store, "read" | "transaction">): Promise<Buffer> {
  let key = await find(read, "cursor_key");
  if (key === undefined) {
    await transaction((trx) =>
      trx
        .insertInto("settings")
        .values({ name: "cursor_key", value: randomBytes(32).toString("base64") })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
    key = await find(read, "cursor_key");
  }
  return Buffer.from(key!, "base64");
}

/** When the state was last made out of a backup, in milliseconds; 0 where it never was. */
export const getRestoredAt = async ({ read }: Pick<Store, "read">): Promise<number> =>
  Date.parse((await find(read, "restored_at")) ?? iso(0));

/** Where the web server was last started, such as `http://127.0.0.1:3000`; undefined where it never was. */
export const getWebAddress = ({ read }: Pick<Store, "read">): Promise<string | undefined> =>
  find(read, "web_address");

/** Leaves the web server's address for commands that print links; writes only what is new. */
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
