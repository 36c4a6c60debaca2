/** The second step of a sign-in, after the password was right. */
import { Anchor, Stack, Text } from "@mantine/core";
import * as texts from "#texts/account";
import type { SecondStep as Step } from "../../../schemas/second-factor.ts";
import type { SessionInfo } from "../../../schemas/user.ts";
import { send } from "../api/client.ts";
import { FactorProofForm } from "./factor-proof-form.tsx";

export interface SecondStepProps {
  step: Step;
  complete: (session: SessionInfo) => void;
  /** Goes back to the password. */
  cancel: () => void;
}

export default function SecondStepForm({ step, complete, cancel }: SecondStepProps) {
  return (
    <Stack>
      <Text size="sm">{texts.showFactor}</Text>
      <FactorProofForm
        methods={step.second_factor.methods}
        label={texts.signIn}
        challenge={async () => (await send("post", "/session/second-factor/passkey", {})).data.options}
        prove={async (proof) =>
          complete((await send("post", "/session/second-factor", { body: proof })).data)
        }
      />
      <Anchor component="button" type="button" size="sm" ta="start" onClick={cancel}>
        {texts.backToPassword}
      </Anchor>
    </Stack>
  );
}
