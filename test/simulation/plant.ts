/** Plants a bug in the product, as its modules are loaded. */
import { registerHooks } from "node:module";
import { MUTANTS } from "./mutants.ts";

/** Must be called before the file of the mutant is imported. */
export function plant(name: string): void {
  const mutant = MUTANTS.find((it) => it.name === name);
  if (mutant === undefined) throw new Error(`There is no mutant ${name}.`);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/${mutant.file}`)) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      if (source.split(mutant.find).length !== 2) throw new Error(`${name} does not fit ${mutant.file}.`);
      return { ...loaded, source: source.replace(mutant.find, () => mutant.replace) };
    },
  });
}
