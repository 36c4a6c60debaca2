// Sets the colour scheme before the first paint, so that no white page flashes in dark mode.
(() => {
  let preference = "auto";
  try {
    preference = localStorage.getItem("mantine-color-scheme-value") ?? "auto";
  } catch {
    // Storage is disabled, so the system preference applies.
  }
  const isDark =
    preference === "dark" || (preference !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.mantineColorScheme = isDark ? "dark" : "light";
})();
