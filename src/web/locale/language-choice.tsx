/** The choice of a language where there is no user menu, such as on the sign-in page. */
import { Anchor, Group } from "@mantine/core";
import * as texts from "#texts/locale";
import { chooseLanguage, LANGUAGES } from "./choose-language.ts";
import { language } from "./locale.ts";

export function LanguageChoice() {
  return (
    <Group component="nav" justify="center" gap="md" mt="lg" aria-label={texts.language}>
      {LANGUAGES.map(({ code, name }) => (
        <Anchor
          key={code}
          component="button"
          type="button"
          size="sm"
          c="dimmed"
          lang={code}
          aria-current={code === language}
          onClick={() => chooseLanguage(code)}
        >
          {name}
        </Anchor>
      ))}
    </Group>
  );
}
