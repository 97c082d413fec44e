/**
 * The one place where text is redacted. Policy names variables; their values are read from the environment at use
 * and replaced, in every form listed here, before text reaches a guest, a file, a log, a record or a screen.
 */
const shortest = 6;

// Variables programs inherit that are no secrets: replacing their values would only spoil paths and logs.
const plain =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TERM|COLORTERM|NO_COLOR|TMPDIR|TEMP|TMP|TZ|PWD|HOSTNAME|DISPLAY|EDITOR|NODE_ENV|XDG_.*|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE)$/;

/** Output comes line by line, so each line of a secret that has several is one too. */
const partsOf = (value: string): readonly string[] => [
  value,
  ...value.split(/\r\n|\r|\n/).filter((line) => line.length >= shortest),
];

const formsOf = (value: string): readonly string[] => {
  const bytes = Buffer.from(value);
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
};

export interface Redactor {
  readonly text: (text: string) => string;
}

/**
 * `names` are the variables policy names at this moment; a change is seen at the next call. Values shorter than six
 * characters are left: they would match ordinary words.
 */
export const openRedactor = (
  names: () => ReadonlySet<string>,
  env: Readonly<Record<string, string | undefined>>,
): Redactor => {
  let known: ReadonlySet<string> | undefined;
  let forms: readonly (readonly [form: string, name: string])[] = [];
  const refresh = () => {
    const now = names();
    if (now === known) return;
    known = now;
    const found = new Map<string, string>();
    for (const name of now) {
      const value = env[name];
      if (value === undefined || value.length < shortest || plain.test(name)) continue;
      for (const form of partsOf(value).flatMap(formsOf)) found.set(form, name);
    }
    forms = [...found].sort(([a], [b]) => b.length - a.length);
  };
  return {
    text: (text) => {
      refresh();
      let out = text;
      for (const [form, name] of forms) {
        out = out.replaceAll(form, `[redacted ${name}]`);
      }
      return out;
    },
  };
};
