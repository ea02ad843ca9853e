/**
 * Downloads as evidence: name, size and SHA-256 of what came, told with the page's next observation. The file itself is
 * not kept; nothing here opens or runs it.
 */
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Protocol } from './chromium/protocol.ts';
import type { Tab } from './tab/tab.ts';

/** Bytes beyond which a download is stopped. */
const MAX_BYTES = 100 * 1024 * 1024;

interface Download {
  tab: Tab | undefined;
  name: string;
}

export async function followDownloads(
  protocol: Protocol,
  directory: string,
  tabOfFrame: (frameId: string) => Tab | undefined,
): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const running = new Map<string, Download>();
  protocol.on('Browser.downloadWillBegin', ({ guid, frameId, suggestedFilename }) => {
    const tab = tabOfFrame(frameId);
    running.set(guid, { tab, name: suggestedFilename });
    tab?.activity.begin(`download ${guid}`);
  });
  protocol.on('Browser.downloadProgress', ({ guid, state, receivedBytes, totalBytes }) => {
    const download = running.get(guid);
    if (!download) return;
    if (state === 'inProgress') {
      if (Math.max(receivedBytes, totalBytes) > MAX_BYTES)
        void protocol.send('Browser.cancelDownload', { guid }).catch(() => {});
      return;
    }
    running.delete(guid);
    void finish(join(directory, guid), download, state, receivedBytes).finally(() =>
      download.tab?.activity.end(`download ${guid}`),
    );
  });
  await protocol.send('Browser.setDownloadBehavior', {
    behavior: 'allowAndName',
    downloadPath: directory,
    eventsEnabled: true,
  });
}

async function finish(file: string, { tab, name }: Download, state: string, bytes: number): Promise<void> {
  try {
    if (state !== 'completed') tab?.notices.add('DOWNLOAD_STOPPED', `The download of ${name} was stopped.`);
    else tab?.notices.add('DOWNLOAD', `Downloaded ${name}, ${bytes} bytes, sha256 ${await sha256(file)}.`);
  } finally {
    rmSync(file, { force: true });
  }
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
