/** Asks for the password or a second factor before a change that somebody at an unlocked browser must not make. */
import { Anchor, Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { FactorProofForm } from "./factor-proof-form.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";

interface ConfirmIdentityProps {
  email: string;
  /** The kinds of the person's second factors. */
  methods: readonly string[];
  onConfirmed: () => void;
}

export function ConfirmIdentity({ email, methods, onConfirmed }: ConfirmIdentityProps) {
  const [password, setPassword] = useState("");
  const [byFactor, setByFactor] = useState(false);
  const confirm = useMutation({
    mutationFn: () => send("post", "/session/confirmation", { body: { password } }),
    onSuccess: onConfirmed,
  });
  const formError = formLevelError(confirm.error, ["password"]);
  const other = methods.length > 0 && (
    <Anchor component="button" type="button" size="sm" ta="start" onClick={() => setByFactor(!byFactor)}>
      {byFactor ? texts.byPassword : texts.bySecondFactor}
    </Anchor>
  );
  if (byFactor)
    return (
      <Stack>
        <FactorProofForm
          methods={methods}
          label={texts.confirm}
          challenge={async () => (await send("post", "/session/confirmation/passkey", {})).data.options}
          prove={async (proof) => {
            await send("post", "/session/confirmation", { body: proof });
            onConfirmed();
          }}
        />
        {other}
      </Stack>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <Stack>
        <Text size="sm">{texts.enterPassword}</Text>
        {formError && <ErrorAlert error={formError} />}
        {/* Tells password managers which account the password belongs to. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label={texts.password}
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={issueAt(confirm.error, "password")}
          visibilityToggleButtonProps={{ "aria-label": texts.showPassword, tabIndex: 0 }}
        />
        <Group justify="space-between">
          {other || <span />}
          <Button type="submit" loading={confirm.isPending}>
            {texts.confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
