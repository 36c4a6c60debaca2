/** The look: quiet, legible, the same in light and dark. Colours that mean something are in ui/status.tsx. */
import { createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "mill",
  // As Mantine's cyan, but for the last two: white on them, also under the pointer, has more than 4.5:1 (WCAG 1.4.3).
  colors: {
    mill: [
      "#e3fafc",
      "#c5f6fa",
      "#99e9f2",
      "#66d9e8",
      "#3bc9db",
      "#22b8cf",
      "#15aabf",
      "#1098ad",
      "#0b7285",
      "#095c6b",
    ],
  },
  primaryShade: 8,
  autoContrast: true,
  // From here on text on a filled colour is black: white would have less than 4.5:1.
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
