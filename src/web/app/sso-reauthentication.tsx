/** For whom an identity provider vouches: they sign in again in another tab, and go on in this one. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { AuthMode } from "../../../schemas/user.ts";
import { loginUrl } from "../account/sso-sign-in.tsx";
import { refetchFailedQueries, useSignOutTo } from "./session.tsx";

const BACK = "/sign-in?back=1";

export function SsoReauthentication({ email, mode }: { email: string; mode: AuthMode }) {
  const client = useQueryClient();
  const leave = useSignOutTo();
  // Gone once the other tab has told that somebody has come in.
  useEffect(() => () => refetchFailedQueries(client), [client]);
  return (
    <Stack>
      <Text size="sm">
        Your session has ended. What you were writing is still here: sign in again as <b>{email}</b>, in a new
        tab, to go on with it.
      </Text>
      <Group justify="space-between">
        <Button variant="default" onClick={() => leave(mode === "cognito" ? "/logout" : "/sign-in")}>
          Sign in as somebody else
        </Button>
        <Button
          component="a"
          href={mode === "cognito" ? `/ui${BACK}` : loginUrl(BACK)}
          target="_blank"
          rel="noreferrer"
          data-autofocus
        >
          Sign in
        </Button>
      </Group>
    </Stack>
  );
}
