import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes generated files. With the argument --check it writes nothing, and names the files that are out of date.
 * @param files the content of each file by its path in the repository
 */
export function writeFiles(files: Readonly<Record<string, string>>): void {
  const checking = process.argv.includes("--check");
  for (const [name, text] of Object.entries(files)) {
    const file = new URL(`../${name}`, import.meta.url);
    // A file that did not change keeps its time, so that nothing is built again because of it.
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    if (checking) {
      console.error(`${name} is out of date. Run: npm run generate`);
      process.exitCode = 1;
    } else {
      mkdirSync(new URL(".", file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}
