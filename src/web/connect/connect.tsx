/** The page "Connect an agent": a key, the client's configuration, and a first prompt. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { useSession } from "../app/session.tsx";
import { CreateKey } from "../keys/create-key.tsx";
import { Snippet } from "../ui/copy.tsx";
import { Page } from "../ui/page.tsx";
import { ClientSetups } from "./client-setups.tsx";
import { curlCommand, API_KEY_PLACEHOLDER } from "./clients.ts";

export default function Connect() {
  const { mcp_url: url } = useSession();
  const [key, setKey] = useState<string>();
  const [creating, setCreating] = useState(false);
  const value = key ?? API_KEY_PLACEHOLDER;
  return (
    <Page
      title="Connect an agent"
      about="Agents find, write, check and run workflows over MCP. Scripts do the same over REST. Both send an API key."
    >
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
      </Step>
      <Step number={3} title="Try a prompt">
        <Text size="sm">For example:</Text>
        <Snippet
          text="List the databases and models that Millrace can use. Then write a workflow that sums up last week's revenue by region, check it and run it."
          label="example prompt"
        />
      </Step>
      <Step number={4} title="Or use a script">
        <Snippet text={curlCommand(location.origin, value)} label="curl command" />
        <Text size="sm">
          The{" "}
          <Anchor href="/apidoc/" underline="always">
            API reference
          </Anchor>{" "}
          describes every operation, and lets you try it.
        </Text>
      </Step>
      {creating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(created) => {
            setKey(created.value ?? undefined);
            setCreating(false);
          }}
        />
      )}
    </Page>
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
