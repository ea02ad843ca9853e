/**
 * The browser device beside its peers: the same pages, the same Chromium, in one run, in turns; medians.
 *
 * JEV_BENCH_OPERATIONS=10000 runs the memory part at its full length; JEV_BENCH_PEERS=0 leaves the peers out.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { readAddress } from '../dist/host/devices/browser/address.js';
import { BrowserDeviceConfig } from '../dist/host/devices/browser/config.js';
import { deviceDirectory, startEmbeddedBrowser } from '../dist/host/devices/browser/spawn.js';
import { lookForListeners } from '../dist/host/devices/browser/tab/hidden.js';
import { deviceClient, ownServer } from './device-client.mjs';
import { lateChanges, servePages } from './device-pages.mjs';
import { installPeers, notMeasured, peers, startPeer } from './device-peers.mjs';
import { markdownTable, median, quantile } from './report.mjs';

const chromium = process.env.JEV_HOST_CHROMIUM ?? '/usr/bin/chromium';
const sizes = [50, 500, 3000];
const rounds = Number(process.env.JEV_BENCH_ROUNDS ?? 5);
const operations = Number(process.env.JEV_BENCH_OPERATIONS ?? 600);
const ms = (value) => (value === undefined ? '–' : value < 10 ? value.toFixed(1) : String(Math.round(value)));

const pages = await servePages();
const dataDir = mkdtempSync(join(tmpdir(), 'device-bench-'));
const config = v.parse(BrowserDeviceConfig, {
  approve: 'always',
  executable: chromium,
  navigation: { allow: [pages.url] },
});
const embedded = await startEmbeddedBrowser({ config, dataDir, env: process.env });
const device = await deviceClient(embedded.url, embedded.connectorKey);

try {
  await againstRawEvaluate();
  const others = await startPeers();
  await clickCycles([device, ...others]);
  await lateOnes([device, ...others]);
  await coveredOnes([device, ...others]);
  await bytes([device, ...others]);
  for (const other of others) await other.close();
  await differences();
  await listeners();
  await memory();
} finally {
  await embedded.stop();
  pages.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

/** What the device adds to its own snapshot: HTTP, MCP, records, JSON. */
async function againstRawEvaluate() {
  const { client, tabOf, close } = await ownServer(config);
  const rows = [];
  for (const size of [500, 3000]) {
    await client.open(`${pages.url}/people?n=${size}`);
    const tab = await tabOf();
    const { main } = tab.frames;
    const expression = `__device.observe(${JSON.stringify(main.token)},{"elements":150,"text":24000,"viewportText":6000})`;
    const [whole, raw] = [[], []];
    for (let i = 0; i < rounds * 3; i++) {
      whole.push(await timed(() => client.observe()));
      raw.push(await timed(() => tab.frames.evaluate(main, expression, true)));
    }
    rows.push([size, ms(median(raw)), ms(median(whole)), (median(whole) / median(raw)).toFixed(2)]);
  }
  console.log('### Observation against the same snapshot as one raw evaluate (must: at most 1.5)\n');
  console.log(markdownTable(['controls', 'raw evaluate ms', 'page_observe ms', 'ratio'], rows), '\n');
  await close();
}

/** Asking the browser who listens, apart from the looks that it goes on beside: whole, and once all are known. */
async function listeners() {
  const { client, tabOf, close } = await ownServer(config);
  const rows = [];
  for (const size of [500, 3000]) {
    const [first, known] = [[], []];
    let looks = 0;
    for (let i = 0; i < rounds; i++) {
      await client.open(`${pages.url}/listening?n=${size}`);
      const { frames } = await tabOf();
      const scan = () => timed(() => lookForListeners(frames, frames.main, 0, Date.now()));
      delete frames.main.listeners;
      first.push(await scan());
      for (looks = 1; frames.main.listeners.size < size && looks < 50; looks++) await scan();
      known.push(await scan());
    }
    rows.push([size, ms(median(first)), looks, ms(median(known))]);
  }
  console.log('### Who listens: the scan alone; a look waits for the first one, later ones go on beside the work\n');
  console.log(
    markdownTable(['elements that listen', 'first scan ms', 'scans until all are known', 'scan after that ms'], rows),
    '\n',
  );
  await close();
}

async function startPeers() {
  if (process.env.JEV_BENCH_PEERS === '0') return [];
  const { folder, problem } = installPeers();
  if (problem) {
    console.log(`The peers could not be installed: ${problem}\n`);
    return [];
  }
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const started = [];
  for (const peer of peers) {
    try {
      started.push(await startPeer(peer, folder, chromium));
    } catch (error) {
      console.log(`${peer.name} did not start: ${error.message}\n`);
    }
  }
  console.log(`Not measured: ${notMeasured}\n`);
  return started;
}

