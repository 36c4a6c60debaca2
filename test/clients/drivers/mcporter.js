import { createRuntime } from "mcporter";

export async function connect({ url, headers }) {
  const runtime = await createRuntime({
    servers: [{ name: "millrace", command: { kind: "http", url: new URL(url), headers } }],
  });
  const options = { disableOAuth: true };
  const list = async () => (await runtime.listTools("millrace", options)).map(({ name }) => name);
  await list();
  return {
    list,
    call: (name, args) => runtime.callTool("millrace", name, { args, ...options }),
    close: () => runtime.close(),
  };
}
