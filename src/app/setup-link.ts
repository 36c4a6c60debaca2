/** The link with which the first admin account is created. */
import { linkUrl, newLink } from "../auth/links.ts";
import type { Clock } from "../core/clock.ts";
import { linkWriter } from "../store/links.ts";
import type { Instance } from "./instance.ts";

/**
 * Creates a setup link. One works at a time: earlier ones are deleted.
 * @param baseUrl the URL of the web interface
 * @returns the link; undefined once there is a user
 */
export async function createSetupLink(
  { read, store }: Pick<Instance, "read" | "store">,
  clock: Clock,
  baseUrl: string,
): Promise<string | undefined> {
  if (await read.users.exists()) return undefined;
  const { token, record } = newLink("setup", null, clock);
  await store.transaction(async (trx) => {
    const links = linkWriter(trx, clock);
    await links.removeForUser(null, ["setup"]);
    await links.insert(record);
  });
  return linkUrl(baseUrl, "setup", token);
}

/**
 * Whether a start at a terminal offers a setup link: not once a key has been used, because an installation may work with
 * keys only.
 */
export async function offersSetupLink({ keys }: Pick<Instance, "keys">): Promise<boolean> {
  return (await keys.list()).every(({ lastUsedAt }) => lastUsedAt === null);
}
