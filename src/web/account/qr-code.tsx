/** A QR code as SVG. It is dark on white in every theme, because many cameras read no other. */
import { useMemo } from "react";
import { encode } from "uqr";

export function QrCode({ text, label, size }: { text: string; label: string; size: number }) {
  const { modules, path } = useMemo(() => {
    const { data, size: count } = encode(text, { border: 4 });
    const squares = data.flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    return { modules: count, path: squares.join("") };
  }, [text]);
  return (
    <svg role="img" aria-label={label} width={size} height={size} viewBox={`0 0 ${modules} ${modules}`}>
      <rect width={modules} height={modules} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
