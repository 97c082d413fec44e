/** `session …`: everything about sessions is the station's; this only asks and shows. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { plainEntry } from '../../contracts/transcript.ts';
import { ok, refuse } from '../problems/index.ts';
import type { TranscriptEntry } from '../station/index.ts';
import { jsonObject, type Run, table } from './output.ts';
import { sessionRows, sessionText } from './session-text.ts';
import { example, group } from './usage.ts';
import { answer, ask } from './with-station.ts';

interface CreateOptions {
  readonly agent: string;
  readonly cwd: string;
  readonly title?: string;
  readonly approve?: 'manual' | 'auto' | 'workspace';
  readonly answerWithin?: number;
  readonly mcpConfig?: string;
  readonly requireServer: readonly string[];
  readonly requireSkill: readonly string[];
}

interface RespondOptions {
  readonly allow?: boolean;
  readonly deny?: boolean;
  readonly content?: string;
}

const seconds = (value: string): number => {
  const found = Number(value);
  if (!(found > 0)) throw new InvalidArgumentError('A number of seconds is expected.');
  return found;
};
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const requiredText = (what: string): string =>
  `without this ${what} the session is opened but not ready: it takes no prompt, close it (repeatable)`;

/** A session that was waited for and takes no prompt. */
const notReady = new Set(['opening', 'not-ready', 'ended', 'closed']);
/** Ends of a turn that are none of the agent's. */
const failures = new Set(['failed', 'station-stopped', 'not-ready', 'ended', 'closed']);

/** Exit 1 beside the whole document: what was asked for was done, and did not come out as it was meant. */
export const exitOfCreate = (state: string): { readonly exit?: 1 } =>
  notReady.has(state) ? { exit: 1 } : {};
export const exitOfTurn = (
  stopReason: string | undefined,
  state: string | undefined,
): { readonly exit?: 1 } =>
  stopReason === undefined || failures.has(stopReason) || notReady.has(state ?? '') ? { exit: 1 } : {};

const addCreate = (session: Command, run: Run): void => {
  example(
    session
      .command('create')
      .requiredOption('--agent <id>', 'an agent of the policy')
      .option('--cwd <dir>', 'the workspace', '.')
      .option('--title <text>', 'a name to find it by')
      .addOption(
        new Option('--approve <how>', 'who answers permission requests').choices([
          'manual',
          'auto',
          'workspace',
        ]),
      )
      .option('--answer-within <seconds>', 'deny a permission request nobody answered by then', seconds)
      .option('--mcp-config <file>', 'servers for this session alone: the key `mcpServers` of this file')
      .option('--require-server <name>', requiredText('server'), collect, [])
      .option('--require-skill <name>', requiredText('skill'), collect, [])
      .description(
        'decide and place what the agent gets, and start it; exit 1 when the session is not-ready or ended',
      ),
    'session create --agent claude --cwd ./repo',
  ).action(
    ({ agent, cwd, title, approve, answerWithin, mcpConfig, requireServer, requireSkill }: CreateOptions) =>
      run(async (io) => {
        const created = await ask(io, 'session.create', {
          agent,
          cwd: resolve(cwd),
          ...(title === undefined ? {} : { title }),
          ...(approve === undefined ? {} : { approve }),
          ...(answerWithin === undefined ? {} : { answerWithinMs: Math.round(answerWithin * 1_000) }),
          ...(mcpConfig === undefined ? {} : { mcpConfig: resolve(mcpConfig) }),
          ...(requireServer.length === 0 ? {} : { requireServers: [...requireServer] }),
          ...(requireSkill.length === 0 ? {} : { requireSkills: [...requireSkill] }),
        });
        if (!created.ok) return created;
        const session = created.value;
        return ok({ json: session, plain: sessionText(session), ...exitOfCreate(session.state) });
      }),
  );
};

