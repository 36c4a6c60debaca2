/** The steps that add an authenticator app or a passkey. */
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { Snippet } from "../ui/copy.tsx";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { createPasskey, passkeyError } from "./passkey.ts";
import { QrCode } from "./qr-code.tsx";

interface AddFactorProps {
  /** @param codes recovery codes to show, with the first factor */
  onAdded: (codes: readonly string[] | null) => void;
}

export function AddTotp({ onAdded }: AddFactorProps) {
  const [code, setCode] = useState("");
  const [name, setName] = useState("Authenticator app");
  const setup = useQuery({
    queryKey: ["totp-setup"],
    queryFn: async () => (await send("post", "/session/factors/totp", {})).data,
    // Each call replaces the secret, so it is fetched once for each dialog, and not kept.
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const add = useMutation({
    mutationFn: () => send("post", "/session/factors/totp/confirm", { body: { code, name } }),
    onSuccess: ({ data }) => onAdded(data.recovery_codes),
    onError: () => setCode(""),
  });
  const formError = formLevelError(add.error, ["code", "name"]);
  return (
    <QueryContent query={setup}>
      {({ secret, uri }) => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate();
          }}
        >
          <Stack>
            <Text size="sm">{texts.scanCode}</Text>
            <Group justify="center">
              <QrCode text={uri} label={texts.qrCode} size={208} />
            </Group>
            <Text size="sm" c="dimmed">
              {texts.cannotScan}
            </Text>
            <Snippet text={secret.replaceAll(/(.{4})(?=.)/g, "$1 ")} label={texts.keyLabel} />
            {formError && <ErrorAlert error={formError} />}
            <TextInput
              label={texts.code}
              description={texts.newCodeHelp}
              required
              autoComplete="one-time-code"
              inputMode="numeric"
              data-autofocus
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
              error={issueAt(add.error, "code")}
            />
            <NameField value={name} onChange={setName} error={issueAt(add.error, "name")} />
            <Group justify="flex-end">
              <Button type="submit" loading={add.isPending}>
                {texts.addApp}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </QueryContent>
  );
}

export function AddPasskey({ onAdded }: AddFactorProps) {
  const [name, setName] = useState("Passkey");
  const add = useMutation({
    mutationFn: async () => {
      const { options } = (await send("post", "/session/factors/passkey/options", {})).data;
      const passkey = await createPasskey(options).catch((error: Error) => {
        throw passkeyError(error);
      });
      return send("post", "/session/factors/passkey", { body: { name, passkey } });
    },
    onSuccess: ({ data }) => onAdded(data.recovery_codes),
  });
  const formError = formLevelError(add.error, ["name"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <Stack>
        <Text size="sm">{texts.passkeyHelp}</Text>
        {formError && <ErrorAlert error={formError} />}
        <NameField value={name} onChange={setName} error={issueAt(add.error, "name")} />
        <Group justify="flex-end">
          <Button type="submit" loading={add.isPending}>
            {texts.addPasskey}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function NameField(props: { value: string; onChange: (name: string) => void; error: string | undefined }) {
  return (
    <TextInput
      label={texts.name}
      description={texts.factorNameHelp}
      required
      maxLength={60}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      error={props.error}
    />
  );
}
