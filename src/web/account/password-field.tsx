/** A new password: the rule, how strong it is as one types, and what the server said of it. */
import { PasswordInput, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { PASSWORD_RULE, passwordIssue } from "../../../schemas/password.ts";

const LEVELS = [
  { word: "guessed at once", color: "red" },
  { word: "easily guessed", color: "red" },
  { word: "still easily guessed", color: "orange" },
  { word: "good", color: "lime" },
  { word: "strong", color: "green" },
] as const;

interface PasswordFieldProps {
  label?: string;
  value: string;
  onChange: (value: string) => void;
  /** What must not be part of it: the address. */
  email?: string;
  error?: string | undefined;
}

export function PasswordField({
  label = "Password",
  value,
  onChange,
  email = "",
  error,
}: PasswordFieldProps) {
  return (
    <Stack gap={6}>
      <PasswordInput
        label={label}
        description={PASSWORD_RULE}
        required
        autoComplete="new-password"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
        visibilityToggleButtonProps={{ "aria-label": "Show the password", tabIndex: 0 }}
      />
      {value !== "" && <Strength password={value} email={email} />}
    </Stack>
  );
}

function Strength({ password, email }: { password: string; email: string }) {
  const deferred = useDeferredValue(password);
  const issue = passwordIssue(deferred);
  // Loaded at the first letter: the dictionaries are larger than the page.
  const strength = useQuery({
    queryKey: ["password-strength"],
    queryFn: async () => (await import("./password-strength.ts")).passwordStrength,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const judged = strength.data?.(deferred, email);
  const score = issue === undefined ? (judged ?? 0) : Math.min(judged ?? 0, 1);
  const { word, color } = LEVELS[score]!;
  return (
    <Stack gap={4}>
      <Progress value={(score + 1) * 20} color={color} size="sm" aria-label="Strength of the password" />
      <Text size="xs" c="dimmed" aria-live="polite">
        {issue !== undefined
          ? `This one ${issue.message}.`
          : judged === undefined
            ? "Judging how strong it is…"
            : `Strength: ${word}.`}
      </Text>
    </Stack>
  );
}