async function clickCycles(all) {
  const medians = new Map(all.map((one) => [one.name, []]));
  for (const size of sizes) {
    const times = new Map(all.map((one) => [one.name, []]));
    for (const one of all) await one.open(`${pages.url}/people?n=${size}`);
    for (let round = 0; round < rounds; round++) {
      for (const one of all) {
        const { ms: taken, page } = await one.clickAndSee('Edit 3');
        if (!/Changed \d/.test(page)) console.log(`${one.name} did not show the change at ${size}`);
        times.get(one.name).push(taken);
      }
    }
    for (const one of all) medians.get(one.name).push(median(times.get(one.name)));
  }
  const own = medians.get(device.name);
  console.log(
    '### Click, then fresh observation; the click changes the page at once (must: 2x the fastest peer, 5x Playwright MCP’s defaults, at 500 and 3,000)\n',
  );
  console.log(
    markdownTable(
      ['server', ...sizes.map((size) => `${size} controls ms`), ...sizes.map((size) => `times the device, ${size}`)],
      all.map((one) => [
        one.name,
        ...medians.get(one.name).map(ms),
        ...medians.get(one.name).map((value, i) => (value / own[i]).toFixed(1)),
      ]),
    ),
    '\n',
  );
}

async function lateOnes(all) {
  const rows = [];
  for (const one of all) {
    const cells = [];
    for (const label of lateChanges) {
      await one.open(`${pages.url}/late`);
      const { ms: taken, page } = await one.clickAndSee(label);
      cells.push(`${page.includes(`Changed by ${label.toLowerCase()}`) ? 'seen' : 'missed'}, ${ms(taken)} ms`);
    }
    rows.push([one.name, ...cells]);
  }
  console.log('### Changes that come late (must: all four seen)\n');
  console.log(markdownTable(['server', ...lateChanges], rows), '\n');
}

async function coveredOnes(all) {
  const rows = [];
  for (const one of all) {
    await one.open(`${pages.url}/covered`);
    const before = pages.seen.bought;
    const times = [];
    let last;
    for (let i = 0; i < (one === device ? rounds : 1); i++) {
      try {
        last = await one.clickAndSee('Buy now');
        times.push(last.ms);
      } catch (error) {
        last = { page: error.message, refused: true };
      }
    }
    const named = /Cookie notice/.test(last.page) && last.refused;
    rows.push([
      one.name,
      last.refused ? 'refused' : 'reported as done',
      named ? 'yes' : 'no',
      times.length ? ms(median(times)) : '–',
      pages.seen.bought - before,
    ]);
  }
  console.log('### A covered button (must: refused with the cover’s name in under 50 ms)\n');
  console.log(markdownTable(['server', 'answer', 'names the cover', 'ms', 'clicks that arrived'], rows), '\n');
}

async function bytes(all) {
  const rows = [];
  for (const one of all) {
    await one.open(`${pages.url}/people?n=500`);
    const text = await one.observe();
    const controls = one.controls(text);
    const row = (name, bytes) => rows.push([name, controls, bytes, (bytes / controls).toFixed(0)]);
    row(one.name, Buffer.byteLength(text));
    if (one === device)
      row(
        `${one.name}, detail "outline"`,
        Buffer.byteLength((await one.call('page_observe', { detail: 'outline' })).text),
      );
  }
  console.log('### Bytes of a full observation of 500 controls (must: fewer per reported control than each peer)\n');
  console.log(markdownTable(['server', 'controls reported', 'bytes', 'bytes per control'], rows), '\n');
}

async function differences() {
  await device.open(`${pages.url}/people?n=500`);
  const first = JSON.parse(await device.observe());
  const same = await device.call('page_observe', { detail: 'changes', since: first.generation });
  const done = await device.clickAndSee('Edit 3');
  const small = await device.call('page_observe', { detail: 'changes', since: first.generation });
  console.log('### What changed, where the caller asks for it\n');
  console.log(
    markdownTable(
      ['', 'bytes'],
      [
        ['full observation', Buffer.byteLength(JSON.stringify(first))],
        ['unchanged page', Buffer.byteLength(same.text)],
        ['one line of text changed', Buffer.byteLength(small.text)],
      ],
    ),
    done.refused ? 'refused' : '',
    '\n',
  );
}

/** Memory of the device's process, without Chromium, as operations go by. */
async function memory() {
  const { pid } = readAddress(deviceDirectory(dataDir));
  const resident = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  await device.open(`${pages.url}/people?n=500`);
  const points = [[0, resident()]];
  const times = [];
  for (let done = 0; done < operations; ) {
    await device.renew();
    for (let i = 0; i < 19 && done < operations; i++, done++) await device.observe();
    const start = performance.now();
    await device.clickAndSee('Edit 3');
    times.push(performance.now() - start);
    done++;
    if ((done % Math.ceil(operations / 5 / 20)) / 20 === 0 || done % Math.ceil(operations / 5) < 20)
      points.push([done, resident()]);
  }
  console.log(`### Memory of the device without Chromium over ${operations} operations (must: under 180 MB, flat)\n`);
  console.log(
    markdownTable(
      ['operations', 'resident MB'],
      points.map(([at, megabytes]) => [at, megabytes.toFixed(0)]),
    ),
    '\n',
  );
  console.log(
    `Click and observation over the run: median ${ms(median(times))} ms, 95th percentile ${ms(quantile(times, 0.95))} ms.\n`,
  );
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
