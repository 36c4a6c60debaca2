/** Writes a zip file with stored (not compressed) entries: enough for a few small texts. */
import { crc32 } from "node:zlib";

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
/** The version that is needed to extract: 2.0. */
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** 1980-01-01, the earliest date of the format, so that equal contents give equal files. */
const DATE = 0x0021;

/** @see PKWARE APPNOTE.TXT, 4.3 */
export function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [nameBytes, data] = [Buffer.from(name), Buffer.from(text)];
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(VERSION, 0);
    shared.writeUInt16LE(FLAGS, 2);
    shared.writeUInt16LE(DATE, 8);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(data.byteLength, 14);
    shared.writeUInt32LE(data.byteLength, 18);
    shared.writeUInt16LE(nameBytes.byteLength, 22);
    const entry = Buffer.concat([uint32(LOCAL_HEADER), shared, nameBytes, data]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(VERSION, 0);
    directory.push(uint32(CENTRAL_HEADER), madeBy, shared, place, nameBytes);
    parts.push(entry);
    offset += entry.byteLength;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  const count = Object.keys(files).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(central.byteLength, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, uint32(END), end]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
