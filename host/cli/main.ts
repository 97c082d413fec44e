/**
 * The command line: arguments in, text or JSON out, no logic. Exit 0 done, 1 a problem, 2 usage, 3 no station runs
 * for this home.
 */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { version } from '../station/index.ts';
import { addBundleCommands } from './bundle-commands.ts';
import { addComponentCommands } from './component-commands.ts';
import { addContractsCommands } from './contracts.ts';
import { addDemoCommand } from './demo-command.ts';
import { addMcpCommands } from './mcp-commands.ts';
import { documentText, type Io, printAnswer, printProblem, type Run, type Sink } from './output.ts';
import { addPolicyCommands } from './policy-commands.ts';
import { registerRemoteSkills, showRemote } from './remote-skills.ts';
import { addSessionCommands } from './session-commands.ts';
import { bundledSkills, registerSkills, remoteSkills } from './skills.ts';
import { addStationCommands } from './station-commands.ts';
import { typed, withHome } from './typed.ts';

export interface MainOptions {
  /** Where the launcher keeps compiled code; a station that is started uses it too. */
  readonly compileCache?: string;
  /** Where text goes (default: the streams of this process). */
  readonly out?: Sink;
  readonly err?: Sink;
}

const generalHelp = problem('cli/usage').fix;
const noStation = new Set<string>(['station/not-running']);
const exitFor = (found: Problem): number =>
  found.code === 'cli/usage' ? 2 : noStation.has(found.code) ? 3 : 1;

const homeOf = (option: string | undefined): string => {
  const home = resolve(option ?? (process.env.JUPITER_HOME || join(homedir(), '.jupiter')));
  try {
    return realpathSync(home);
  } catch {
    return home;
  }
};

const sinkOn = (stream: NodeJS.WriteStream): Sink => {
  // The reader went away (`| head`): there is nobody left to tell.
  stream.on('error', () => process.exit(0));
  return { write: (text) => stream.write(text), colour: stream.isTTY === true && !process.env.NO_COLOR };
};

const exitCodes = `
Exit codes:
  0  done
  1  a problem; or done, and what came of it is not what was meant: a session that is not ready, a turn
     that failed, findings of a check
  2  usage
  3  no station runs for this home`;

/** The argument that may be empty: of policy, whatever text is meant. */
const mayBeEmpty = 'value';

/** The first argument or option that says nothing, where something must stand: `"$ID"` of a variable that is not set. */
const emptyIn = (command: Command): string | undefined => {
  const argument = command.registeredArguments.find(
    (one, at) => one.required && one.name() !== mayBeEmpty && command.args[at] === '',
  );
  if (argument !== undefined) return `Argument '${argument.name()}'`;
  const given = command.optsWithGlobals<Readonly<Record<string, unknown>>>();
  for (let owner: Command | null = command; owner !== null; owner = owner.parent)
    for (const option of owner.options)
      if (given[option.attributeName()] === '') return `Option '${option.flags}'`;
  return undefined;
};

/** The whole command line as it is parsed and shown by `--help`. */
export const commandLine = (run: Run): Command => {
  const program = new Command('jupiter')
    .description('A local host for coding agents: what they get, and the record of what arrived.')
    .option('--home <dir>', 'the home of the station (default: JUPITER_HOME, or ~/.jupiter)')
    .option('--json', 'print one JSON document (lines of JSON where it follows)')
    .version(version, '--version', 'print the version of this installation')
    .showSuggestionAfterError()
    .addHelpText('after', `${exitCodes}\n\nExample:\n  $ jupiter demo`);
  program.hook('preAction', (_, at) => {
    const empty = emptyIn(at);
    if (empty !== undefined) at.error(`error: ${empty} is empty`);
  });
  addDemoCommand(program, run);
  addStationCommands(program, run);
  addBundleCommands(program, run);
  addPolicyCommands(program, run);
  addSessionCommands(program, run);
  addMcpCommands(program, run);
  addComponentCommands(program, run);
  addContractsCommands(program, run);
  const skills = registerSkills(program, run, {
    bundles: bundledSkills,
    remote: remoteSkills,
    show: showRemote,
  });
  registerRemoteSkills(skills, run);
  return program;
};

const quiet = (command: Command, out: Sink): void => {
  command.exitOverride().configureOutput({ writeOut: out.write, writeErr: () => {}, outputError: () => {} });
  for (const child of command.commands) quiet(child, out);
};

/** The innermost command the arguments name. */
const commandIn = (args: readonly string[], program: Command): Command => {
  let at = program;
  for (const word of args) at = at.commands.find((command) => command.name() === word) ?? at;
  return at;
};

/** Where help for this command is. */
const seeHelp = (at: Command): string => {
  const names: string[] = [];
  for (let command: Command | null = at; command !== null; command = command.parent)
    names.unshift(command.name());
  return `See \`${names.join(' ')} --help\`.`;
};

/** What is wrong with the arguments, and where help is. */
const usage = (error: CommanderError, at: Command): Problem => {
  const text =
    error.code === 'commander.help'
      ? at.parent === null
        ? 'A command is missing'
        : `a subcommand is missing after "${at.name()}"`
      : error.message;
  const said = text.replace(/^error: /, '').replace(/\.?$/, '.');
  return problem('cli/usage', {
    message: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`,
    fix: seeHelp(at),
  });
};

/** A file system that says no, at a place nobody looked at before: told like any other problem. */
const unexpected = (error: unknown): Result<never> => {
  if (!(error instanceof Error) || typeof (error as NodeJS.ErrnoException).syscall !== 'string') throw error;
  const { code, path, syscall, message } = error as NodeJS.ErrnoException;
  return refuse('cli/system', {
    ...(path === undefined ? {} : { subject: path }),
    evidence: code === undefined ? message : `${code} at ${syscall}`,
  });
};

export const main = async (args: readonly string[], options: MainOptions = {}): Promise<number> => {
  const { out = sinkOn(process.stdout), err = sinkOn(process.stderr) } = options;
  let exit = 0;
  const program = commandLine(async (act) => {
    const { home, json = false } = program.opts<{ home?: string; json?: boolean }>();
    const io: Io = {
      home: homeOf(home),
      json,
      compileCache: options.compileCache,
      typed: (command) => typed(command, home),
      progress: (text) => {
        if (!json) err.write(`${text}\n`);
      },
      event: (document, plain) => out.write(`${json ? documentText(document) : plain}\n`),
    };
    const answer = await act(io).catch(unexpected);
    if (answer.ok) printAnswer(answer.value, json, out);
    else {
      const { fix: known, ...found } = answer.problem;
      const fix = known === generalHelp ? seeHelp(commandIn(args, program)) : known;
      const told = fix === undefined ? found : { ...found, fix: withHome(fix, home) };
      printProblem(told, json, out, err);
    }
    exit = answer.ok ? (answer.value.exit ?? 0) : exitFor(answer.problem);
  });
  quiet(program, out);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    const json = args.includes('--json');
    const at = commandIn(args, program);
    if (error.code === 'commander.help' && at === program && !json) err.write(program.helpInformation());
    else printProblem(usage(error, at), json, out, err);
    return 2;
  }
};
