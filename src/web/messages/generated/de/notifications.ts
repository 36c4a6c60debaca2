/** Generated from src/web/messages/de/notifications.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const title = "Benachrichtigungen";
export const about = "Was an andere Systeme und Chats gesendet wird, wenn etwas geschieht.";
export const newSubscription = "Neues Abonnement";
export const noSubscriptions = "Noch keine Abonnements";
export const noSubscriptionsHelp = "Ein Abonnement sendet Ereignisse, zum Beispiel einen fehlgeschlagenen Lauf oder einen überfälligen Workflow, an eine URL oder einen Chat.";
export const subscriptions = "Abonnements";
export const deliveries = "Zustellungen";
export const runFailed = "Ein Lauf ist fehlgeschlagen";
export const runSucceeded = "Ein Lauf war erfolgreich";
export const runWaiting = "Ein Lauf wartet";
export const approvalRequested = "Eine Freigabe ist nötig";
export const workflowPublished = "Eine Version wurde veröffentlicht";
export const workflowOverdue = "Ein Workflow ist überfällig";
export const keyExpiring = "Ein API-Schlüssel läuft bald ab";
export const testEvent = "Testereignis";
export const signedWebhook = "Webhook (signiert)";
export const urlInSecret = ({ secret }: { secret: string | number }): string =>
  `die URL im Secret ${secret}`;
export const eventsOf = ({ events, filter, workflows, tags }: { events: string | number; filter: "both" | "none" | "tags" | "workflows"; workflows: string | number; tags: string | number }): string =>
  `${events}${(filter === "none" ? "" : filter === "workflows" ? ` (nur Workflows ${workflows})` : filter === "tags" ? ` (nur Tags ${tags})` : ` (nur Workflows ${workflows}; Tags ${tags})`)}`;
export const paused = "pausiert";
export const failing = "gestört";
export const active = "aktiv";
export const pendingCount = ({ count }: { count: number }): string =>
  `${formatNumber(count)} ausstehend`;
export const givenUpCount = ({ count }: { count: number }): string =>
  `${formatNumber(count)} unzustellbar`;
export const failingSince = ({ time }: { time: ReactNode }): ReactNode =>
  rich("erster Fehler ", time);
export const lastDelivered = ({ time }: { time: ReactNode }): ReactNode =>
  rich("zuletzt zugestellt ", time);
export const nothingDelivered = "noch nichts zugestellt";
export const testSent = "Das Testereignis ist unterwegs. Seine Zustellung zeigt das Ergebnis.";
export const testFailed = "Das Testereignis konnte nicht gesendet werden";
export const changeFailed = "Das Abonnement konnte nicht geändert werden";
export const replaceFailed = "Das Secret konnte nicht ersetzt werden";
export const deleted = ({ name }: { name: string | number }): string =>
  `„${name}“ wurde gelöscht.`;
export const deleteFailed = "Das Abonnement konnte nicht gelöscht werden";
export const sendTest = "Test senden";
export const edit = "Bearbeiten";
export const pause = "Pausieren";
export const resume = "Fortsetzen";
export const newSecret = "Neues Secret";
export const replaceTitle = ({ name }: { name: string | number }): string =>
  `Signatur-Secret von „${name}“ ersetzen?`;
export const replaceConsequence = "24 Stunden lang tragen Zustellungen die Signaturen beider Secrets, damit der Empfänger in dieser Zeit wechseln kann.";
export const replace = "Ersetzen";
export const deleteButton = "Löschen";
export const deleteTitle = ({ name }: { name: string | number }): string =>
  `„${name}“ löschen?`;
export const deleteConsequence = "Die Zustellungen werden mitgelöscht, auch ausstehende. Das lässt sich nicht rückgängig machen.";
export const deliveryState = ({ state }: { state: "delivered" | "failed" | "pending" }): string =>
  (state === "pending" ? "ausstehend" : state === "delivered" ? "zugestellt" : "unzustellbar");
export const state = "Status";
export const allStates = "Alle Status";
export const clearState = "Status zurücksetzen";
export const subscription = "Abonnement";
export const allSubscriptions = "Alle Abonnements";
export const clearSubscription = "Abonnement zurücksetzen";
export const noDeliveries = "Keine Zustellungen";
export const noDeliveriesHelp = "Sie erscheinen, wenn etwas geschieht.";
export const sentAgain = "Die Zustellung wird mit derselben ID erneut gesendet.";
export const sendAgainFailed = "Die Zustellung konnte nicht erneut gesendet werden";
export const attempts = ({ count }: { count: number }): string =>
  (count === 0 ? "noch kein Versuch" : pluralForm(count) === "one" ? `${formatNumber(count)} Versuch` : `${formatNumber(count)} Versuche`);
export const httpStatus = ({ status }: { status: string | number }): string =>
  `Status ${status}`;
export const nextAttempt = ({ time }: { time: ReactNode }): ReactNode =>
  rich("nächster Versuch ", time);
export const sendAgain = "Erneut senden";
export const sendAgainEvent = ({ event, id }: { event: string | number; id: string | number }): string =>
  `Erneut senden: ${event}, ${id}`;
export const editTitle = ({ name }: { name: string | number }): string =>
  `„${name}“ bearbeiten`;
export const name = "Name";
export const project = "Projekt";
export const format = "Format";
export const secretWithUrl = "Secret mit der URL";
export const url = "URL";
export const urlHelpSecret = "Der Name eines Secrets in der Konfiguration, dessen Wert die URL ist.";
export const urlHelpWebhook = "Wohin die Zustellungen gehen. Private Adressen müssen in der Konfiguration erlaubt sein.";
export const urlHelpChat = "Der Name eines Secrets in der Konfiguration, dessen Wert die URL des Chat-Webhooks ist. Wer diese URL kennt, kann in den Chat schreiben.";
export const events = "Ereignisse";
export const workflows = "Workflows (optional)";
export const workflowsHelp = "Nur Ereignisse der Workflows mit diesen IDs. Mit Enter fügen Sie eine hinzu.";
export const tags = "Tags (optional)";
export const tagsHelp = "Nur Ereignisse von Workflows mit einem dieser Tags. Mit Enter fügen Sie eines hinzu.";
export const includeValues = "Mit den Ein- und Ausgaben der Läufe";
export const includeValuesHelp = "Nur auswählen, wenn der Empfänger sie sehen darf.";
export const create = "Erstellen";
export const save = "Speichern";
export const shownOnce = "Das Signatur-Secret wird nur einmal angezeigt, direkt nach dem Erstellen.";
export const secretTitle = ({ name }: { name: string | number }): string =>
  `Signatur-Secret von „${name}“`;
export const copyNow = "Kopieren Sie das Secret jetzt";
export const copyNowHelp = "Sie sehen es nicht noch einmal. Der Empfänger prüft damit, mit jeder Bibliothek für Standard Webhooks, dass eine Zustellung von hier kommt.";
export const signingSecret = "Signatur-Secret";
export const previousSecret = ({ time }: { time: ReactNode }): ReactNode =>
  rich("Das vorige Secret signiert noch bis ", time, ", damit der Empfänger in dieser Zeit wechseln kann.");
export const doneSaved = "Fertig, ich habe es gespeichert";
