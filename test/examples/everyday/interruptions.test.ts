import { expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";

it("a payment that the bank answers is sent once, and not asked for", async () => {
  const environment = await exampleEnvironment({ http: () => ({ status: 201, body: { id: "p1" } }) });
  const id = await environment.publish("pay-once");
  const paid = await environment.run(id);
  expect([paid.error, paid.output]).toEqual([null, { payment: "p1" }]);
  expect(environment.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /payments"]);
});
