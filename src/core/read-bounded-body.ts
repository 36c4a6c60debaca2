/** An answer's body, no more of it than may be: whoever sends it must not fill our memory. */

/**
 * @param most in bytes
 * @param tooLarge what is thrown where there is more; the rest is not read then
 */
export async function readBoundedBody(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > most) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
