/** Accessibility of a page, as axe-core finds it. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** @returns the violations that axe-core finds, each with its element */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const builder = new AxeBuilder({ page }).options({ resultTypes: ["violations"] });
  if (rules !== undefined) builder.withRules(rules);
  const results = await builder.analyze();
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) =>
        `${id}: ${help}: ${target.join(" ")}: ${failureSummary?.split("\n")[1]?.trim()}`,
    ),
  );
}
