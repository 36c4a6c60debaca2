/** The applications that people have connected: one entry for all the times that an application was connected. */
import type { ApiKey } from "../../../schemas/api-key.ts";

export interface ConnectedApplication {
  id: string;
  name: string;
  host: string;
  owner: string;
  /** The latest authorization. */
  latest: ApiKey;
  /** Those that work, newest first. */
  usable: readonly ApiKey[];
  /** The latest use of any of them; null for none. */
  lastUsedAt: string | null;
}

export const isUsable = ({ state }: ApiKey): boolean => state === "active" || state === "expiring";

/**
 * Groups authorizations by owner, name and host: a client that registers itself gets another id each time.
 * @param keys the access of applications, newest first
 */
export function groupApplications(keys: readonly ApiKey[]): ConnectedApplication[] {
  const groups = Map.groupBy(keys, ({ owner, name, application }) =>
    JSON.stringify([owner, name, application?.host]),
  );
  return [...groups].map(([id, authorizations]) => {
    const latest = authorizations[0]!;
    return {
      id,
      name: latest.name,
      host: latest.application?.host ?? "",
      owner: latest.owner,
      latest,
      usable: authorizations.filter(isUsable),
      lastUsedAt:
        authorizations
          .flatMap(({ last_used_at: at }) => (at === null ? [] : [at]))
          .toSorted()
          .at(-1) ?? null,
    };
  });
}
