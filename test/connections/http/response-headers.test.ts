import { describe, expect, it } from "vitest";
import { responseFrom } from "../../support/http-client.ts";

describe("the headers of a response", () => {
  it("have set-cookie as a list, whether there is one or several", async () => {
    const cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2; HttpOnly"];
    for (const sent of [cookies, cookies.slice(0, 1)]) {
      const { headers } = await responseFrom((response) => {
        response.writeHead(200, { "set-cookie": sent });
        response.end();
      });
      expect(headers["set-cookie"]).toEqual(sent);
    }
  });

  it("have other repeated headers as one text", async () => {
    const { headers } = await responseFrom((response) => {
      response.writeHead(
        200,
        [
          ["link", '</a>; rel="next"'],
          ["link", '</b>; rel="last"'],
          ["vary", "accept"],
        ].flat(),
      );
      response.end();
    });
    expect(headers).toMatchObject({ link: '</a>; rel="next", </b>; rel="last"', vary: "accept" });
    expect(headers).not.toHaveProperty("set-cookie");
  });

  it("are read as UTF-8 where their bytes are, else as Latin-1", async () => {
    const { headers } = await responseFrom((response) => {
      const lines = [
        "HTTP/1.1 200 OK",
        "Content-Length: 0",
        "X-Latin: M\u00fcnchen",
        `X-Utf: ${Buffer.from("München €").toString("latin1")}`,
        `Content-Disposition: attachment; filename="${Buffer.from("Übersicht.csv").toString("latin1")}"`,
        `Set-Cookie: city=${Buffer.from("Köln").toString("latin1")}`,
      ];
      response.socket!.end(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
    });
    expect(headers).toMatchObject({
      "x-latin": "München",
      "x-utf": "München €",
      "content-disposition": 'attachment; filename="Übersicht.csv"',
      "set-cookie": ["city=Köln"],
    });
  });

  it("lead to the right URL where location has bytes of UTF-8", async () => {
    const paths: string[] = [];
    await responseFrom((response) => {
      paths.push(response.req.url!);
      response.writeHead(paths.length === 1 ? 302 : 200, {
        location: Buffer.from("/bücher").toString("latin1"),
      });
      response.end();
    });
    expect(paths).toEqual(["/", "/b%C3%BCcher"]);
  });
});
