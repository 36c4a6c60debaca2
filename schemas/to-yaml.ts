/** Writes a definition as YAML for people: with blocks for long texts and keys in a fixed order, so that versions compare well. */
import { orderDefinition } from "./definition-order.ts";
import { renderYaml } from "./yaml-render.ts";

/** @returns YAML 1.2 text that ends with a newline */
export const toYaml = (definition: Readonly<Record<string, unknown>>): string =>
  renderYaml(orderDefinition(definition));
