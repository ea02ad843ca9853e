/** `console` inside the sandbox: lines of the plugin's own log. Values are shown as JSON; what cannot be shown is named so. */

type Level = 'debug' | 'info' | 'warn' | 'error';

const shown = (value: unknown): string => {
  if (typeof value === 'string') return value;
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '[not serializable]';
  }
};

export function writeConsole(
  log: (level: Level, text: string) => void,
): Record<string, (...values: unknown[]) => void> {
  const line =
    (level: Level) =>
    (...values: unknown[]) =>
      log(level, values.map(shown).join(' '));
  return {
    debug: line('debug'),
    log: line('info'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    trace: line('debug'),
  };
}
