/** Generated from src/web/messages/de/overdue.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const overdueBadge = "überfällig";
export const overdue = "Überfällig";
export const overdueSince = ({ every, since, due }: { every: string | number; since: ReactNode; due: ReactNode }): ReactNode =>
  rich("Der Workflow muss alle ", every, " erfolgreich laufen, lief aber seit ", since, " nicht mehr erfolgreich: Ein Erfolg war ", due, " fällig. Der nächste Erfolg behebt das.");
export const overdueSincePublished = ({ every, due }: { every: string | number; due: ReactNode }): ReactNode =>
  rich("Der Workflow muss alle ", every, " erfolgreich laufen, lief aber seit der Veröffentlichung nicht erfolgreich: Ein Erfolg war ", due, " fällig. Der nächste Erfolg behebt das.");
