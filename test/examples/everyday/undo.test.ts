import { expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";

it("a trip is booked at three services, or at none", async () => {
  let isCarFree = true;
  const environment = await exampleEnvironment({
    http: ({ method, path }) =>
      path.includes("/bookings") && method === "POST" && !isCarFree && environment.requests.length === 3
        ? { status: 409, body: { error: "no car" } }
        : { body: { id: `b${environment.requests.length}` } },
  });
  const id = await environment.publish("book-a-trip");
  const booked = await environment.run(id);
  expect([booked.error, booked.output]).toEqual([null, { flight: "b1", hotel: "b2", car: "b3" }]);
  expect(environment.requests.splice(0)).toHaveLength(3);

  isCarFree = false;
  const failed = await environment.run(id);
  expect(failed).toMatchObject({ status: "failed", error: { code: "http_status", step_id: "car" } });
  expect(environment.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /bookings",
    "POST /bookings",
    "POST /bookings",
    "DELETE /bookings/b2",
    "DELETE /bookings/b1",
  ]);
});
