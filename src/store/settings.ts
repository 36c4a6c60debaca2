/** What an instance makes for itself once, and all its processes share. */
import { randomBytes } from "node:crypto";
import type { Store } from "./database.ts";

/** The key that signs this instance's cursors; made at the first call, whichever process makes it. */
export async function cursorKey({ read, transaction }: Pick<Store, "read" | "transaction">): Promise<Buffer> {
  const find = () =>
    read.selectFrom("settings").select("value").where("name", "=", "cursor_key").executeTakeFirst();
  let row = await find();
  if (row === undefined) {
    await transaction((trx) =>
      trx
        .insertInto("settings")
        .values({ name: "cursor_key", value: randomBytes(32).toString("base64") })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
    row = await find();
  }
  return Buffer.from(row!.value, "base64");
}
