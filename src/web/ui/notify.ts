/** What was done, said in passing; what failed, until it is closed. */
import { notifications } from "@mantine/notifications";
import { ApiError } from "../api/client.ts";

export const done = (message: string): string => notifications.show({ message, color: "green" });

export function failed(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const faults = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  const more = faults.map(({ path, message: text, fix }) =>
    `${path} ${text}${fix === undefined ? "" : `. ${fix}`}`.trim(),
  );
  notifications.show({
    title: what,
    message: [message, ...more.slice(0, 3)].join("\n"),
    color: "red",
    autoClose: false,
    styles: { description: { whiteSpace: "pre-line" } },
  });
}
