/** The look: quiet, legible, the same in light and dark. Colours that mean something are in ui/status.tsx. */
import { createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "cyan",
  // Dark enough on white, light enough on black, for text at 4.5:1 (WCAG 1.4.3).
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  // The darker scheme's shade is too light for white text.
  luminanceThreshold: 0.18,
  defaultRadius: "md",
  cursorType: "pointer",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: "650" },
  respectReducedMotion: true,
  components: {
    // On its own tint no shade of a colour reaches 4.5:1 in both schemes; the icon and the tint say enough.
    Alert: { styles: { title: { color: "var(--mantine-color-text)" } } },
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    // A page has one banner, and a dialog is none.
    ModalHeader: { defaultProps: { component: "div" } },
  },
});
