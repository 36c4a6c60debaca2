import { expect, it } from "vitest";
import { idOf } from "../../../../src/engine/definition/fixes/conversions.ts";

it.each([
  ["größe", "groesse"],
  ["grüße", "gruesse"],
  ["Größe der Bestellung", "groesse_der_bestellung"],
  ["每周收入", "mei_zhou_shou_ru"],
  ["Fetch orders", "fetch_orders"],
  ["fetchOrders", "fetch_orders"],
  ["a & b", "a_b"],
  ["2 orders", "orders"],
  ["--", undefined],
])("the id of a step that is named %j is %j", (name, id) => {
  expect(idOf(name)).toBe(id);
});
