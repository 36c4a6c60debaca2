/** Over the page of somebody whose session has ended: they sign in again, and go on where they were. */
import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { besideFields, faultAt } from "../account/fields.ts";
import { send } from "../api/client.ts";
import { Failed } from "../ui/page.tsx";
import { useFocusBack } from "../ui/use-focus-back.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { refetchRefused, sessionQuery, tellOtherTabs, useLeave } from "./session.tsx";
import { SignedOutElsewhere } from "./signed-out-elsewhere.tsx";

/** Above every other dialog. */
const Z_INDEX = 350;

export function SignedOutDialog({ email, mode }: { email: string; mode: AuthMode }) {
  useFocusBack();
  const leave = useLeave();
  return (
    <Modal
      opened
      onClose={() => leave("/sign-in")}
      title="You are signed out"
      centered
      zIndex={Z_INDEX}
      overlayProps={{ blur: 6 }}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {mode === "built-in" ? <ByPassword email={email} /> : <SignedOutElsewhere email={email} mode={mode} />}
    </Modal>
  );
}

function ByPassword({ email }: { email: string }) {
  const client = useQueryClient();
  const leave = useLeave();
  const [password, setPassword] = useState("");
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => {
      client.setQueryData(sessionQuery.queryKey, data);
      tellOtherTabs();
      refetchRefused(client);
    },
  });
  const other = besideFields(signIn.error, ["password"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          Your session has ended. What you were writing is still here: sign in again as <b>{email}</b> to go
          on with it.
        </Text>
        {other && <Failed error={other} />}
        {/* For the browser, which keeps passwords by address. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={faultAt(signIn.error, "password")}
          visibilityToggleButtonProps={{ "aria-label": "Show the password", tabIndex: 0 }}
        />
        <Group justify="space-between">
          <Button variant="default" onClick={() => leave("/sign-in")}>
            Sign in as somebody else
          </Button>
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
