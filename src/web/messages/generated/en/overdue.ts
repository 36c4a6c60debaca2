/** Generated from src/web/messages/en/overdue.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const overdueBadge = "overdue";
export const overdue = "Overdue";
export const overdueSince = ({ every, since, due }: { every: string | number; since: ReactNode; due: ReactNode }): ReactNode =>
  rich("It must succeed every ", every, ", and has not since ", since, ": a success was due ", due, ". The next success ends this.");
export const overdueSincePublished = ({ every, due }: { every: string | number; due: ReactNode }): ReactNode =>
  rich("It must succeed every ", every, ", and has not since it was published: a success was due ", due, ". The next success ends this.");
