/** The page "Connect an agent": a key, the client's configuration, whether it has connected, and a first prompt. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { serverPath, serverUrl } from "../app/base-path.ts";
import { useSession } from "../app/session.tsx";
import { CreateKey } from "../keys/create-key.tsx";
import { Snippet } from "../ui/copy.tsx";
import { Page } from "../ui/page.tsx";
import { ConnectionCheck } from "./connection-check.tsx";
import { ClientSetups } from "./client-setups.tsx";
import { curlCommand, API_KEY_PLACEHOLDER } from "./clients.ts";
import { McpUrlCheck } from "./mcp-url-check.tsx";

export default function Connect() {
  const { mcp_url: url, oauth } = useSession();
  const [key, setKey] = useState<{ id: string; value: string }>();
  const [creating, setCreating] = useState(false);
  const value = key?.value ?? API_KEY_PLACEHOLDER;
  // Hosted clients, which can't send a key, reach no other address.
  const isPublic = url.startsWith("https:");
  return (
    <Page
      title="Connect an agent"
      about={`Agents find, write, check and run workflows over MCP. Scripts do the same over REST. ${
        oauth && isPublic ? "They send an API key, or connect by URL alone." : "Both send an API key."
      }`}
    >
      {oauth && isPublic && <ConnectByUrl url={`${url}/mcp`} isPublic />}
      <Step number={1} title="Create an API key">
        {key === undefined ? (
          <Group>
            <Button onClick={() => setCreating(true)}>Create API key</Button>
            <Text size="sm" c="dimmed">
              Or replace <code>{API_KEY_PLACEHOLDER}</code> with a key that you have.{" "}
              <Anchor component={Link} to="/keys" underline="always">
                Your keys
              </Anchor>
            </Text>
          </Group>
        ) : (
          <Text size="sm" role="status">
            The snippets below contain the new key. You won&apos;t see it again after you leave this page.
          </Text>
        )}
      </Step>
      <Step number={2} title="Configure the client">
        <ClientSetups url={url} value={value} />
        <McpUrlCheck />
      </Step>
      {key !== undefined && (
        <Step number={3} title="Check the connection">
          <ConnectionCheck keyId={key.id} />
        </Step>
      )}
      <Step number={key === undefined ? 3 : 4} title="Try a prompt">
        <Text size="sm">For example:</Text>
        <Snippet
          text="List the databases and models that Millrace can use. Then write a workflow that sums up last week's revenue by region, check it and run it."
          label="example prompt"
        />
        <Text size="sm">
          Clients with prompts or skills can also use the prompt <code>write_workflow</code>, or this{" "}
          <Anchor href={serverPath("/skills/millrace/SKILL.md")} underline="always">
            skill
          </Anchor>
          .
        </Text>
      </Step>
      <Step number={key === undefined ? 4 : 5} title="Or use a script">
        <Snippet text={curlCommand(serverUrl(), value)} label="curl command" />
        <Text size="sm">
          The{" "}
          <Anchor href={serverPath("/apidoc/")} underline="always">
            API reference
          </Anchor>{" "}
          describes every operation, and lets you try it.
        </Text>
      </Step>
      {oauth && !isPublic && <ConnectByUrl url={`${url}/mcp`} isPublic={false} />}
      {creating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(created) => {
            setKey(created.value === null ? undefined : { id: created.id, value: created.value });
            setCreating(false);
          }}
        />
      )}
    </Page>
  );
}

/** For clients that sign in: what there is to enter, and who can reach it. */
function ConnectByUrl({ url, isPublic }: { url: string; isPublic: boolean }) {
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="connect-by-url">
      <Stack gap="sm">
        <Title order={2} size="h4" id="connect-by-url">
          By URL alone
        </Title>
        <Text size="sm">
          {isPublic
            ? "Claude on the web, ChatGPT and other hosted clients can’t send an API key. Add this URL there as a connector or MCP server. Your client then opens a page where you sign in and choose what it can do. Programs that support OAuth can do the same."
            : "Programs on this computer that support OAuth need no API key: add this URL as an MCP server. The program then opens a page where you sign in and choose what it can do."}
        </Text>
        <Snippet text={url} label="URL for clients that sign in" />
        <Text size="sm" c="dimmed">
          {isPublic
            ? "Hosted clients reach it only if this address can be reached from the internet."
            : "Claude on the web, ChatGPT and other hosted clients can’t reach this address. They need an https address (MILLRACE_BASE_URL and MILLRACE_MCP_URL)."}{" "}
          You find connected applications under{" "}
          <Anchor component={Link} to="/keys" underline="always">
            API Keys
          </Anchor>{" "}
          and can revoke their access there.
        </Text>
      </Stack>
    </Card>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: React.ReactNode }) {
  return (
    <Card withBorder padding="lg">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {number}. {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}
