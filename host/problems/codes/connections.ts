import { codes } from './codes.ts';

export const connections = codes({
  'connections/unknown': {
    message: 'There is no server of this name.',
    fix: 'Use one of the names in the evidence; `jupiter mcp list` shows them.',
  },
  'connections/not-connected': {
    message: 'The server is not connected, so nothing was sent to it.',
    fix: 'Look at `jupiter mcp list`; `jupiter mcp reconnect NAME` tries again at once.',
  },
  'connections/busy': {
    message: 'The server has as many calls waiting as are let wait; this one was not sent.',
    fix: 'Try again when some of them are answered.',
  },
  'connections/timed-out': {
    message: 'The server did not answer in time. It was told that the call is cancelled.',
    fix: 'What the call did may have happened; look before you repeat it.',
  },
  'connections/cancelled': {
    message: 'The call was cancelled by whoever made it.',
  },
  'connections/lost': {
    message: 'The connection ended before the server answered.',
    fix: 'What the call did may have happened; look before you repeat it.',
  },
  'connections/too-large': {
    message: 'The answer of the server is larger than is taken.',
    fix: 'Ask the server for less at a time.',
  },
  'connections/broken-frame': {
    message: 'The server sent a message of the protocol that cannot be read.',
    fix: 'Report it to the author of the server; its log in `logs/` holds the line.',
  },
  'connections/variable-unset': {
    message: 'A variable the server needs is not set, or is empty, where the station runs.',
    fix: 'Set it in the environment the station starts in, and start the station again.',
  },
  'connections/variable-unfit': {
    message: 'What a header would be sent with is no text that a header can hold.',
    fix: 'Look for a line end or a character that is not Latin in the variable the header names.',
  },
  'connections/bad-url': {
    message: 'The URL of the server is none once its variables are put in.',
    fix: 'Correct the variables it refers to.',
  },
  'connections/own-address': {
    message: 'The server is this station itself, which passes no calls on to itself.',
    fix: "Name the server's own address.",
  },
  'connections/not-dialled': {
    message: 'The server is not dialled as its entry is now, so there is nothing to connect again.',
    fix: 'Change what the evidence names.',
  },
  'connections/slow': {
    message: 'The server has not answered yet; it is tried again with more time.',
    fix: 'Its log in `logs/` may say what it waits for.',
  },
  'connections/exited': {
    message: 'The program of the server ended.',
    fix: 'Its log in `logs/` may say why.',
  },
  'connections/unreachable': {
    message: 'The server could not be reached.',
    fix: 'See that it runs and that its address is right; it is tried again by itself.',
  },
  'connections/http': {
    message: 'The server refused the request with a status of HTTP.',
    fix: 'See that the URL is that of its MCP endpoint.',
  },
  'connections/handshake': {
    message: 'The server did not complete the handshake of the protocol.',
    fix: 'See that it is an MCP server of a revision from 2025-06-18 to 2026-07-28.',
  },
  'connections/session-forgotten': {
    message: 'The server forgot its session twice in a row.',
    fix: 'It is tried again by itself; look at the server if it happens again.',
  },
  'connections/needs-authentication': {
    message: 'The server wants to know who calls.',
    fix: 'Give the entry a header `Authorization`, or its origin a `bearer`.',
  },
  'connections/list-failed': {
    message: 'The server did not tell its tools.',
    fix: 'Its log in `logs/` may say why.',
  },
  'connections/list-endless': {
    message: 'The list of tools has no end: more pages, tools or text than is read, or a page that repeats.',
    fix: 'Report it to the author of the server.',
  },
  'connections/no-transport': {
    message: 'Policy does not hold what is needed to reach the server.',
    fix: 'Correct the entry of `policy.jsonc` that the evidence names; `jupiter policy check` finds all such.',
  },
  'connections/name-taken': {
    message: 'A server of this name exists in an outer layer, which a project or a session cannot replace.',
    fix: 'Give it another name.',
  },
  'connections/file-missing': {
    message: 'The file of servers does not exist.',
    fix: 'Correct the path behind `--mcp-config`.',
  },
  'connections/file-unreadable': {
    message: 'The file of servers cannot be read.',
    fix: 'Name a file this user can read, of JSON with comments; correct the place in the evidence.',
  },
  'connections/file-without-servers': {
    message: 'The file has no key "mcpServers".',
    fix: 'Put the servers under a key "mcpServers"; no other key is read.',
  },
  'connections/entry': {
    message: 'The entry of a server is wrong, so it is not started.',
    fix: 'Correct it at the place in the evidence.',
  },
});
