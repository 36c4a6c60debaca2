/** Signing in again through an identity provider: it happens in another tab, and this tab continues. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { serverPath } from "./base-path.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { loginUrl } from "../account/sso-sign-in.tsx";
import { refetchFailedQueries, useSignOutTo } from "./session.tsx";

/** The page of the new tab after sign-in. It notifies this tab and closes itself. */
const RETURN_PATH = "/sign-in?back=1";

export function SsoReauthentication({ email, mode }: { email: string; mode: AuthMode }) {
  const client = useQueryClient();
  const signOutTo = useSignOutTo();
  // This dialog unmounts as soon as the other tab reports the new session.
  useEffect(() => () => refetchFailedQueries(client), [client]);
  return (
    <Stack>
      <Text size="sm">
        Your session has ended. Your unsaved input is still here. Sign in again as <b>{email}</b> in a new tab
        to continue.
      </Text>
      <Group justify="space-between">
        <Button variant="default" onClick={() => signOutTo(mode === "cognito" ? "/logout" : "/sign-in")}>
          Use another account
        </Button>
        <Button
          component="a"
          href={mode === "cognito" ? serverPath(`/ui${RETURN_PATH}`) : loginUrl(RETURN_PATH)}
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
