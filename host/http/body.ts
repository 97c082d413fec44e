/** A request's body: read to a bound, text, JSON of bounded depth, one message. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly value: unknown }
  | { readonly status: number; readonly code: number; readonly message: string };

const parseError = -32_700;
const invalidRequest = -32_600;

/** Whether objects and lists stand in each other more than `most` deep. Bytes of a string's inside do not count. */
export const isDeeper = (bytes: Uint8Array, most: number): boolean => {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > most) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return false;
};

export const readBytes = (request: IncomingMessage, most: number): Promise<Buffer | 'too-large' | 'gone'> =>
  new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > most) {
      resolve('too-large');
      return;
    }
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      // What comes beyond it is read and dropped, so that the client sees the answer.
      if (size <= most) parts.push(part);
      else resolve('too-large');
    });
    request.on('end', () =>
      resolve(parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts)),
    );
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });

/** One JSON-RPC message. Batches ended with revision 2025-06-18 and are not taken from anybody. */
export const parseBody = (bytes: Buffer, depth: number): Body => {
  const no = (code: number, message: string): Body => ({ status: 400, code, message });
  if (!isUtf8(bytes)) return no(parseError, 'Parse error: the body is not UTF-8');
  if (isDeeper(bytes, depth)) return no(invalidRequest, `Invalid Request: nested more than ${depth} deep`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return no(parseError, 'Parse error: the body is not JSON');
  }
  if (Array.isArray(value)) return no(invalidRequest, 'Invalid Request: batches are not taken');
  if (typeof value !== 'object' || value === null)
    return no(invalidRequest, 'Invalid Request: not a message');
  return { value };
};
