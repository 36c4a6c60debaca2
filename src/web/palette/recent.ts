/** The workflows and runs that a user opened last in this browser. */
import { useEffect } from "react";
import { useSession } from "../app/session.tsx";
import { readStored, store } from "../ui/browser-storage.ts";

const STORAGE_KEY = "millrace-recent";
/** Maximum number of pages that are remembered. */
const MAX_VISITS = 12;

export interface Visit {
  kind: "workflow" | "run";
  id: string;
  label: string;
}

/** @returns newest first; empty if another user signed in since */
export function readVisits(userId: string): Visit[] {
  const stored = readStored(STORAGE_KEY) as { user?: unknown; visits?: unknown } | undefined;
  return stored?.user === userId && Array.isArray(stored.visits) ? stored.visits.filter(isVisit) : [];
}

const isVisit = (value: unknown): value is Visit => {
  const visit = value as Partial<Visit> | null;
  return (
    (visit?.kind === "workflow" || visit?.kind === "run") &&
    typeof visit.id === "string" &&
    typeof visit.label === "string"
  );
};

/** The visits with a new one in front, each page once. */
export const withVisit = (visits: readonly Visit[], visit: Visit): Visit[] =>
  [visit, ...visits.filter(({ kind, id }) => kind !== visit.kind || id !== visit.id)].slice(0, MAX_VISITS);

/** Remembers that the user has this page open. */
export function useRecordVisit({ kind, id, label }: Visit): void {
  const { user } = useSession();
  useEffect(() => {
    store(STORAGE_KEY, {
      user: user.id,
      visits: withVisit(readVisits(user.id), { kind, id, label }),
    });
  }, [user.id, kind, id, label]);
}

export const addressOf = ({ kind, id }: Pick<Visit, "kind" | "id">): string =>
  kind === "workflow" ? `/workflows/${id}` : `/runs/${id}`;
