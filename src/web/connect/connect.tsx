/** Connect an agent: a key, a configuration, and a first thing to say. */
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
      about="An agent finds, writes, checks and runs workflows over MCP; scripts do the same over REST. Both send an API key."
    >
      <Step number={1} title="A key for the agent">
        {key === undefined ? (
          <Group>
            <Button onClick={() => setCreating(true)}>Create a key</Button>
            <Text size="sm" c="dimmed">
              or put one that you have in the place of <code>{API_KEY_PLACEHOLDER}</code>.{" "}
              <Anchor component={Link} to="/keys" underline="always">
                Your keys
              </Anchor>
            </Text>
          </Group>
        ) : (
          <Text size="sm" role="status">
            The new key stands in the texts below. It is not shown again once you leave this page.
          </Text>
        )}
      </Step>
      <Step number={2} title="Its configuration">
        <ClientSetups url={url} value={value} />
      </Step>
      <Step number={3} title="Something to say">
        <Text size="sm">Ask the agent, in your own words, for something like this:</Text>
        <Snippet
          text="Look at what Millrace can use, write a workflow that sums up last week's revenue by region, check it, and run it."
          label="first words to an agent"
        />
      </Step>
      <Step number={4} title="Or a script">
        <Snippet text={curlCommand(location.origin, value)} label="curl command" />
        <Text size="sm">
          Every operation, with its schema and a form to try it:{" "}
          <Anchor href="/apidoc/" underline="always">
            API reference
          </Anchor>
          .
        </Text>
      </Step>
      {creating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setKey(made.value ?? undefined);
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
