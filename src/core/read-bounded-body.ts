/**
 * Reads a body up to a limit, so that its sender can't fill the memory.
 * @throws what `onTooLarge` returns, when the body has more than `maxBytes`; the rest is not read
 */
export async function readBoundedBody(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  onTooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw onTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
