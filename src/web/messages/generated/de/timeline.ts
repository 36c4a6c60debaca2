/** Generated from src/web/messages/de/timeline.json by `npm run generate`. Edit that file instead. */
import { pluralForm } from "../../format.ts";

export const item = ({ item, event }: { item: string | number; event: string | number }): string =>
  `Element ${item}: ${event}`;
export const event = ({ event, when }: { event: string | number; when: string | number }): string =>
  `${event} (${when})`;
export const earlierEvents = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${count} früheres Ereignis` : `${count} frühere Ereignisse`);
export const given = "vorgegeben";
export const cached = "aus dem Cache";
export const reusedFrom = ({ run }: { run: string | number }): string =>
  `übernommen aus ${run}`;
export const notStarted = "nicht gestartet";
export const items = ({ total, failed }: { total: number; failed: number }): string =>
  `${(pluralForm(total) === "one" ? `${total} Element` : `${total} Elemente`)}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const itemsOf = ({ done, total, failed }: { done: string | number; total: number; failed: number }): string =>
  `${done} von ${(pluralForm(total) === "one" ? `${total} Element` : `${total} Elementen`)}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const iterations = ({ total, failed }: { total: number; failed: number }): string =>
  `${(pluralForm(total) === "one" ? `${total} Durchlauf` : `${total} Durchläufe`)}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const iterationOf = ({ iteration, max, failed }: { iteration: string | number; max: string | number; failed: number }): string =>
  `Durchlauf ${iteration} von höchstens ${max}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} fehlgeschlagen` : `, ${failed} fehlgeschlagen`)}`;
export const soFar = ({ duration }: { duration: string | number }): string =>
  `bisher ${duration}`;
export const startedImmediately = "sofort gestartet";
export const startedAfter = ({ offset }: { offset: string | number }): string =>
  `gestartet nach ${offset}`;
export const attempts = ({ attempts }: { attempts: string | number }): string =>
  `${attempts} Versuche`;
export const immediately = "sofort";
export const after = ({ offset }: { offset: string | number }): string =>
  `nach ${offset}`;
export const noStepsTitle = "Noch keine Schritte";
export const noSteps = "Die Schritte erscheinen hier, sobald der Lauf startet.";
export const legendRunning = "Läuft";
export const legendWaiting = "Wartet (auf einen Zeitpunkt, eine Freigabe, ein Ereignis oder einen anderen Lauf)";
export const legendBackoff = "Wartet auf die Wiederholung";
export const legendMarks = "Entscheidung, Erinnerung oder Eskalation";
export const legend = "Legende";
export const notStartedYet = "Nicht gestartet";
export const startedImmediatelyAt = ({ time }: { time: string | number }): string =>
  `Sofort gestartet, ${time}`;
export const startedAfterAt = ({ offset, time }: { offset: string | number; time: string | number }): string =>
  `Gestartet nach ${offset}, ${time}`;
export const elapsed = ({ duration }: { duration: string | number }): string =>
  `Bisher: ${duration}`;
export const duration = ({ duration }: { duration: string | number }): string =>
  `Dauer: ${duration}`;
export const waited = ({ duration }: { duration: string | number }): string =>
  `Wartezeit: ${duration}`;
export const backedOff = ({ duration }: { duration: string | number }): string =>
  `Wartezeit vor Wiederholungen: ${duration}`;
export const waitsUntil = ({ time }: { time: string | number }): string =>
  `Wartet bis ${time}`;
export const failed = ({ message }: { message: string | number }): string =>
  `Fehlgeschlagen: ${message}`;
export const timeline = "Zeitachse der Schritte";
