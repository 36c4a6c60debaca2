// A client of somebody else, as a program: it reads commands as JSON lines and answers each by one line.
// Usage: node driver.js <name of the driver> <url> <http or sse> <key>
import { createInterface } from "node:readline";
import { jsonLine } from "./json-line.ts";

const [name, url, transport, key] = process.argv.slice(2);
const { connect } = await import(`./drivers/${name}.js`);
const answer = (value) => process.stdout.write(`@${jsonLine(value)}`);
// What a client logs goes to standard error.
console.log = console.info = console.debug = console.error;

const messageOf = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

let client;
const commands = {
  async connect() {
    client = await connect({ url, transport, headers: { "X-API-Key": key } });
  },
  list: () => client.list(),
  call: ([tool, args]) => client.call(tool, args),
  close: () => client.close(),
};

process.on("unhandledRejection", (error) => console.error("unhandled", messageOf(error)));
process.on("uncaughtException", (error) => console.error("uncaught", messageOf(error)));

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...parameters] = JSON.parse(line);
  try {
    answer({ result: await commands[command](parameters) });
  } catch (error) {
    answer({ error: messageOf(error) });
  }
}
process.exit(0);
