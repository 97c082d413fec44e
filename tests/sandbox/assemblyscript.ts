/** Builds a component from AssemblyScript: another language and another toolchain than the SDK's (wit-component). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { componentEmbed, componentNew, parse, print } from '@bytecodealliance/jco-transpile/wasm-tools';

const root = join(import.meta.dirname, '..', '..');
const compilerName: string = 'assemblyscript/asc';

interface Compiler {
  readonly main: (
    args: readonly string[],
    host: {
      readonly readFile: (name: string) => string | null;
      readonly writeFile: (name: string, content: Uint8Array | string) => void;
      readonly listFiles: () => readonly string[];
    },
  ) => Promise<{ readonly error: Error | null; readonly stderr: { toString: () => string } }>;
}

/** Whether the compiler is installed. */
export const hasAssemblyScript = (() => {
  try {
    import.meta.resolve(compilerName);
    return true;
  } catch {
    return false;
  }
})();

const compiled = async (source: string): Promise<Uint8Array> => {
  const { main }: Compiler = await import(compilerName);
  let out: Uint8Array | undefined;
  const args = ['component.ts', '--outFile', 'component.wasm', '--runtime', 'stub', '--use', 'abort=', '-O'];
  const { error, stderr } = await main(args, {
    readFile: (name) => (name === 'component.ts' ? source : null),
    writeFile: (name, content) => {
      if (name === 'component.wasm' && typeof content !== 'string') out = content;
    },
    listFiles: () => [],
  });
  if (out === undefined) throw new Error(`${error?.message}\n${stderr}`);
  return out;
};

const stationWit = (): string => readFileSync(join(root, 'wit', '0.1.0', 'station.wit'), 'utf8');

/** The parts of WASI 0.2.3 that `wasi.as` uses, as WIT. */
const wasi = `
package wasi:random@0.2.3 { interface random { get-random-u64: func() -> u64; } }
package wasi:clocks@0.2.3 { interface monotonic-clock { type instant = u64; now: func() -> instant; } }
package wasi:io@0.2.3 {
  interface error { resource error; }
  interface streams {
    use error.{error};
    variant stream-error { last-operation-failed(error), closed }
    resource output-stream { blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>; }
  }
}
package wasi:cli@0.2.3 { interface stdout { use wasi:io/streams@0.2.3.{output-stream}; get-stdout: func() -> output-stream; } }
`;
const wasiImports = ['random/random', 'clocks/monotonic-clock', 'io/streams', 'cli/stdout']
  .map((name) => `import wasi:${name}@0.2.3;`)
  .join(' ');

/** The world with these imports alone, and WASI where it is asked for. */
const worldOf = (imports: readonly string[], withWasi: boolean): string => {
  const wit = stationWit().replace(/^ {2}import ([a-z-]+);$/gm, (line, name: string) =>
    imports.includes(name) ? line : '',
  );
  return withWasi ? `${wit.replace('world plugin {', `world plugin { ${wasiImports}`)}${wasi}` : wit;
};

export const assemblyScript = async (
  file: string,
  imports: readonly string[],
  withWasi = false,
): Promise<Uint8Array> => {
  const source = readFileSync(join(root, 'tests', 'fixtures', 'assemblyscript', file), 'utf8');
  // The language has no way to write such a name for an export.
  const named = (await print(await compiled(source))).replace(
    '(export "handle"',
    '(export "bearpunch:station/component@0.1.0#handle"',
  );
  const binary = await parse(named);
  const witSource = worldOf(imports, withWasi);
  return componentNew(await componentEmbed({ binary, witSource, world: 'plugin', stringEncoding: 'utf8' }));
};
