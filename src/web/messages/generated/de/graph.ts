/** Generated from src/web/messages/de/graph.json by `npm run generate`. Edit that file instead. */
import { pluralForm } from "../../format.ts";

export const groupName = ({ kind, count }: { kind: "parallel" | "sequence"; count: string | number }): string =>
  (kind === "parallel" ? `${count} Schritte nebeneinander` : `${count} Schritte nacheinander`);
export const findStep = "Schritt suchen";
export const noSuchStep = "Schritt nicht gefunden";
export const collapseGroups = "Gruppen einklappen";
export const startRole = "Start";
export const stepRole = "Schritt";
export const startCount = ({ count }: { count: string | number }): string =>
  `${count} Starts`;
export const keyboardHelp = "Mit den Pfeiltasten wechseln Sie zwischen den Schritten, mit Pos1 und Ende zum ersten und letzten Schritt.";
export const keyboardHelpSelect = "Mit den Pfeiltasten wechseln Sie zwischen den Schritten, mit Pos1 und Ende zum ersten und letzten Schritt. Mit Enter wählen Sie einen Schritt aus.";
export const graphLabel = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Graph mit ${count} Schritt` : `Graph mit ${count} Schritten`);
export const viewControls = "Ansicht steuern";
export const zoomIn = "Vergrößern";
export const zoomOut = "Verkleinern";
export const fitView = "Graph in die Ansicht einpassen";
export const map = "Übersicht des Graphen";
export const moveHint = "Mit zwei Fingern verschieben und zoomen";
export const conditionMark = "if";
export const conditionHint = "Läuft nur, wenn die Bedingung erfüllt ist";
export const fanOutHint = "Läuft einmal je Element";
export const repeatsHint = "Läuft wiederholt";
export const rateHint = ({ rate }: { rate: string | number }): string =>
  `Startet höchstens ${rate}`;
export const undoableHint = "Wird rückgängig gemacht, wenn der Lauf nicht erfolgreich ist";
export const noSteps = "Noch keine Schritte.";
export const tooManySteps = ({ count }: { count: string | number }): string =>
  `${count} Schritte sind zu viele für einen Graphen. Hier sind sie als Liste.`;
export const drawingFailed = "Der Graph konnte nicht gezeichnet werden. Hier sind die Schritte als Liste.";
export const drawing = "Graph wird gezeichnet";
export const noType = "ohne Typ";
export const startType = ({ type }: { type: string }): string =>
  (type === "schedule" ? "Zeitplan" : type === "webhook" ? "Webhook" : type === "start" ? "Start" : `${type}`);
export const conditional = "bedingt";
export const fanOut = "läuft einmal je Element";
export const repeats = "läuft wiederholt";
export const rate = ({ rate }: { rate: string | number }): string =>
  `startet höchstens ${rate}`;
export const required = ({ required }: { required: string | number }): string =>
  `${required} Personen müssen freigeben`;
export const undoable = "wird rückgängig gemacht, wenn der Lauf nicht erfolgreich ist";
export const attempts = ({ attempts }: { attempts: string | number }): string =>
  `${attempts} Versuche`;
export const startsRuns = "startet Läufe";
export const needsNothing = "benötigt keinen anderen Schritt";
export const needs = ({ names, more }: { names: string | number; more: number }): string =>
  `benötigt: ${names}${(more === 0 ? "" : pluralForm(more) === "one" ? ` und ${more} weiteren` : ` und ${more} weitere`)}`;
export const both = ({ first, second }: { first: string | number; second: string | number }): string =>
  `${first} und ${second}`;
export const range = ({ from, to }: { from: string | number; to: string | number }): string =>
  `von ${from} bis ${to}`;
export const collapsed = "eingeklappt";
export const itemsCompleted = ({ done, total, failed }: { done: string | number; total: number; failed: number }): string =>
  `${done} von ${(pluralForm(total) === "one" ? `${total} Element` : `${total} Elementen`)} abgeschlossen${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const iterationsCompleted = ({ done, failed }: { done: number; failed: number }): string =>
  `${(pluralForm(done) === "one" ? `${done} Durchlauf` : `${done} Durchläufe`)} abgeschlossen${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const iterationsCompletedOf = ({ done, max, failed }: { done: number; max: string | number; failed: number }): string =>
  `${(pluralForm(done) === "one" ? `${done} Durchlauf` : `${done} Durchläufe`)} abgeschlossen, höchstens ${max}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const filterSteps = "Schritte filtern";
export const stepCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${count} Schritt` : `${count} Schritte`);
export const foundSteps = ({ found, total }: { found: string | number; total: number }): string =>
  `${found} von ${(pluralForm(total) === "one" ? `${total} Schritt` : `${total} Schritten`)}`;
export const steps = "Schritte";
export const noId = "(ohne ID)";