const addSay = (session: Command, run: Run): void => {
  example(
    session
      .command('say')
      .argument('<id>', 'the session')
      .argument('<text>', 'the prompt')
      .option(
        '--wait',
        'show what the agent does until the turn is over; exit 1 when it failed or the session ended',
      )
      .description('prompt the agent'),
    'session say s-1 "what changed since yesterday?" --wait',
  ).action((id: string, text: string, { wait = false }: { wait?: boolean }) =>
    run(async (io) => {
      const entries: TranscriptEntry[] = [];
      const said = await ask(io, 'session.say', { id, text, wait }, (entry) => {
        // One document at the end for programs; people see it as it comes.
        if (io.json) entries.push(entry);
        else io.event(entry, plainEntry(entry));
      });
      if (!said.ok) return said;
      const { turn, stopReason, state } = said.value;
      const end = stopReason === undefined ? `session ${state ?? 'unknown'}` : `stopped: ${stopReason}`;
      if (!wait) return ok({ json: said.value, plain: `turn ${turn}` });
      return ok({ json: { ...said.value, entries }, plain: end, ...exitOfTurn(stopReason, state) });
    }),
  );
};

const addTranscript = (session: Command, run: Run): void => {
  example(
    session
      .command('transcript')
      .argument('<id>', 'the session')
      .option('--follow', 'go on with what comes, until the session is over')
      .description('what was said and done'),
    'session transcript s-1 --follow',
  ).action((id: string, { follow = false }: { follow?: boolean }) =>
    run(async (io) => {
      const told: TranscriptEntry[] = [];
      const found = await ask(io, 'session.transcript', { id, follow }, (entry) => {
        if (follow) io.event(entry, plainEntry(entry));
        else told.push(entry);
      });
      if (!found.ok) return found;
      if (follow) return ok({ json: undefined, plain: '' });
      const entries = [...told, ...found.value.entries];
      return ok({ json: { entries }, plain: entries.map(plainEntry).join('\n') });
    }),
  );
};

export const addSessionCommands = (program: Command, run: Run): void => {
  const session = group(program, 'session', 'agents at work', 'session create --agent claude --cwd ./repo');
  const one = (name: string, description: string): Command =>
    example(
      session.command(name).argument('<id>', 'the session').description(description),
      `session ${name} s-1`,
    );
  addCreate(session, run);
  addSay(session, run);
  example(session.command('list').description('all sessions'), 'session list').action(() =>
    run((io) =>
      answer(io, 'session.list', {}, ({ sessions }) =>
        sessions.length === 0 ? 'no sessions' : table(sessionRows(sessions)),
      ),
    ),
  );
  one('show', 'the record: what was offered, placed, withheld and why, and what arrived').action(
    (id: string) => run((io) => answer(io, 'session.show', { id }, sessionText)),
  );
  addTranscript(session, run);
  example(
    session
      .command('respond')
      .argument('<id>', 'the session')
      .argument('<request>', 'the permission request')
      .option('--allow', 'let the agent do it, once')
      .option('--deny', 'do not')
      .option('--content <json>', 'with --allow: what a server asked for in a form, a JSON object')
      .description('answer a permission request, or what an MCP server asks'),
    'session respond s-1 r1 --allow',
    'session respond s-1 g-mx40j6dk-1 --allow --content \'{"branch": "main"}\'',
  ).action((id: string, request: string, options: RespondOptions) =>
    run(async (io) => {
      const { allow = false, deny = false, content: form } = options;
      if (allow === deny || (deny && form !== undefined))
        return refuse('cli/usage', {
          message: 'Say either --allow or --deny; --content goes with --allow.',
        });
      const content = form === undefined ? ok(undefined) : jsonObject(form);
      if (!content.ok) return content;
      const asked = {
        id,
        request,
        allow,
        ...(content.value === undefined ? {} : { content: content.value }),
      };
      return answer(io, 'session.respond', asked, () => (allow ? 'allowed' : 'denied'));
    }),
  );
  one('cancel', 'stop the turn').action((id: string) =>
    run(async (io) => {
      const shown = await ask(io, 'session.show', { id });
      if (!shown.ok) return shown;
      const { state } = shown.value;
      if (state !== 'running')
        return ok({
          json: { cancelling: false, state },
          plain: `no turn is running: the session is ${state}`,
        });
      const cancelled = await ask(io, 'session.cancel', { id });
      return cancelled.ok ? ok({ json: { cancelling: true, state }, plain: 'cancelling' }) : cancelled;
    }),
  );
  one('close', 'end the agent; the record stays').action((id: string) =>
    run((io) => answer(io, 'session.close', { id }, sessionText)),
  );
};
