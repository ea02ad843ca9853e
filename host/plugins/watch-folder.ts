import { watch } from 'node:fs';

/** Milliseconds of quiet after which a burst of changes counts as one. */
const QUIET_MS = 100;

/** Calls `changed` after files below the folder changed. @returns a function that ends the watch. */
export function watchFolder(directory: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(directory, { recursive: true }, (_event, file) => {
    if (file?.includes('node_modules') || file?.startsWith('.')) return;
    clearTimeout(timer);
    timer = setTimeout(changed, QUIET_MS);
  });
  // A folder that vanishes is met at the next load.
  watcher.on('error', () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
