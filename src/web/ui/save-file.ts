export const formatJson = (value: unknown): string => JSON.stringify(value, null, 2);

/** Saves a text as a file, as the browser saves a download. @param name with its ending */
export function saveFile(name: string, type: "json" | "csv", text: string): void {
  const url = URL.createObjectURL(
    new Blob([text], { type: type === "csv" ? "text/csv;charset=utf-8" : "application/json" }),
  );
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
