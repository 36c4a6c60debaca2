/** The page "Connect an agent": a key, the client's configuration, whether it has connected, and a first prompt. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import * as texts from "#texts/connect";
import { useSession } from "../app/session.tsx";
import { CreateKey } from "../keys/create-key.tsx";
import { Snippet } from "../ui/copy.tsx";
import { Page } from "../ui/page.tsx";
import { ConnectionCheck } from "./connection-check.tsx";
import { ClientSetups } from "./client-setups.tsx";
import { curlCommand, API_KEY_PLACEHOLDER } from "./clients.ts";

const linkToKeys = (text: ReactNode): ReactNode => (
  <Anchor component={Link} to="/keys" underline="always">
    {text}
  </Anchor>
);

const linkToSkill = (text: ReactNode): ReactNode => (
  <Anchor href="/skills/millrace/SKILL.md" underline="always">
    {text}
  </Anchor>
);

const linkToReference = (text: ReactNode): ReactNode => (
  <Anchor href="/apidoc/" underline="always">
    {text}
  </Anchor>
);

export default function Connect() {
  const { mcp_url: url, oauth } = useSession();
  const [key, setKey] = useState<{ id: string; value: string }>();
  const [creating, setCreating] = useState(false);
  const value = key?.value ?? API_KEY_PLACEHOLDER;
  return (
    <Page title={texts.title} about={texts.about({ signIn: oauth ? "yes" : "no" })}>
      {oauth && <ConnectByUrl url={`${url}/mcp`} />}
      <Step number={1} title={texts.createKeyTitle}>
        {key === undefined ? (
          <Group>
            <Button onClick={() => setCreating(true)}>{texts.createKey}</Button>
            <Text size="sm" c="dimmed">
              {texts.orReplace({ placeholder: <code>{API_KEY_PLACEHOLDER}</code>, link: linkToKeys })}
            </Text>
          </Group>
        ) : (
          <Text size="sm" role="status">
            {texts.newKeyShown}
          </Text>
        )}
      </Step>
      <Step number={2} title={texts.configureTitle}>
        <ClientSetups url={url} value={value} />
      </Step>
      {key !== undefined && (
        <Step number={3} title={texts.checkTitle}>
          <ConnectionCheck keyId={key.id} />
        </Step>
      )}
      <Step number={key === undefined ? 3 : 4} title={texts.promptTitle}>
        <Text size="sm">{texts.forExample}</Text>
        <Snippet text={texts.prompt} label={texts.examplePrompt} />
        <Text size="sm">{texts.promptHelp({ name: <code>write_workflow</code>, link: linkToSkill })}</Text>
      </Step>
      <Step number={key === undefined ? 4 : 5} title={texts.scriptTitle}>
        <Snippet text={curlCommand(location.origin, value)} label={texts.curlCommand} />
        <Text size="sm">{texts.apiReferenceHelp({ link: linkToReference })}</Text>
      </Step>
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
function ConnectByUrl({ url }: { url: string }) {
  const isPublic = url.startsWith("https:");
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="connect-by-url">
      <Stack gap="sm">
        <Title order={2} size="h4" id="connect-by-url">
          {texts.byUrl}
        </Title>
        <Text size="sm">{texts.byUrlHelp}</Text>
        <Snippet text={url} label={texts.urlForClients} />
        <Text size="sm" c="dimmed">
          {texts.reach({ address: isPublic ? "public" : "local", link: linkToKeys })}
        </Text>
      </Stack>
    </Card>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
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
