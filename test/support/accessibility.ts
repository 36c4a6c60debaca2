/** Checks pages with axe-core. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/**
 * @param rules only these rules of axe-core
 * @returns the violations that it finds, each with its element
 */
export async function accessibilityIssues(page: Page, rules?: string[]): Promise<string[]> {
  const builder = new AxeBuilder({ page })
    .options({ resultTypes: ["violations"] })
    // Our pages have no frames, for whose results it would open another page each time.
    .setLegacyMode();
  if (rules !== undefined) builder.withRules(rules);
  const { violations } = await builder.analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) =>
        `${id}: ${help}: ${target.join(" ")}: ${failureSummary?.split("\n")[1]?.trim()}`,
    ),
  );
}
