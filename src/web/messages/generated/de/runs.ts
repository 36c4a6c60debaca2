/** Generated from src/web/messages/de/runs.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const cancel = "Abbrechen";
export const retry = "Wiederholen";
export const runAgain = "Erneut ausführen";
export const runWithOtherInputs = "Mit anderen Eingaben ausführen";
export const compareWithGood = "Mit dem letzten erfolgreichen Lauf vergleichen";
export const editAndRetry = "Bearbeiten und wiederholen";
export const createWorkflow = "Workflow erstellen";
export const keepRunning = "Weiterlaufen lassen";
export const backToRun = "Zurück zum Lauf";
export const review = "Prüfen";
export const view = "Anzeigen";
export const status = "Status";
export const workflow = "Workflow";
export const created = "Erstellt";
export const started = "Gestartet";
export const elapsed = "Bisher";
export const duration = "Dauer";
export const trigger = "Trigger";
export const steps = "Schritte";
export const attempts = "Versuche";
export const error = "Fehler";
export const input = "Eingabe";
export const inputs = "Eingaben";
export const output = "Ausgabe";
export const value = "Wert";
export const childRun = "Unterlauf";
export const needsApproval = "Freigabe erforderlich";
export const lastGoodRun = "Letzter erfolgreicher Lauf";
export const thisRun = "Dieser Lauf";
export const clearFilters = "Filter zurücksetzen";
export const searchOlder = "Ältere Läufe durchsuchen";
export const savedAsDraft = "Als Entwurf gespeichert. Es läuft nichts, bis Sie ihn starten oder veröffentlichen.";
export const howToFix = ({ strong, fix }: { strong: (children: ReactNode) => ReactNode; fix: string | number }): ReactNode =>
  rich(strong("Lösung:"), " ", fix);
export const modelUsage = ({ usage }: { usage: string | number }): string =>
  `Modellnutzung: ${usage}`;
export const scheduledAt = ({ time }: { time: ReactNode }): ReactNode =>
  rich("für ", time);
export const triggerKind = ({ trigger }: { trigger: "backfill" | "cli" | "example" | "mcp" | "on_failure" | "rest" | "schedule" | "web" | "webhook" | "workflow" }): string =>
  (trigger === "web" ? "Weboberfläche" : trigger === "mcp" ? "MCP" : trigger === "rest" ? "REST-API" : trigger === "cli" ? "Kommandozeile" : trigger === "schedule" ? "Zeitplan" : trigger === "webhook" ? "Webhook" : trigger === "backfill" ? "Backfill" : trigger === "workflow" ? "Übergeordneter Lauf" : trigger === "on_failure" ? "Fehlgeschlagener Lauf" : "Beispiel");
export const triggerOfTrial = ({ trigger }: { trigger: string | number }): string =>
  `${trigger}, Testlauf`;
export const reuseGiven = "Vorgegeben: Der Schritt wurde nicht ausgeführt, weil diesem Testlauf seine Ausgabe vorgegeben wurde.";
export const reuseCached = "Aus dem Cache: Eine frühere Ausgabe wird wiederverwendet, weil die Eingaben unverändert sind.";
export const reuseOf = ({ run }: { run: ReactNode }): ReactNode =>
  rich("Wiederverwendet: Die Ausgabe stammt aus ", run, ".");
export const usage = ({ input, output }: { input: number; output: number }): string =>
  `${formatNumber(input)} Eingabe-Tokens, ${formatNumber(output)} Ausgabe-Tokens`;
export const usageWithCost = ({ input, output, cost }: { input: number; output: number; cost: string | number }): string =>
  `${formatNumber(input)} Eingabe-Tokens, ${formatNumber(output)} Ausgabe-Tokens, Kosten ${cost}`;
export const characters = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Zeichen` : `${formatNumber(count)} Zeichen`);
export const items = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Element` : `${formatNumber(count)} Elemente`);
export const none = "keine";
export const fieldsAndMore = ({ names, more }: { names: string | number; more: number }): string =>
  (pluralForm(more) === "one" ? `${names} und ${formatNumber(more)} weiteres` : `${names} und ${formatNumber(more)} weitere`);
export const shortened = ({ text, chars }: { text: string | number; chars: number }): string =>
  `${text}… (${formatNumber(chars)} Zeichen)`;
export const runFailure = ({ message }: { message: string | number }): string =>
  `Der Lauf ist fehlgeschlagen: ${message}`;
export const stepFailure = ({ attempts, step, message }: { attempts: number; step: string | number; message: string | number }): string =>
  (pluralForm(attempts) === "one" ? `${step} ist fehlgeschlagen: ${message}` : `${step} ist nach ${formatNumber(attempts)} Versuchen fehlgeschlagen: ${message}`);
export const itemFailure = ({ attempts, step, item, message }: { attempts: number; step: string | number; item: string | number; message: string | number }): string =>
  (pluralForm(attempts) === "one" ? `${step}, Element ${item}, ist fehlgeschlagen: ${message}` : `${step}, Element ${item}, ist nach ${formatNumber(attempts)} Versuchen fehlgeschlagen: ${message}`);
export const fixRun = "Beheben Sie die Ursache und wiederholen Sie dann den Lauf.";
export const fixStep = ({ step }: { step: string | number }): string =>
  `Prüfen Sie die Eingabe von ${step}, beheben Sie die Ursache und wiederholen Sie dann ab ${step}.`;
export const runFailed = "Lauf fehlgeschlagen";
export const failedAt = ({ step, type }: { step: string | number; type: string | number }): string =>
  `Fehlgeschlagen bei ${step} (${type})`;
export const summaryAndFix = ({ summary, strong, fix }: { summary: string | number; strong: (children: ReactNode) => ReactNode; fix: string | number }): ReactNode =>
  rich(summary, " ", strong("Lösung:"), " ", fix);
export const showInputAndAttempts = "Eingabe und Versuche anzeigen";
export const detailsOf = ({ code }: { code: string | number }): string =>
  `Details zu ${code}`;
export const conditionValues = "Werte in der Bedingung";
export const inCondition = "In der Bedingung";
export const moreValues = ({ more }: { more: number }): string =>
  (pluralForm(more) === "one" ? `Die Bedingung enthält ${more} weiteren Wert.` : `Die Bedingung enthält ${more} weitere Werte.`);
export const noValue = ({ reason }: { reason: string | number }): string =>
  `Kein Wert: ${reason}`;
export const firstCharacters = ({ shown, chars }: { shown: number; chars: number }): string =>
  `Die ersten ${formatNumber(shown)} von ${formatNumber(chars)} Zeichen`;
export const trialTitle = "Testlauf";
export const trialHelp = "Dieser Lauf führt keinen Schritt mit Effekten aus und ändert keinen Zustand.";
export const handlerFailed = ({ workflow }: { workflow: string | number }): string =>
  `„${workflow}“ konnte nicht gestartet werden`;
export const handlerFailedHelp = ({ message }: { message: string | number }): string =>
  `Der Workflow hätte laufen sollen, weil dieser Lauf fehlgeschlagen ist. ${message}`;
export const runCancelled = "Lauf abgebrochen";
export const completedStay = "Abgeschlossene Schritte bleiben, wie sie sind, außer sie lassen sich rückgängig machen.";
export const retryReuses = "Eine Wiederholung verwendet die erfolgreichen Schritte wieder.";
export const reviewStep = ({ step }: { step: string | number }): string =>
  `${step} prüfen`;
export const viewStep = ({ step }: { step: string | number }): string =>
  `${step} anzeigen`;
export const saveDefinitionFailed = "Die Definition konnte nicht gespeichert werden";
export const savedAsVersion = ({ version, name }: { version: string | number; name: string | number }): string =>
  `Als Version ${version} von ${name} gespeichert.`;
export const replaceNewest = ({ name }: { name: string | number }): string =>
  `Neueste Version von ${name} ersetzen?`;
export const replaceNewestHelp = ({ base, newest }: { base: string | number; newest: string | number }): string =>
  `Dieser Lauf hat Version ${base} geändert. Version ${newest} ist neuer, und ihre Änderungen sind im Gespeicherten nicht enthalten. Sie bleibt im Verlauf.`;
export const saveAnyway = "Trotzdem speichern";
export const loadWorkflowFailed = "Der Workflow konnte nicht geladen werden";
export const definitionWorks = "Die geänderte Definition funktioniert";
export const definitionWorksHelp = ({ name }: { name: string | number }): string =>
  `Dieser Lauf hat eine nur für ihn geänderte Definition verwendet. ${name} selbst ist unverändert.`;
export const savedHelp = ({ version }: { version: string | number }): string =>
  `Als Version ${version} gespeichert. Nach der Veröffentlichung wird sie standardmäßig ausgeführt.`;
export const saveNewVersion = "Als neue Version speichern";
export const openNamed = ({ name }: { name: string | number }): string =>
  `${name} öffnen`;
export const runNotFound = "Lauf nicht gefunden";
export const noSuchRun = "Diesen Lauf gibt es nicht";
export const runsArePurged = "Läufe werden einige Zeit nach ihrem Ende gelöscht.";
export const runId = ({ id }: { id: string | number }): string =>
  `Lauf ${id}`;
export const runOf = ({ name }: { name: string | number }): string =>
  `Lauf von ${name}`;
export const runIdLabel = "Lauf-ID";
export const outputOfRun = "Ausgabe des Laufs";
export const inputsOfRun = "Eingaben des Laufs";
export const stateRead = "Gelesener Zustand";
export const stateReadLabel = "Zustand, den der Lauf gelesen hat";
export const stateCommitted = "Geschriebener Zustand";
export const stateCommittedLabel = "Zustand, den der Lauf geschrieben hat";
export const connection = ({ connection }: { connection: "connecting" | "live" | "polling" | "reconnecting" }): string =>
  (connection === "connecting" ? "Verbinden …" : connection === "live" ? "Live" : connection === "reconnecting" ? "Erneut verbinden …" : "Aktualisierung alle 3 s");
export const undoing = "Schritte werden rückgängig gemacht …";
export const stopping = "Wird beendet …";
export const stepsCompleted = ({ done, total }: { done: string | number; total: string | number }): string =>
  `${done} von ${total} Schritten abgeschlossen`;
export const runWasCancelled = ({ name }: { name: string | number }): string =>
  `Lauf von ${name} abgebrochen.`;
export const cancelFailed = "Der Lauf konnte nicht abgebrochen werden";
export const cancelTitle = ({ name }: { name: string | number }): string =>
  `Lauf von ${name} abbrechen?`;
export const cancelHelp = ({ id }: { id: string | number }): string =>
  `Dies beendet ${id} und die Läufe, die er gestartet hat. Abgeschlossene Schritte werden nicht rückgängig gemacht. Sie können den Lauf danach wiederholen.`;
export const cancelRun = "Lauf abbrechen";
export const more = "Mehr";
export const retryFrom = ({ step }: { step: string | number }): string =>
  `Ab ${step} wiederholen`;
export const newRunStarted = ({ name }: { name: string | number }): string =>
  `Neuer Lauf von ${name} gestartet.`;
export const retryFailed = "Der Lauf konnte nicht wiederholt werden";
export const repeatEffectsTitle = ({ name }: { name: string | number }): string =>
  `Effekte von ${name} wiederholen?`;
export const repeatEffects = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "Dieser Schritt hat Effekte, die möglicherweise schon eingetreten sind:" : "Diese Schritte haben Effekte, die möglicherweise schon eingetreten sind:");
export const repeatEffectsHelp = "Prüfen Sie vor dem Wiederholen, ob sie eingetreten sind. Es wurde noch kein Lauf gestartet.";
export const retryAnyway = "Trotzdem wiederholen";
export const newVersionRunStarted = ({ name, version }: { name: string | number; version: string | number }): string =>
  `Neuer Lauf von ${name} gestartet (Version ${version}).`;
export const startFailed = "Der Lauf konnte nicht gestartet werden";
export const runAgainTitle = ({ name }: { name: string | number }): string =>
  `${name} erneut ausführen?`;
export const loadInputsFailed = "Die Eingaben des Laufs konnten nicht geladen werden";
export const noInputsHelp = "Der Lauf startet jetzt mit der Standardversion und hat keine Eingaben.";
export const sameInputsHelp = "Der Lauf startet jetzt mit der Standardversion und denselben Eingaben:";
export const actionsOn = ({ name, ago }: { name: string | number; ago: string | number }): string =>
  `Aktionen für den Lauf von ${name}, ${ago}`;
export const copyRunId = "Lauf-ID kopieren";
export const delivery = "Zustellung";
export const deliveredTo = ({ trigger, time }: { trigger: string | number; time: ReactNode }): ReactNode =>
  rich("an ", trigger, ", empfangen ", time);
export const scheduledFor = "Geplant für";
export const backfill = "Backfill";
export const workflowNone = "Keiner: ein Einzelschritt";
export const workflowVersion = ({ modified, workflow, name, link, version }: { modified: "no" | "yes"; workflow: (children: ReactNode) => ReactNode; name: string | number; link: (children: ReactNode) => ReactNode; version: string | number }): ReactNode =>
  (modified === "yes" ? rich(workflow(`${name}`), ", ", link(`Version ${version}`), ", für diesen Lauf geändert") : rich(workflow(`${name}`), ", ", link(`Version ${version}`)));
export const startedByName = "Gestartet von";
export const keyNamed = ({ name }: { name: string | number }): string =>
  `Schlüssel ${name}`;
export const browser = "Browser";
export const queuedFor = ({ elapsed, queued }: { elapsed: string | number; queued: string | number }): string =>
  `${elapsed} (davor ${queued} eingereiht)`;
export const retryOf = "Wiederholung von";
export const retriedBy = "Wiederholt durch";
export const parentRun = "Übergeordneter Lauf";
export const onFailure = "Bei Fehler";
export const handlerStarting = ({ workflow }: { workflow: string | number }): string =>
  `${workflow}, startet`;
export const handlerNotStarted = ({ workflow }: { workflow: string | number }): string =>
  `${workflow}, nicht gestartet`;
export const childRuns = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "Unterlauf" : "Unterläufe");
export const childRunsAndMore = ({ runs, more }: { runs: ReactNode; more: number }): ReactNode =>
  (pluralForm(more) === "one" ? rich(runs, " und ", formatNumber(more), " weiterer in seinen Schritten") : rich(runs, " und ", formatNumber(more), " weitere in seinen Schritten"));
export const modelUsageName = "Modellnutzung";
export const stepViews = "Ansichten der Schritte";
export const graph = "Graph";
export const timeline = "Zeitachse";
export const stepsTab = ({ count }: { count: number }): string =>
  `Schritte (${formatNumber(count)})`;
export const events = "Ereignisse";
export const selectStep = "Wählen Sie einen Schritt aus, um Eingabe und Ausgabe zu sehen.";
export const runHasNoStep = ({ step }: { step: string | number }): string =>
  `Dieser Lauf hat keinen Schritt ${step}.`;
export const graphFailed = "Der Graph konnte nicht gezeichnet werden. Nutzen Sie stattdessen die Zeitachse oder die Liste.";
export const startedBy = ({ trigger }: { trigger: string | number }): string =>
  `Gestartet durch: ${trigger}`;
export const startedByDelivery = ({ trigger, delivery, target }: { trigger: string | number; delivery: string | number; target: string | number }): string =>
  `Gestartet durch: ${trigger}, Zustellung ${delivery} an ${target}`;
export const startedFor = ({ started, time }: { started: string | number; time: ReactNode }): ReactNode =>
  rich(started, ", für ", time);
export const findStep = "Schritt nach ID, Typ oder Status suchen";
export const stepsFound = ({ count, total }: { count: number; total: string | number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Schritt` : `${formatNumber(count)} Schritte`)} von ${total}`;
export const attemptCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Versuch` : `${formatNumber(count)} Versuche`);
export const given = "vorgegeben";
export const reused = "wiederverwendet";
export const logKind = ({ kind }: { kind: "approval_approved" | "approval_asked" | "approval_cancelled" | "approval_declined" | "approval_delegated" | "approval_escalated" | "approval_expired" | "approval_pending" | "approval_reminded" | "approval_requested" | "attempt_failed" | "attempt_interrupted" | "attempt_started" | "child_started" | "on_failure_started" | "run_cancelled" | "run_created" | "run_failed" | "run_started" | "run_succeeded" | "step_cancelled" | "step_failed" | "step_reused" | "step_skipped" | "step_started" | "step_succeeded" | "step_waiting" }): string =>
  (kind === "run_created" ? "Lauf erstellt" : kind === "run_started" ? "Lauf gestartet" : kind === "run_succeeded" ? "Lauf erfolgreich" : kind === "run_failed" ? "Lauf fehlgeschlagen" : kind === "run_cancelled" ? "Lauf abgebrochen" : kind === "on_failure_started" ? "Workflow für Fehler gestartet" : kind === "step_started" ? "gestartet" : kind === "step_waiting" ? "wartet" : kind === "child_started" ? "hat einen Lauf gestartet" : kind === "attempt_started" ? "erneut gestartet" : kind === "attempt_failed" ? "Versuch fehlgeschlagen" : kind === "attempt_interrupted" ? "Versuch unterbrochen: der Prozess wurde beendet" : kind === "step_succeeded" ? "erfolgreich" : kind === "step_failed" ? "fehlgeschlagen" : kind === "step_skipped" ? "übersprungen: die Bedingung war nicht erfüllt" : kind === "step_cancelled" ? "abgebrochen" : kind === "step_reused" ? "frühere Ausgabe wiederverwendet" : kind === "approval_requested" ? "Freigabe angefordert" : kind === "approval_asked" ? "Zuständige benachrichtigt" : kind === "approval_reminded" ? "Zuständige erinnert" : kind === "approval_escalated" ? "an andere eskaliert" : kind === "approval_delegated" ? "weitergegeben" : kind === "approval_pending" ? "Freigabe angefordert" : kind === "approval_approved" ? "freigegeben" : kind === "approval_declined" ? "abgelehnt" : kind === "approval_expired" ? "Freigabe abgelaufen: niemand hat entschieden" : "Freigabe mit dem Lauf abgebrochen");
export const logAttempt = ({ event, attempt }: { event: string | number; attempt: string | number }): string =>
  `${event} (Versuch ${attempt})`;
export const logItems = ({ failed, event, total }: { failed: number; event: string | number; total: number }): string =>
  (failed === 0 ? `${event}, ${(pluralForm(total) === "one" ? `${formatNumber(total)} Element` : `${formatNumber(total)} Elemente`)}` : pluralForm(failed) === "one" ? `${event}, ${(pluralForm(total) === "one" ? `${formatNumber(total)} Element` : `${formatNumber(total)} Elemente`)}, ${formatNumber(failed)} fehlgeschlagen` : `${event}, ${(pluralForm(total) === "one" ? `${formatNumber(total)} Element` : `${formatNumber(total)} Elemente`)}, ${formatNumber(failed)} fehlgeschlagen`);
export const logBy = ({ event, by }: { event: string | number; by: string | number }): string =>
  `${event} von ${by}`;
export const logUntil = ({ event, time }: { event: string | number; time: ReactNode }): ReactNode =>
  rich(event, " bis ", time);
export const viewApproval = "Freigabe anzeigen";
export const eventsOfRun = "Ereignisse des Laufs";
export const eventsShown = ({ shown, total }: { shown: number; total: number }): string =>
  `${formatNumber(shown)} von ${(pluralForm(total) === "one" ? `${formatNumber(total)} Ereignis` : `${formatNumber(total)} Ereignissen`)}`;
export const loadMore = "Mehr laden";
export const closeStep = ({ step }: { step: string | number }): string =>
  `${step} schließen`;
export const shownItem = ({ kind, all, item }: { kind: "item" | "iteration"; all: (children: ReactNode) => ReactNode; item: string | number }): ReactNode =>
  (kind === "item" ? rich(all("Alle Elemente"), " › Element ", item) : rich(all("Alle Durchläufe"), " › Durchlauf ", item));
export const needsApprovalProgress = ({ progress }: { progress: string | number }): string =>
  `Freigabe erforderlich: ${progress}`;
export const waitEnd = ({ type }: { type: string }): string =>
  (type === "approval" ? "Freigabe läuft ab" : "Wartet bis");
export const itemsName = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Elemente" : "Durchläufe");
export const itemsCompleted = ({ failed, done, total }: { failed: number; done: number; total: number }): string =>
  (failed === 0 ? `${formatNumber(done)} von ${formatNumber(total)} abgeschlossen` : pluralForm(failed) === "one" ? `${formatNumber(done)} von ${formatNumber(total)} abgeschlossen, ${formatNumber(failed)} fehlgeschlagen` : `${formatNumber(done)} von ${formatNumber(total)} abgeschlossen, ${formatNumber(failed)} fehlgeschlagen`);
export const iterationsCompleted = ({ failed, done, max }: { failed: number; done: number; max: number }): string =>
  (failed === 0 ? `${formatNumber(done)} abgeschlossen, höchstens ${formatNumber(max)}` : pluralForm(failed) === "one" ? `${formatNumber(done)} abgeschlossen, höchstens ${formatNumber(max)}, ${formatNumber(failed)} fehlgeschlagen` : `${formatNumber(done)} abgeschlossen, höchstens ${formatNumber(max)}, ${formatNumber(failed)} fehlgeschlagen`);
export const itemOfStep = ({ step, item }: { step: string | number; item: string | number }): string =>
  `${step}, Element ${item}`;
export const decisionsAndEvents = "Entscheidungen und Ereignisse";
export const outputOf = ({ owner }: { owner: string | number }): string =>
  `Ausgabe von ${owner}`;
export const expectsEvent = "Erwartet ein Ereignis";
export const expectsEventHelp = "Der Schritt wird fortgesetzt, wenn JSON per POST an diese URL gesendet wird. Wer die URL hat, kann das einmal tun.";
export const eventUrl = "Ereignis-URL";
export const noDetails = ({ status }: { status: "cancelled" | "failed" | "pending" | "running" | "skipped" | "succeeded" | "waiting" }): string =>
  (status === "pending" ? "Ausstehend: Die benötigten Schritte sind noch nicht beendet." : status === "running" ? "Läuft. Die Eingabe erscheint, sobald sie aufgezeichnet ist." : status === "waiting" ? "Wartet. Der Schritt wird automatisch fortgesetzt." : status === "succeeded" ? "Es wurden keine Details aufgezeichnet." : status === "failed" ? "Es wurden keine weiteren Details aufgezeichnet." : status === "skipped" ? "Übersprungen: Die Bedingung war nicht erfüllt." : "Abgebrochen: Der Lauf endete, bevor dieser Schritt gestartet wurde.");
export const attemptsTitle = ({ count }: { count: string | number }): string =>
  `Versuche (${count})`;
export const showingLast = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "Der letzte wird angezeigt." : `Die letzten ${count} werden angezeigt.`);
export const processEnded = "Der Prozess dieses Versuchs wurde beendet, deshalb wurde der Schritt wiederholt.";
export const inputOf = ({ owner, attempt }: { owner: string | number; attempt: string | number }): string =>
  `Eingabe von ${owner}, Versuch ${attempt}`;
export const attempt = ({ attempt }: { attempt: string | number }): string =>
  `Versuch ${attempt}`;
export const interrupted = "unterbrochen";
export const listEmpty = "Die Liste ist leer.";
export const noneStarted = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Es wurden noch keine Elemente gestartet." : "Es wurden noch keine Durchläufe gestartet.");
export const itemsOf = ({ kind, step }: { kind: "item" | "iteration"; step: string | number }): string =>
  (kind === "item" ? `Elemente von ${step}` : `Durchläufe von ${step}`);
export const itemName = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Element" : "Durchlauf");
export const itemNumbered = ({ kind, item }: { kind: "item" | "iteration"; item: string | number }): string =>
  (kind === "item" ? `Element ${item}` : `Durchlauf ${item}`);
export const previous = "Zurück";
export const next = "Weiter";
export const itemRange = ({ kind, from, to, total }: { kind: "item" | "iteration"; from: string | number; to: string | number; total: number }): string =>
  (kind === "item" ? `Elemente ${from}–${to} (${formatNumber(total)} insgesamt)` : `Durchläufe ${from}–${to} (${formatNumber(total)} insgesamt)`);
export const itemNumber = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Nummer des Elements" : "Nummer des Durchlaufs");
export const goToItem = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Zum Element" : "Zum Durchlauf");
export const compareRuns = "Läufe vergleichen";
export const compareRunOf = ({ name }: { name: string | number }): string =>
  `Lauf von ${name} vergleichen`;
export const besideGood = ({ run }: { run: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(run("Dieser Lauf"), " neben dem letzten erfolgreichen");
export const noGoodRun = "Kein erfolgreicher Lauf zum Vergleichen";
export const noGoodRunHelp = "Vor diesem Lauf war kein Lauf dieses Workflows erfolgreich, oder er wurde gelöscht.";
export const workflowChanged = ({ link, before, after }: { link: (children: ReactNode) => ReactNode; before: string | number; after: string | number }): ReactNode =>
  rich("Der Workflow wurde dazwischen geändert: ", link(`Version ${before} und Version ${after}`), ".");
export const version = "Version";
export const versionModified = ({ version }: { version: string | number }): string =>
  `${version}, geändert`;
export const inputDifferences = "Unterschiede der Eingaben";
export const stepsOfBoth = "Schritte beider Läufe";
export const step = "Schritt";
export const hide = "Ausblenden";
export const compare = "Vergleichen";
export const hideOutputs = ({ step }: { step: string | number }): string =>
  `Ausgaben von ${step} ausblenden`;
export const compareOutputs = ({ step }: { step: string | number }): string =>
  `Ausgaben von ${step} vergleichen`;
export const noSuchStep = "Schritt nicht gefunden";
export const noDifferences = "Keine Unterschiede.";
export const noDifferencesInPart = "Keine Unterschiede im verglichenen Teil: Die Werte sind zu groß.";
export const whole = "der ganze Wert";
export const firstDifferences = ({ total, listed }: { total: number; listed: string | number }): string =>
  (pluralForm(total) === "one" ? `Die ersten ${listed} von ${formatNumber(total)} Unterschied.` : `Die ersten ${listed} von ${formatNumber(total)} Unterschieden.`);
export const firstDifferencesCapped = ({ total, listed }: { total: number; listed: string | number }): string =>
  (pluralForm(total) === "one" ? `Die ersten ${listed} von mindestens ${formatNumber(total)} Unterschied.` : `Die ersten ${listed} von mindestens ${formatNumber(total)} Unterschieden.`);
export const notThere = "nicht vorhanden";
export const outputDifferences = ({ step }: { step: string | number }): string =>
  `Unterschiede der Ausgabe von ${step}`;
export const tooLargeToCompare = ({ chars }: { chars: number }): string =>
  `${(pluralForm(chars) === "one" ? `Zu groß, um hier zu vergleichen: ${formatNumber(chars)} Zeichen.` : `Zu groß, um hier zu vergleichen: ${formatNumber(chars)} Zeichen.`)} Laden Sie beide Ausgaben auf den Seiten der Läufe herunter.`;
export const editAndRetryNamed = ({ name }: { name: string | number }): string =>
  `${name} bearbeiten und wiederholen`;
export const editAndRetryHelp = ({ run }: { run: ReactNode }): ReactNode =>
  rich("Wiederholt ", run, " mit einer geänderten Definition. Die Änderungen gelten nur für den neuen Lauf. Um sie zu behalten, bearbeiten Sie den Workflow.");
export const noWorkflow = "Dieser Lauf hat keinen Workflow";
export const noWorkflowHelp = ({ back }: { back: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Ein Einzelschritt kann nur unverändert wiederholt werden. ", back("Zurück zum Lauf"));
export const stillActive = "Dieser Lauf ist noch aktiv";
export const stillActiveHelp = ({ back }: { back: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Warten Sie, bis er endet, oder brechen Sie ihn ab, bevor Sie ihn wiederholen. ", back("Zurück zum Lauf"));
export const unsavedChanges = "Ihre Änderungen an der Definition";
export const definitionLabel = ({ workflow }: { workflow: string | number }): string =>
  `Definition von ${workflow} für den neuen Lauf`;
export const yourChanges = "Ihre Änderungen";
export const versionNumber = ({ version }: { version: string | number }): string =>
  `Version ${version}`;
export const versionNumberModified = ({ version }: { version: string | number }): string =>
  `Version ${version}, geändert`;
export const retryPreview = "Vorschau der Wiederholung";
export const retryWithChanges = "Mit diesen Änderungen wiederholen";
export const noChanges = "Noch keine Änderungen.";
export const fixErrors = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Beheben Sie zuerst ${formatNumber(count)} Fehler.` : `Beheben Sie zuerst ${formatNumber(count)} Fehler.`);
export const changedSteps = ({ steps }: { steps: string | number }): string =>
  `Geändert, werden erneut ausgeführt: ${steps}.`;
export const addedSteps = ({ steps }: { steps: string | number }): string =>
  `Hinzugefügt: ${steps}.`;
export const removedSteps = ({ steps }: { steps: string | number }): string =>
  `Entfernt: ${steps}.`;
export const undoneSteps = ({ steps }: { steps: string | number }): string =>
  `Rückgängig gemacht, werden erneut ausgeführt: ${steps}.`;
export const unfinishedSteps = ({ steps }: { steps: string | number }): string =>
  `Nicht erfolgreich, werden ausgeführt: ${steps}.`;
export const stepsAndMore = ({ steps, more }: { steps: string | number; more: number }): string =>
  (pluralForm(more) === "one" ? `${steps} und ${formatNumber(more)} weiterer` : `${steps} und ${formatNumber(more)} weitere`);
export const otherSteps = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} anderer Schritt war erfolgreich.` : `${formatNumber(count)} andere Schritte waren erfolgreich.`)} Ausgaben werden wiederverwendet, wo die Eingaben unverändert sind.`;
export const newFromSteps = "Neuer Workflow aus Einzelschritten";
export const newFromStepsHelp = "Ausprobierte Schritte werden zu Schritten eines Workflows";
export const stepsInOrder = "Schritte in der Reihenfolge ihrer Ausführung";
export const stepsInOrderHelp = "Werte, die aus der Ausgabe eines früheren Schritts stammen, werden von dort gelesen.";
export const checkNamed = ({ name }: { name: string | number }): string =>
  `${name} prüfen`;
export const toFix = "Vor der Ausführung zu beheben";
export const issues = "Fehler";
export const guessed = "Aus den Läufen abgeleitet: Stimmt das?";
export const guesses = "Vermutungen";
export const nothingGuessed = "Aus den Läufen ging alles eindeutig hervor.";
export const editDefinition = "Definition bearbeiten";
export const openWorkflow = "Workflow öffnen";
export const runs = "Läufe";
export const allRuns = "Alle Läufe, neueste zuerst";
export const noMatchesYet = "Noch keine Treffer";
export const noMatchesYetHelp = "Nur die neuesten Läufe dieses Filters wurden durchsucht. Ein kürzerer Zeitraum, ein Workflow oder ein Status lässt die Suche weiter zurückreichen.";
export const foundSoFar = ({ shown }: { shown: string | number }): string =>
  `Bisher ${shown} gefunden. Ältere Läufe wurden nicht durchsucht.`;
export const found = ({ shown }: { shown: string | number }): string =>
  `${shown} gefunden`;
export const noMatchingRuns = "Keine passenden Läufe";
export const noMatchingRunsHelp = "Entfernen Sie einen Filter oder wählen Sie einen längeren Zeitraum.";
export const noRuns = "Noch keine Läufe";
export const chooseWorkflow = "Workflow auswählen";
export const noRunsHelp = "Ein Lauf führt eine Version eines Workflows aus. Sie können ihn hier starten, nach einem Zeitplan, von einem Agenten mit dem Tool run_workflow oder aus einem Skript mit einer Anfrage:";
export const curlCommand = "curl-Befehl zum Starten eines Laufs";
export const filters = "Filter";
export const removeBackfill = ({ id }: { id: string | number }): string =>
  `Backfill ${id}: Filter entfernen`;
export const backfillFilter = ({ id }: { id: string | number }): string =>
  `Backfill ${id}`;
export const any = "Alle";
export const clearStatus = "Status zurücksetzen";
export const clearTrigger = "Trigger zurücksetzen";
export const clearWorkflow = "Workflow zurücksetzen";
export const since = "Von";
export const until = "Bis";
export const search = "Suche";
export const searchPlaceholder = "ID, Eingabe, Ausgabe oder Fehler";
export const searching = "Suche läuft …";
export const noMatchingWorkflows = "Keine passenden Workflows";
export const selectAll = "Alle angezeigten Läufe auswählen";
export const actions = "Aktionen";
export const selectRun = ({ name, id }: { name: string | number; id: string | number }): string =>
  `Lauf von ${name} auswählen, ${id}`;
export const runWithoutWorkflow = ({ id }: { id: string | number }): string =>
  `${id} · kein Workflow`;
export const runOfVersion = ({ id, version, link }: { id: string | number; version: string | number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(id, " · v", version, " · ", link("Workflow"));
export const workflowNamed = ({ name }: { name: string | number }): string =>
  `Workflow ${name}`;
export const continuedFailures = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "Ein Schritt ist fehlgeschlagen, der Lauf ging weiter." : `${count} Schritte sind fehlgeschlagen, der Lauf ging weiter.`);
export const notStarted = "nicht gestartet";
export const cancelRunsTitle = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf abbrechen?` : `${formatNumber(count)} Läufe abbrechen?`);
export const cancelRunsHelp = "Dies beendet die Läufe und alle, die von ihnen gestartet wurden. Abgeschlossene Schritte bleiben, wie sie sind, außer sie lassen sich rückgängig machen.";
export const cancelRuns = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf abbrechen` : `${formatNumber(count)} Läufe abbrechen`);
export const retryRunsTitle = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf wiederholen?` : `${formatNumber(count)} Läufe wiederholen?`);
export const retryRunsHelp = "Jeder startet einen neuen Lauf, der die Ausgaben erfolgreicher Schritte wiederverwendet. Läufe, die einen Effekt wiederholen würden, werden zuerst aufgelistet und nicht gestartet.";
export const retryRuns = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf wiederholen` : `${formatNumber(count)} Läufe wiederholen`);
export const selectedRuns = "Ausgewählte Läufe";
export const runsSelected = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf ausgewählt` : `${formatNumber(count)} Läufe ausgewählt`);
export const cancelCount = ({ count }: { count: string | number }): string =>
  `Abbrechen (${count})`;
export const retryCount = ({ count }: { count: string | number }): string =>
  `Wiederholen (${count})`;
export const clearSelection = "Auswahl aufheben";
export const atMost = ({ max }: { max: string | number }): string =>
  `Höchstens ${max} auf einmal.`;
export const exportedNewest = ({ max }: { max: number }): string =>
  `Die neuesten ${formatNumber(max)} Läufe wurden exportiert. Es gibt mehr: Wählen Sie einen kürzeren Zeitraum, um sie zu exportieren.`;
export const exported = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf exportiert.` : `${formatNumber(count)} Läufe exportiert.`);
export const exportFailed = "Die Läufe konnten nicht exportiert werden";
export const exportButton = "Exportieren";
export const exporting = ({ count }: { count: number }): string =>
  `Export läuft … ${formatNumber(count)}`;
export const exportSelected = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} ausgewählter Lauf` : `${formatNumber(count)} ausgewählte Läufe`);
export const exportAll = ({ max }: { max: number }): string =>
  `Alle Läufe des Filters, höchstens ${formatNumber(max)}`;
export const csv = "CSV";
export const json = "JSON";
export const bulkTitle = ({ action, count }: { action: "cancel" | "retry"; count: number }): string =>
  (action === "cancel" ? (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf wird abgebrochen` : `${formatNumber(count)} Läufe werden abgebrochen`) : (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf wird wiederholt` : `${formatNumber(count)} Läufe werden wiederholt`));
export const bulkLabel = ({ action }: { action: "cancel" | "retry" }): string =>
  (action === "cancel" ? "Läufe werden abgebrochen" : "Läufe werden wiederholt");
export const bulkProgress = ({ action, ended, total, done }: { action: "cancel" | "retry"; ended: string | number; total: string | number; done: string | number }): string =>
  (action === "cancel" ? `${ended} von ${total} · ${done} abgebrochen` : `${ended} von ${total} · ${done} wiederholt`);
export const bulkProgressRefused = ({ action, ended, total, done, others }: { action: "cancel" | "retry"; ended: string | number; total: string | number; done: string | number; others: string | number }): string =>
  (action === "cancel" ? `${ended} von ${total} · ${done} abgebrochen, ${others} nicht` : `${ended} von ${total} · ${done} wiederholt, ${others} nicht`);
export const bulkRefused = ({ action }: { action: "cancel" | "retry" }): string =>
  (action === "cancel" ? "Nicht abgebrochene Läufe" : "Nicht wiederholte Läufe");
export const wouldRepeatEffects = ({ reason }: { reason: string | number }): string =>
  `Er würde Effekte wiederholen: ${reason}`;
export const startedRuns = "Gestartete Läufe";
export const retryWithEffects = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf mit Effekten trotzdem wiederholen` : `${formatNumber(count)} Läufe mit Effekten trotzdem wiederholen`);
export const stop = "Stoppen";
export const done = "Fertig";
