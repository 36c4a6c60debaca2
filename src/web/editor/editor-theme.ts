/** The editor's theme: the page's colours and fonts, in light and dark. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Extension, Prec } from "@codemirror/state";
import { Decoration, EditorView, MatchDecorator, ViewPlugin } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { DARK, LIGHT, type Palette } from "./palette.ts";

export function editorTheme(dark: boolean): Extension {
  const palette = dark ? DARK : LIGHT;
  return [
    EditorView.theme(rules(palette), { dark }),
    syntaxHighlighting(highlight(palette)),
    Prec.low(expressions),
  ];
}

const highlight = (palette: Palette): HighlightStyle =>
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: palette.key },
    { tag: [tags.string, tags.special(tags.string)], color: palette.string },
    {
      tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.labelName, tags.typeName],
      color: palette.keyword,
    },
    { tag: [tags.comment, tags.lineComment], color: palette.muted, fontStyle: "italic" },
    {
      tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace, tags.meta],
      color: palette.muted,
    },
    { tag: tags.invalid, color: palette.error },
  ]);

/** Highlights `${{ … }}` within text. */
const matcher = new MatchDecorator({
  regexp: /\$\{\{.*?\}\}/g,
  decoration: Decoration.mark({ class: "cm-expression" }),
});
const expressions = ViewPlugin.define(
  (view) => ({
    marks: matcher.createDeco(view),
    update(update) {
      this.marks = matcher.updateDeco(update, this.marks);
    },
  }),
  { decorations: (plugin) => plugin.marks },
);

type Rules = Parameters<typeof EditorView.theme>[0];

const border = "1px solid var(--mantine-color-default-border)";

function rules(palette: Palette): Rules {
  return {
    "&": {
      // Definitions read from left to right in every language.
      direction: "ltr",
      color: palette.text,
      backgroundColor: palette.page,
      fontSize: "14px",
      borderRadius: "inherit",
    },
    // iOS zooms in on fields with a smaller font.
    "@media (pointer: coarse)": { "&": { fontSize: "16px" } },
    "&.cm-focused": { outline: "none" },
    // Drawn above the gutter, which would hide an outline.
    "&.cm-focused::after": {
      content: '""',
      position: "absolute",
      inset: "0",
      zIndex: "250",
      border: "2px solid var(--mantine-primary-color-filled)",
      borderRadius: "inherit",
      pointerEvents: "none",
    },
    ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.55" },
    ".cm-content": { padding: "8px 0", caretColor: palette.text },
    ".cm-cursor, .cm-dropCursor": { borderLeftColor: palette.text, borderLeftWidth: "2px" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      background: palette.selection,
    },
    ".cm-gutters": { backgroundColor: palette.page, color: palette.muted, border: "none" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: palette.line },
    "&:not(.cm-focused) .cm-activeLine, &:not(.cm-focused) .cm-activeLineGutter": {
      backgroundColor: "transparent",
    },
    ".cm-selectionMatch": { backgroundColor: palette.line, boxShadow: `inset 0 -1px ${palette.muted}` },
    "&.cm-focused .cm-matchingBracket": {
      backgroundColor: palette.selection,
      outline: `1px solid ${palette.muted}`,
    },
    "&.cm-focused .cm-nonmatchingBracket": {
      backgroundColor: "transparent",
      outline: `1px solid ${palette.error}`,
    },
    ".cm-searchMatch": { backgroundColor: palette.selection, outline: `1px solid ${palette.muted}` },
    ".cm-searchMatch-selected": { outline: `2px solid ${palette.expression}` },
    ".cm-foldPlaceholder": { backgroundColor: palette.line, color: palette.muted, border },
    ".cm-expression, .cm-expression span": { color: palette.expression },
    ...issueMarks(palette),
    ...panels(palette),
  };
}

const underlined = (color: string) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${color}`,
  textUnderlineOffset: "3px",
});

const sign = (color: string, text: string) => ({
  content: "none",
  "&::after": { content: `"${text}"`, color, fontWeight: "700" },
});

/** Underlines and signs without images: the content security policy blocks images in styles. */
function issueMarks({ error, warning }: Palette): Rules {
  return {
    ".cm-lintRange-error": underlined(error),
    ".cm-lintRange-warning": underlined(warning),
    ".cm-lintRange-active": { backgroundColor: "transparent" },
    ".cm-gutter-lint .cm-gutterElement": { padding: "0 .2em" },
    ".cm-gutter-lint .cm-lint-marker": { width: "auto", height: "auto", textAlign: "center" },
    ".cm-lint-marker-error": sign(error, "✕"),
    ".cm-lint-marker-warning": sign(warning, "!"),
    ".cm-diagnostic": {
      padding: "4px 10px",
      borderLeft: "none",
      whiteSpace: "pre-wrap",
      unicodeBidi: "plaintext",
    },
  };
}

function panels(palette: Palette): Rules {
  const field = {
    color: palette.text,
    backgroundColor: palette.page,
    backgroundImage: "none",
    border,
    borderRadius: "4px",
  };
  return {
    ".cm-panels": { backgroundColor: palette.line, color: palette.text },
    ".cm-panels-top": { borderBottom: border },
    ".cm-panel.cm-search": { padding: "8px 32px 8px 8px", fontFamily: "var(--mantine-font-family)" },
    ".cm-panel.cm-search label": { fontSize: "13px" },
    ".cm-panel.cm-search [name=close]": {
      color: palette.text,
      fontSize: "18px",
      width: "24px",
      height: "24px",
    },
    ".cm-textfield": { ...field, fontSize: "inherit", padding: "4px 6px" },
    ".cm-button": { ...field, fontSize: "13px", padding: "4px 8px", cursor: "pointer" },
    ".cm-tooltip": {
      backgroundColor: palette.page,
      color: palette.text,
      border,
      borderRadius: "6px",
      boxShadow: "var(--mantine-shadow-md)",
    },
    ".cm-help": {
      padding: "6px 10px",
      maxWidth: "min(420px, 86vw)",
      fontFamily: "var(--mantine-font-family)",
      fontSize: "13px",
    },
    ".cm-help p": {
      margin: "0 0 4px",
      whiteSpace: "pre-wrap",
      overflowWrap: "anywhere",
      unicodeBidi: "plaintext",
    },
    ".cm-tooltip.cm-completionInfo": { padding: "0", maxWidth: "min(420px, 86vw)" },
    // Shown below the list when there is no room beside it.
    ".cm-completionInfo.cm-completionInfo-left-narrow, .cm-completionInfo.cm-completionInfo-right-narrow": {
      top: "100% !important",
      bottom: "auto !important",
      left: "0",
      right: "auto",
    },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "min(280px, 40vh)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px", display: "flex", gap: "12px" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": {
      backgroundColor: palette.selection,
      color: palette.text,
    },
    ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
    ".cm-completionDetail": {
      marginInlineStart: "auto",
      color: palette.muted,
      fontStyle: "normal",
      fontFamily: "var(--mantine-font-family)",
      overflow: "hidden",
      textOverflow: "ellipsis",
    },
    "li[aria-selected] .cm-completionDetail": { color: palette.text },
  };
}
