/** Generated from src/web/messages/de/home.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber } from "../../format.ts";
import { rich } from "../../rich.ts";

export const failingWorkflows = "Fehlschlagende Workflows";
export const noneFailing = "In den letzten 14 Tagen ist kein Workflow fehlgeschlagen.";
export const lastFailure = ({ time }: { time: ReactNode }): ReactNode =>
  rich("zuletzt fehlgeschlagen ", time);
export const failedCount = ({ count }: { count: number }): string =>
  `${formatNumber(count)} fehlgeschlagen`;
export const failingCapped = "Gezählt werden die neuesten 1.000 fehlgeschlagenen Läufe.";
export const introduction = "Ein Agent fängt jedes Mal von vorn an. Ein Workflow wird einmal geschrieben und geprüft und läuft dann für alle gleich. Bisher ist noch nichts gelaufen. Beginnen können Sie auf drei Arten.";
export const withAgent = "Mit einem Agenten";
export const withAgentHelp = ({ key }: { key: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Verbinden Sie einen Agenten über MCP mit einem ", key("API-Schlüssel"), ", und sagen Sie ihm, was Sie brauchen.");
export const claudeCommand = "Befehl für Claude Code";
export const connectAnother = "Anderen Client verbinden";
export const withScript = "Mit einem Skript";
export const withScriptHelp = "Jede Operation ist eine HTTP-Anfrage mit einem API-Schlüssel.";
export const curlCommand = "curl-Befehl";
export const apiReference = "API-Referenz";
export const inBrowser = "Im Browser";
export const startFromTemplate = "Beginnen Sie mit einer Vorlage, passen Sie sie an und führen Sie sie aus.";
export const runExisting = "Führen Sie einen vorhandenen Workflow aus und verfolgen Sie seine Schritte.";
export const runWorkflow = ({ name }: { name: string | number }): string =>
  `${name} ausführen`;
export const newWorkflow = "Neuer Workflow";
export const allWorkflows = "Alle Workflows";
export const allOf = ({ title }: { title: string | number }): string =>
  `${title}: alle`;
export const all = "Alle";
export const title = "Startseite";
export const recentFailures = "Letzte Fehlschläge";
export const noFailures = "Keine Fehlschläge in den letzten 24 Stunden.";
export const noErrorMessage = "keine Fehlermeldung";
export const recentRuns = "Letzte Läufe";
export const noRuns = "Noch keine Läufe.";
export const upcoming = "Demnächst";
export const noSchedules = "Kein veröffentlichter Workflow hat einen Zeitplan.";
export const paused = ({ cron, timezone }: { cron: string | number; timezone: string | number }): string =>
  `pausiert (${cron}, ${timezone})`;
export const overdueWorkflows = "Überfällige Workflows";
export const overdue = ({ workflow, every, time }: { workflow: ReactNode; every: string | number; time: ReactNode }): ReactNode =>
  rich(workflow, " muss alle ", every, " erfolgreich laufen und war ", time, " fällig");
export const needsYourApproval = "Wartet auf Ihre Freigabe";
export const pendingApprovals = "Ausstehende Freigaben";
export const noneForYou = "Keine Freigaben warten auf Ihre Entscheidung.";
export const nonePending = "Es stehen keine Freigaben aus.";
export const more = ({ count }: { count: number }): string =>
  `… und ${formatNumber(count)} weitere`;
export const failedInDay = "in 24 Stunden fehlgeschlagen";
export const approvalsPending = "ausstehende Freigaben";
export const inProgress = "aktiv";
export const succeededInDay = "in 24 Stunden erfolgreich";
export const trendTitle = "Läufe der letzten 14 Tage";
export const runsByDay = "Läufe nach Tagen";
export const today = "heute";
export const outcome = ({ outcome }: { outcome: "failed" | "succeeded" }): string =>
  (outcome === "succeeded" ? "erfolgreich" : "fehlgeschlagen");
export const shortcuts = "Favoriten und Verlauf";
export const noShortcuts = "Hier erscheinen Workflows mit Stern und die zuletzt geöffneten Seiten.";
export const dayCounts = ({ day, succeeded, failed }: { day: string | number; succeeded: string | number; failed: string | number }): string =>
  `${day}: ${succeeded} erfolgreich, ${failed} fehlgeschlagen`;
